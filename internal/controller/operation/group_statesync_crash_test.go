package operation

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// stateSyncTasks is what a state sync has a sidecar do, in order.
var stateSyncTasks = []api.TaskType{
	api.MarkNotReady, api.StopSeid, api.ResetData, api.ConfigureStateSync, api.ConfigValidate, api.MarkReady,
}

// An operator that is killed before or after any of its calls, of the parent or of a child, leaves a
// state sync of a fleet that the next one takes to its end: one child for each node, each step done
// once, never two nodes down at a time, and none held when it has ended.
func TestCrash_StateSyncOfAFleet_EveryNodeIsReleasedWithinTheBudget(t *testing.T) {
	calls := 0
	for at := 0; at <= calls; at++ {
		for _, after := range []bool{false, true} {
			r := newGroupRig(t, specs["sync"])
			r.fate = fate{at: at, after: after}
			var together []string
			r.watchHeld(&together)
			parent := r.live(t, func() {})
			if at == 0 {
				calls = r.fate.calls
			}
			what := fmt.Sprintf("killed at call %d of %d (after %t)", at, calls, after)
			if n := parent.Status.Nodes; parent.Status.Phase != v1alpha1.NodeTaskComplete || n.Total != 2 || n.Complete != 2 {
				t.Errorf("%s: %+v, want Phase %v, Total 2 and Complete 2", what, parent.Status, v1alpha1.NodeTaskComplete)
			}
			if len(together) > 0 {
				t.Errorf("%s: beside a node that is held: %v", what, together)
			}
			r.requireReleased(t, what)
		}
	}
	if calls < 20 {
		t.Errorf("a state sync of two nodes makes only %d calls", calls)
	}
}

// watchHeld notes what is done to a node while another one is held.
func (r *groupRig) watchHeld(together *[]string) {
	for name, s := range r.sidecars {
		s.watch = func(of api.TaskType) {
			for other, o := range r.sidecars {
				if other != name && (o.heldBy != "" || !o.ready) {
					*together = append(*together, fmt.Sprintf("%s on %s beside %s", of, name, other))
				}
			}
		}
	}
}

// requireReleased checks that every node has had one child, was set up again once, and is released.
func (r *groupRig) requireReleased(t *testing.T, what string) {
	t.Helper()
	list := &v1alpha1.SeiNodeTaskList{}
	if err := r.List(t.Context(), list); err != nil || len(list.Items) != 3 {
		t.Errorf("%s: %d tasks, %v", what, len(list.Items), err)
	}
	var nodes []string
	for i := range list.Items {
		child := &list.Items[i]
		if domain.ForSeveral(&child.Spec) {
			continue
		}
		name := child.Spec.Target.NodeRef.Name
		nodes = append(nodes, name)
		s := r.sidecars[name]
		if diff := cmp.Diff(stateSyncTasks, s.did); diff != "" || s.heldBy != "" || !s.ready || len(s.runs) != len(stateSyncTasks) {
			t.Errorf("%s: %s is held by %q, open: %t, %d executions (-want +got):\n%s", what, name, s.heldBy, s.ready, len(s.runs), diff)
		}
	}
	slices.Sort(nodes)
	if diff := cmp.Diff([]string{"f-0", "f-1"}, nodes); diff != "" {
		t.Errorf("%s: children of (-want +got):\n%s", what, diff)
	}
}
