package walk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// guardDeletes looks at every deletion that the operator asks for: it has to name the UID.
func (w *walk) guardDeletes(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Method != http.MethodDelete {
			return next.RoundTrip(req)
		}
		var body []byte
		if req.Body != nil {
			var err error
			if body, err = io.ReadAll(req.Body); err != nil {
				return nil, fmt.Errorf("reading a deletion: %w", err)
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
		}
		options, err := deleteOptions(body)
		if err != nil || options.Preconditions == nil || options.Preconditions.UID == nil {
			w.failf(checkDeletes, "%s: %v", req.URL.Path, err)
		}
		return next.RoundTrip(req)
	})
}

// deleteOptions reads the body of a deletion: JSON for kinds of ours, and protobuf for others.
func deleteOptions(body []byte) (*metav1.DeleteOptions, error) {
	options := &metav1.DeleteOptions{}
	if bytes.HasPrefix(body, []byte("{")) {
		return options, json.Unmarshal(body, options)
	}
	_, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, options)
	return options, err
}

// budget counts, version by version, the nodes of a fleet that were in sync when their spec was changed
// and are not back yet.
type budget struct {
	mu      sync.Mutex
	allowed int
	nodes   map[string]*v1alpha1.SeiNode
	down    map[string]bool
	worst   []string
}

func (w *walk) watchBudget() *budget {
	w.T.Helper()
	b := &budget{allowed: 1, nodes: map[string]*v1alpha1.SeiNode{}, down: map[string]bool{}}
	if w.subject.name != "fleet" {
		return b
	}
	ctx, cancel := context.WithCancel(context.Background())
	events, err := w.Client.Watch(ctx, &v1alpha1.SeiNodeList{}, client.InNamespace(w.NS))
	if err != nil {
		cancel()
		w.T.Fatal(err)
	}
	var watching sync.WaitGroup
	w.T.Cleanup(func() { cancel(); watching.Wait() })
	watching.Go(func() {
		for event := range events.ResultChan() {
			if n, ok := event.Object.(*v1alpha1.SeiNode); ok {
				b.see(event.Type, n)
			}
		}
		if ctx.Err() == nil {
			w.failf(notMade, "the watch of the nodes ended")
		}
	})
	return b
}

// allow notes how many nodes may be down. Whoever was taken down under a larger budget stays down for
// a while under a smaller one.
func (b *budget) allow(nodes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed = max(b.allowed, nodes)
}

// runs is what of a node's spec makes its pod or its process another one.
func runs(n *v1alpha1.SeiNode) string {
	return fmt.Sprint(n.Spec.Image, n.Spec.Overrides, n.Spec.PodLabels, n.Annotations[v1alpha1.AnnotationRestart])
}

func (b *budget) see(kind watch.EventType, n *v1alpha1.SeiNode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.nodes[n.Name]
	b.nodes[n.Name] = n
	if kind == watch.Deleted {
		delete(b.nodes, n.Name)
	}
	inSync := func(n *v1alpha1.SeiNode) bool {
		return conditions.Is(n.Status.Conditions, v1alpha1.ConditionInSync, metav1.ConditionTrue, "")
	}
	if was != nil && was.UID == n.UID && inSync(was) && runs(was) != runs(n) && !n.Spec.Paused {
		b.down[n.Name] = true
	}
	// What is being removed or was paused is down for another reason.
	if kind == watch.Deleted || n.DeletionTimestamp != nil || n.Spec.Paused || inOrder(n) {
		delete(b.down, n.Name)
	}
	if len(b.down) > b.allowed && b.worst == nil {
		b.worst = slices.Sorted(maps.Keys(b.down))
	}
}

func (b *budget) problem() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.worst == nil {
		return ""
	}
	return fmt.Sprintf("%v were down at once, allowed are %d", b.worst, b.allowed)
}
