package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// poller is a pod that asks a Service of the scenario's namespace, see the program of that name.
type poller struct {
	s *scenario
}

// polled is what the poller has met: over a new connection for each request, and over connections that are kept.
type polled struct {
	Fresh, Kept struct {
		Requests, Failed int
		Slowest          int64
	}
}

// startPoller starts one and waits until it is under way. It gets the address of the Service: how fast names are resolved
// on a busy machine is not what is looked at.
func (s *scenario) startPoller(service string) poller {
	s.t.Helper()
	asked := &corev1.Service{}
	s.mustGet(service, asked)
	url := fmt.Sprintf("http://%s/status", net.JoinHostPort(asked.Spec.ClusterIP, strconv.Itoa(int(seid.PortRPC))))
	s.create(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "poller"},
		Spec: restrictedPod(corev1.Container{
			Name: "poller", Image: imagePoller, Args: []string{url},
			// Without a share of its own it would miss its beats on a busy machine.
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m")}},
		}),
	})
	p := poller{s}
	p.after(10)
	return p
}

// after is what the poller has met when it has asked that many more times.
func (p poller) after(more int) polled {
	p.s.t.Helper()
	var seen polled
	from := -1
	await(p.s.t, inSyncTimeout, fmt.Sprintf("the poller to ask %d times", more), func(ctx context.Context) (bool, string, error) {
		var err error
		if seen, err = p.read(ctx); err != nil {
			return false, "", err
		}
		if from < 0 {
			from = seen.Fresh.Requests
		}
		return min(seen.Fresh.Requests, seen.Kept.Requests) >= from+more, fmt.Sprintf("%+v", seen), nil
	})
	return seen
}

// wantNoFailure lets the poller ask on, so that the last node that came back is among those that answer, and reports what
// it has met since it was started.
func (p poller) wantNoFailure() {
	p.s.t.Helper()
	seen := p.after(10)
	theReport.figuref(p.s.t, "requests meanwhile", "%d over new connections, %d failed, the slowest took %d ms",
		seen.Fresh.Requests, seen.Fresh.Failed, seen.Fresh.Slowest)
	theReport.figuref(p.s.t, "requests meanwhile", "%d over kept connections, %d failed, the slowest took %d ms",
		seen.Kept.Requests, seen.Kept.Failed, seen.Kept.Slowest)
	if failed := seen.Fresh.Failed + seen.Kept.Failed; failed > 0 {
		p.s.t.Errorf("%d requests failed:\n%s", failed, p.log())
	}
}

// read asks for the counts through the API server; only they take that way.
func (p poller) read(ctx context.Context) (seen polled, err error) {
	url := fmt.Sprintf("%s/api/v1/namespaces/%s/pods/poller:8080/proxy/", p.s.config.Host, p.s.namespace)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return seen, fmt.Errorf("making the request: %w", err)
	}
	response, err := p.s.web.Do(request)
	if err != nil {
		return seen, fmt.Errorf("asking the poller: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return seen, fmt.Errorf("asking the poller: %s", response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(&seen); err != nil {
		return seen, fmt.Errorf("reading the poller's counts: %w", err)
	}
	return seen, nil
}

func (p poller) log() string {
	p.s.t.Helper()
	pod := &corev1.Pod{}
	p.s.mustGet("poller", pod)
	log, err := p.s.log(p.s.t.Context(), pod, "poller", false)
	if err != nil {
		return err.Error()
	}
	return string(log)
}
