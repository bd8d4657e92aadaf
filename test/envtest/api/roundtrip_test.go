package api_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1alpha1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// rounds is how many objects of each kind go through the API server.
const rounds = 40

// parts gives access to spec and status of the three kinds alike.
type parts struct {
	new    func() client.Object
	spec   func(client.Object) any
	status func(client.Object) any
}

var kinds = map[string]parts{
	"SeiNode": {
		new:    func() client.Object { return &seiv1alpha1.SeiNode{} },
		spec:   func(o client.Object) any { return &o.(*seiv1alpha1.SeiNode).Spec },
		status: func(o client.Object) any { return &o.(*seiv1alpha1.SeiNode).Status },
	},
	"SeiNodeDeployment": {
		new:    func() client.Object { return &seiv1alpha1.SeiNodeDeployment{} },
		spec:   func(o client.Object) any { return &o.(*seiv1alpha1.SeiNodeDeployment).Spec },
		status: func(o client.Object) any { return &o.(*seiv1alpha1.SeiNodeDeployment).Status },
	},
	"SeiNodeTask": {
		new:    func() client.Object { return &seiv1alpha1.SeiNodeTask{} },
		spec:   func(o client.Object) any { return &o.(*seiv1alpha1.SeiNodeTask).Spec },
		status: func(o client.Object) any { return &o.(*seiv1alpha1.SeiNodeTask).Status },
	},
}

// TestRoundTrip_NothingIsLostOrChanged fills objects with random but legal
// values, stores spec and status, reads them back and compares. ROUNDTRIP_SEED
// repeats a run.
func TestRoundTrip_NothingIsLostOrChanged(t *testing.T) {
	s := newServer(t)
	seed := time.Now().UnixNano()
	if fixed, err := strconv.ParseInt(os.Getenv("ROUNDTRIP_SEED"), 10, 64); err == nil {
		seed = fixed
	}
	t.Logf("ROUNDTRIP_SEED=%d", seed)
	for kind, p := range kinds {
		t.Run(kind, func(t *testing.T) {
			fill := newFiller(seed)
			for i := range rounds {
				wanted := p.new()
				wanted.SetNamespace(s.ns)
				wanted.SetName(fmt.Sprintf("r-%d", i))
				fill.Fill(p.spec(wanted))
				fill.Fill(p.status(wanted))
				s.store(t, p, wanted)
				got := p.new()
				if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(wanted), got); err != nil {
					t.Fatal(err)
				}
				compare(t, "spec", p.spec(wanted), p.spec(got))
				compare(t, "status", p.status(wanted), p.status(got))
			}
		})
	}
}

// store writes the object and then its status, from copies: clients write the
// answer into what they are given.
func (s *server) store(t *testing.T, p parts, wanted client.Object) {
	t.Helper()
	stored, ok := wanted.DeepCopyObject().(client.Object)
	if !ok {
		t.Fatalf("%T has no deep copy", wanted)
	}
	if err := s.Client.Create(t.Context(), stored); err != nil {
		t.Fatalf("the object is refused: %v\n%s", err, show(t, p.spec(wanted)))
	}
	update, _ := wanted.DeepCopyObject().(client.Object)
	update.SetResourceVersion(stored.GetResourceVersion())
	if err := s.Client.Status().Update(t.Context(), update); err != nil {
		t.Fatalf("the status is refused: %v\n%s", err, show(t, p.status(wanted)))
	}
}

func compare(t *testing.T, what string, want, got any) {
	t.Helper()
	if !apiequality.Semantic.DeepEqual(want, got) {
		t.Errorf("the %s has changed (-want +got):\n%s", what, cmp.Diff(show(t, want), show(t, got)))
	}
}

func show(t *testing.T, value any) map[string]any {
	t.Helper()
	shown, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}
