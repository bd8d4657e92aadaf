package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files and the reference of the commands instead of comparing with them")

// now is the time of all tests.
var now = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// testNamespace is the namespace of the kubeconfig.
const testNamespace = "sei"

// podAnswers is a PodProxy: what pods answer, by "POD PORT PATH".
type podAnswers map[string]string

// Get answers what was noted, or as the API server does when nobody listens.
func (p podAnswers) Get(_ context.Context, pod types.NamespacedName, _ string, port int, path string, _ map[string]string) ([]byte, error) {
	key := fmt.Sprintf("%s %d %s", pod.Name, port, path)
	body, ok := p[key]
	if !ok {
		return nil, errors.New("connection refused")
	}
	return []byte(body), nil
}

// plugin runs commands of the plugin in a test, on a client in memory and at a fixed time.
type plugin struct {
	*Factory
	cluster  *Cluster
	clock    *clocktesting.FakeClock
	out, err *bytes.Buffer
}

// newPlugin makes a plugin whose cluster holds objects. Statuses are kept as given.
func newPlugin(t *testing.T, objects ...client.Object) *plugin {
	t.Helper()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&seiv1.SeiNode{}, &seiv1.SeiNodeDeployment{}, &seiv1.SeiNodeTask{}).
		WithIndex(&eventsv1.Event{}, "regarding.name", func(o client.Object) []string { return []string{o.(*eventsv1.Event).Regarding.Name} }).
		Build()
	p := &plugin{
		cluster: &Cluster{Client: c, Kubernetes: kubernetesfake.NewClientset(), Pods: podAnswers{}, Namespace: testNamespace},
		clock:   clocktesting.NewFakeClock(now),
		out:     &bytes.Buffer{}, err: &bytes.Buffer{},
	}
	p.Factory = NewFactory(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: p.out, ErrOut: p.err}, p.clock, func(string) string { return "" })
	p.connect = func() (*Cluster, error) { return p.cluster, nil }
	return p
}

// run runs one command line, without `kubectl sei`, and returns what it printed. Both streams start
// empty for each run.
func (p *plugin) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	p.out.Reset()
	p.err.Reset()
	root := NewRoot(p.Factory, "v0.0.0-test")
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return p.out.String(), err
}

// mustRun fails the test if the command fails.
func (p *plugin) mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := p.run(t, args...)
	if err != nil {
		t.Fatalf("kubectl sei %s: %v\n%s", strings.Join(args, " "), err, p.err)
	}
	return out
}

// golden compares text with testdata/NAME.
func golden(t *testing.T, name, got string) {
	t.Helper()
	compareFile(t, filepath.Join("testdata", name), got)
}

func compareFile(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to make it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), -update accepts it:\n%s", path, diff)
	}
}
