package nodetask

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// gated is a sidecar that shows a document and keeps what it is given.
type gated struct {
	sidecar.Sidecar
	document api.Node
	given    []api.TaskRequest
}

func (g *gated) Node(context.Context) (api.Node, error) { return g.document, nil }

// Get knows what it was given, and works on it forever.
func (g *gated) Get(_ context.Context, id string, _ time.Duration) (api.TaskResult, error) {
	for _, task := range g.given {
		if task.ID == id {
			return api.TaskResult{ID: id, Type: task.Type, Status: api.TaskRunning, Run: 1}, nil
		}
	}
	return api.TaskResult{}, sidecar.ErrNotFound
}

func (g *gated) Submit(_ context.Context, task api.TaskRequest) (string, error) {
	g.given = append(g.given, task)
	return task.ID, nil
}

// S1, S2: a MarkReady task opens the gate for what is on disk and the key that is reserved, and for no
// configuration that nobody wrote.
func TestMarkReady_ExpectsWhatIsThere(t *testing.T) {
	for name, hash := range map[string]string{"written by the operator": "c", "of somebody else": ""} {
		to := &gated{document: api.Node{APILevel: api.LevelNode}}
		to.document.Gate.State, to.document.Home.ConfigHash = api.GateHeld, hash
		node := &v1alpha1.SeiNode{}
		node.Spec.Validator = &v1alpha1.ValidatorSpec{SigningKey: &v1alpha1.SigningKeySource{}}
		node.Status.ConsensusAddress = "A"
		env := &Env{Node: node, Task: &v1alpha1.SeiNodeTask{}, Sidecar: to, Platform: platform.Default(), Clock: clocktesting.NewFakePassiveClock(time.Now())}
		o := markReady(t.Context(), env, &v1alpha1.PlannedTask{ID: "t", Type: operation.StepMarkReady})
		if hash == "" {
			if !o.IsTerminal() || len(to.given) > 0 {
				t.Errorf("%s: %+v, given %v", name, o, to.given)
			}
			continue
		}
		var opening wire.MarkReady
		if len(to.given) != 1 || json.Unmarshal(to.given[0].Params, &opening) != nil || opening.Expect == nil || *opening.Expect != (wire.Expectation{ConfigHash: "c", ConsensusAddress: "A"}) {
			t.Errorf("%s: %+v, given %+v", name, o, to.given)
		}
	}
}

// A task releases a gate that it holds itself, and of no other.
func TestHoldingOf_ByWhom(t *testing.T) {
	p := &v1alpha1.TaskPlan{Tasks: []v1alpha1.PlannedTask{{Type: operation.StepHoldGate, ID: "mine"}}}
	for heldBy, want := range map[string]bool{"mine": true, "another": false} {
		document := api.Node{}
		document.Gate.State, document.Gate.HeldBy = api.GateHeld, heldBy
		if h, err := HoldingOf(t.Context(), &gated{}, document, p); err != nil || h.Held != want {
			t.Errorf("held by %s: %+v, %v", heldBy, h, err)
		}
	}
}

// An image is changed in the node as it was seen: what somebody else has changed since is looked at.
func TestUpdateImage_NodeHasChangedSince_IsNotWritten(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	stored := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n"}}
	stored.Spec.Image = "seid:a"
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored).Build()
	seen := &v1alpha1.SeiNode{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), seen); err != nil {
		t.Fatal(err)
	}
	moved := seen.DeepCopy()
	moved.Spec.Image = "seid:theirs"
	if err := c.Update(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	task := &v1alpha1.SeiNodeTask{}
	task.Spec.UpdateNodeImage = &v1alpha1.UpdateNodeImage{Image: "seid:b"}
	env := &Env{Client: c, Node: seen, Task: task, Wrote: func(client.Object) {}}
	if o := updateImage(t.Context(), env, nil); !o.IsWait() {
		t.Errorf("outcome %+v, want it waiting", o)
	}
	now := &v1alpha1.SeiNode{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), now); apierrors.IsNotFound(err) || now.Spec.Image != "seid:theirs" {
		t.Errorf("image %s, %v", now.Spec.Image, err)
	}
}
