package statuspatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// world is an API server that keeps the bodies of status patches.
type world struct {
	client.Client
	bodies []string
	fail   error
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{seiv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{}
	w.Client = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&seiv1.SeiNode{}, &seiv1.SeiNodeDeployment{}, &seiv1.SeiNodeTask{}).
		WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
				if w.fail != nil {
					return w.fail
				}
				body, err := patch.Data(obj)
				if err != nil {
					return err
				}
				w.bodies = append(w.bodies, string(body))
				return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
			},
		}).Build()
	return w
}

func (w *world) get(t *testing.T, obj client.Object) {
	t.Helper()
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
}

func newNode() *seiv1.SeiNode {
	return &seiv1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "rpc-0", UID: "u1"},
		Spec:       seiv1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:1", FullNode: &seiv1.FullNodeSpec{}},
	}
}

// tally counts results.
type tally map[statuspatch.Result]int

func (n tally) count(_, _ string, r statuspatch.Result) { n[r]++ }

// A1, A4, A7.
func TestPatch_StatusUnchanged_SendsNothingAndCountsNoop(t *testing.T) {
	world := newWorld(t, newNode())
	counts := tally{}
	writer := statuspatch.NewWriter(counts.count)
	node := newNode()
	world.get(t, node)

	snapshot := writer.New(node)
	node.Status.ResolvedPeers = []string{} // empty equals absent
	node.Labels = map[string]string{"changed": "in memory"}
	result, err := snapshot.Patch(t.Context(), world, node)
	if err != nil || result != statuspatch.Noop {
		t.Fatalf("Patch = %s, %v; want noop", result, err)
	}
	if len(world.bodies) != 0 {
		t.Errorf("sent %v, want no bodies", world.bodies)
	}
	if diff := cmp.Diff(tally{statuspatch.Noop: 1}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestPatch_TimeDiffersBelowTheSecond_IsANoop(t *testing.T) {
	node := newNode()
	stamp := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	node.Status.PhaseTransitionTime = &stamp
	world := newWorld(t, node)
	world.get(t, node)

	snapshot := statuspatch.NewWriter(nil).New(node)
	fine := metav1.NewTime(stamp.Add(time.Millisecond))
	node.Status.PhaseTransitionTime = &fine
	result, err := snapshot.Patch(t.Context(), world, node)
	if err != nil || result != statuspatch.Noop || len(world.bodies) != 0 {
		t.Errorf("Patch = %s, %v, sent %v; want noop", result, err, world.bodies)
	}
}

// A5.
func TestPatch_StatusChanged_SendsOneLockedPatchOfStatusAlone(t *testing.T) {
	world := newWorld(t, newNode())
	counts := tally{}
	writer := statuspatch.NewWriter(counts.count)
	node := newNode()
	world.get(t, node)
	before := node.ResourceVersion

	snapshot := writer.New(node)
	node.Status.Phase = seiv1.NodeRunning
	node.Labels = map[string]string{"changed": "in memory"}
	node.Spec.Image = "seid:2"
	result, err := snapshot.Patch(t.Context(), world, node)
	if err != nil || result != statuspatch.Changed {
		t.Fatalf("Patch = %s, %v; want changed", result, err)
	}
	if len(world.bodies) != 1 {
		t.Fatalf("sent %d patches, want 1", len(world.bodies))
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(world.bodies[0]), &body); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"metadata": map[string]any{"resourceVersion": before},
		"status":   map[string]any{"phase": "Running"},
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	if node.Spec.Image != "seid:2" || node.Labels["changed"] == "" {
		t.Error("what else was changed in memory got lost")
	}
	var stored seiv1.SeiNode
	stored.Namespace, stored.Name = "sei", "rpc-0"
	world.get(t, &stored)
	if stored.Status.Phase != seiv1.NodeRunning || stored.ResourceVersion != node.ResourceVersion || node.ResourceVersion == before {
		t.Errorf("stored phase %s at %s, object at %s, before %s", stored.Status.Phase, stored.ResourceVersion, node.ResourceVersion, before)
	}
	if diff := cmp.Diff(tally{statuspatch.Changed: 1}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestPatch_TwiceInOneReconcile_DoesNotConflictWithItself(t *testing.T) {
	world := newWorld(t, newNode())
	node := newNode()
	world.get(t, node)
	snapshot := statuspatch.NewWriter(nil).New(node)
	for _, phase := range []seiv1.SeiNodePhase{seiv1.NodePending, seiv1.NodeInitializing} {
		node.Status.Phase = phase
		if result, err := snapshot.Patch(t.Context(), world, node); err != nil || result != statuspatch.Changed {
			t.Fatalf("Patch to %s = %s, %v", phase, result, err)
		}
	}
	if result, err := snapshot.Patch(t.Context(), world, node); err != nil || result != statuspatch.Noop {
		t.Errorf("Patch with nothing new = %s, %v; want noop", result, err)
	}
}

// A6: two reconciles from one state, one winner.
func TestPatch_TwoReconcilesOfOneState_SecondConflicts(t *testing.T) {
	world := newWorld(t, newNode())
	counts := tally{}
	writer := statuspatch.NewWriter(counts.count)
	first, second := newNode(), newNode()
	world.get(t, first)
	world.get(t, second)
	snapshots := []*statuspatch.Snapshot{writer.New(first), writer.New(second)}

	first.Status.Plan = &seiv1.TaskPlan{ID: "one", Phase: seiv1.PlanActive}
	second.Status.Plan = &seiv1.TaskPlan{ID: "two", Phase: seiv1.PlanActive}
	if result, err := snapshots[0].Patch(t.Context(), world, first); err != nil || result != statuspatch.Changed {
		t.Fatalf("first Patch = %s, %v", result, err)
	}
	result, err := snapshots[1].Patch(t.Context(), world, second)
	if result != statuspatch.Conflict || !apierrors.IsConflict(err) {
		t.Fatalf("second Patch = %s, %v; want a conflict", result, err)
	}
	stored := newNode()
	world.get(t, stored)
	if stored.Status.Plan.ID != "one" {
		t.Errorf("stored plan is %s, want the first", stored.Status.Plan.ID)
	}
	if diff := cmp.Diff(tally{statuspatch.Changed: 1, statuspatch.Conflict: 1}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if !writer.Stale(second) {
		t.Error("the object of the losing reconcile is not called stale")
	}
}

func TestPatch_APIServerFails_CountsErrorAndNamesTheObject(t *testing.T) {
	world := newWorld(t, newNode())
	world.fail = errors.New("connection refused")
	counts := tally{}
	node := newNode()
	world.get(t, node)
	snapshot := statuspatch.NewWriter(counts.count).New(node)
	node.Status.Phase = seiv1.NodeRunning
	result, err := snapshot.Patch(t.Context(), world, node)
	if result != statuspatch.Failed || !errors.Is(err, world.fail) || !strings.Contains(err.Error(), "sei/rpc-0") {
		t.Errorf("Patch = %s, %v", result, err)
	}
	if diff := cmp.Diff(tally{statuspatch.Failed: 1}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestPatch_ObjectThatDoesNotFit_IsAnError(t *testing.T) {
	world := newWorld(t)
	other := newNode()
	other.UID = "u2"
	cases := map[string]struct {
		snapshot, obj client.Object
		want          string
	}{
		"another kind":        {newNode(), &seiv1.SeiNodeTask{}, "the snapshot is of a *v1alpha1.SeiNode"},
		"a later namesake":    {newNode(), other, "uid u1"},
		"a kind of no status": {&corev1.ConfigMap{}, &corev1.ConfigMap{}, "has no field Status"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			result, err := statuspatch.NewWriter(nil).New(tc.snapshot).Patch(t.Context(), world, tc.obj)
			if result != statuspatch.Failed || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Patch = %s, %v; want an error with %q", result, err, tc.want)
			}
		})
	}
}

func TestPatch_EveryKindOfTheGroup_IsCovered(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "sei", Name: "x", UID: "u"}
	fleet, task := &seiv1.SeiNodeDeployment{ObjectMeta: meta}, &seiv1.SeiNodeTask{ObjectMeta: meta}
	world := newWorld(t, fleet, task)
	world.get(t, fleet)
	world.get(t, task)
	writer := statuspatch.NewWriter(nil)

	fleetSnapshot, taskSnapshot := writer.New(fleet), writer.New(task)
	fleet.Status.ReadyReplicas = 3
	task.Status.Phase = seiv1.NodeTaskRunning
	if result, err := fleetSnapshot.Patch(t.Context(), world, fleet); err != nil || result != statuspatch.Changed {
		t.Errorf("fleet: %s, %v", result, err)
	}
	if result, err := taskSnapshot.Patch(t.Context(), world, task); err != nil || result != statuspatch.Changed {
		t.Errorf("task: %s, %v", result, err)
	}
}

func TestStale_ComparesWithOwnLastWriteOfTheSameObject(t *testing.T) {
	world := newWorld(t, newNode())
	writer := statuspatch.NewWriter(nil)
	node := newNode()
	world.get(t, node)
	old := node.DeepCopy()
	if writer.Stale(old) {
		t.Error("stale before anything was written")
	}
	snapshot := writer.New(node)
	node.Status.Phase = seiv1.NodeRunning
	if _, err := snapshot.Patch(t.Context(), world, node); err != nil {
		t.Fatal(err)
	}

	newer, namesake, odd := node.DeepCopy(), old.DeepCopy(), old.DeepCopy()
	newer.ResourceVersion += "0"
	namesake.UID = "u2"
	odd.ResourceVersion = "opaque"
	for name, tc := range map[string]struct {
		obj  *seiv1.SeiNode
		want bool
	}{
		"older":              {old, true},
		"our own write":      {node, false},
		"newer":              {newer, false},
		"a later namesake":   {namesake, false},
		"cannot be compared": {odd, false},
	} {
		if got := writer.Stale(tc.obj); got != tc.want {
			t.Errorf("%s: Stale = %v, want %v", name, got, tc.want)
		}
	}
	writer.Forget(client.ObjectKeyFromObject(node))
	if writer.Stale(old) {
		t.Error("a forgotten object is still called stale")
	}
}

// N17: after a restore from a backup the API server's versions count from there again. What was
// written before is given up, and only then.
func TestLost_StoredVersionIsOlderThanOurLastWrite_IsForgottenOnce(t *testing.T) {
	world := newWorld(t, newNode())
	writer := statuspatch.NewWriter(nil)
	node := newNode()
	world.get(t, node)
	restored := node.DeepCopy()
	if writer.Lost(restored) {
		t.Error("lost before anything was written")
	}
	snapshot := writer.New(node)
	node.Status.Phase = seiv1.NodeRunning
	if _, err := snapshot.Patch(t.Context(), world, node); err != nil {
		t.Fatal(err)
	}
	namesake := restored.DeepCopy()
	namesake.UID = "u2"
	if writer.Lost(node) || writer.Lost(namesake) || !writer.Stale(restored) {
		t.Error("a late cache is taken for a restore")
	}
	if !writer.Lost(restored) {
		t.Error("a restore was not noticed")
	}
	if writer.Stale(restored) || writer.Lost(restored) {
		t.Error("the restored object still counts as stale: every pass would end at once")
	}
}
