package operation

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

var (
	forGood = api.ErrorDetail{Code: api.CodePrecondition, Terminal: true}
	forNow  = api.ErrorDetail{Code: api.CodeUnavailable, Retryable: true}
)

// reconcile has a new operator look at the task once.
func (r *rig) reconcile(t *testing.T) {
	t.Helper()
	if _, err := r.operator(t).Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
}

// failedSync is a state sync that has failed at one of its tasks.
func failedSync(t *testing.T, at api.TaskType) *rig {
	t.Helper()
	r := newRig(t, specs["sync"])
	r.sidecar.broken = map[api.TaskType]api.ErrorDetail{at: forGood}
	for range 5 {
		r.reconcile(t)
	}
	task := r.stored(t)
	if task.Status.Phase != v1alpha1.NodeTaskFailed || r.sidecar.heldBy == "" || len(task.Finalizers) != 1 {
		t.Fatalf("failed at %s: phase %s, held by %q, finalizers %v", at, task.Status.Phase, r.sidecar.heldBy, task.Finalizers)
	}
	return r
}

// deletion deletes the task and has operators look at it, the first of which is killed at a call.
func (r *rig) deletion(t *testing.T, f fate) (gone bool) {
	t.Helper()
	if err := r.Delete(t.Context(), r.stored(t)); err != nil {
		t.Fatal(err)
	}
	r.fate = f
	for i := 0; i < 20 && !gone; i++ {
		_, _ = r.operator(t).Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		gone = r.gone(t)
	}
	return gone
}

func (r *rig) gone(t *testing.T) bool {
	t.Helper()
	return apierrors.IsNotFound(r.Client.Get(t.Context(), key, &v1alpha1.SeiNodeTask{}))
}

// Deleting a state sync that has failed gives its node back to the node's own plan, whichever step
// failed and whenever the operator is killed meanwhile: the gate is closed and not held, and the
// data is whole or gone.
func TestRelease_FailedTaskDeleted_TheNodeIsGivenBack(t *testing.T) {
	for _, step := range []api.TaskType{api.StopSeid, api.ResetData, api.ConfigureStateSync, api.ConfigValidate, api.MarkReady} {
		for at := range 8 {
			for _, after := range []bool{false, true} {
				r := failedSync(t, step)
				if step == api.ResetData {
					r.sidecar.broken = nil // what keeps data from being deleted was repaired
				}
				gone, emptied := r.deletion(t, fate{at: at, after: after}), step != api.StopSeid
				if !gone || r.sidecar.heldBy != "" || r.sidecar.ready || r.sidecar.partly || r.sidecar.emptied != emptied {
					t.Errorf("failed at %s, killed at %d (after %t): gone %t, held by %q, open %t, data partly deleted %t, deleted %t",
						step, at, after, gone, r.sidecar.heldBy, r.sidecar.ready, r.sidecar.partly, r.sidecar.emptied)
				}
			}
		}
	}
}

// While the data is deleted in part, and cannot be deleted, the node is not given back, and the
// task says what it waits for.
func TestRelease_DataPartlyDeleted_WaitsAndSaysSo(t *testing.T) {
	r := failedSync(t, api.ResetData)
	gone := r.deletion(t, fate{})
	r.Clock.SetTime(r.stored(t).DeletionTimestamp.Add(time.Hour))
	r.reconcile(t)
	waits := conditions.Get(r.stored(t).Status.Conditions, v1alpha1.ConditionReleased)
	if gone || r.sidecar.heldBy == "" || waits == nil || waits.Reason != v1alpha1.ReasonReleasing || !strings.Contains(waits.Message, "cannot be deleted: broken") {
		t.Fatalf("gone %t, held by %q, condition %+v", gone, r.sidecar.heldBy, waits)
	}
	if failed := conditions.Get(r.stored(t).Status.Conditions, v1alpha1.ConditionFailed); failed.Status != metav1.ConditionTrue {
		t.Errorf("the task does not say any more that it has failed: %+v", failed)
	}
	r.sidecar.broken = nil
	for i := 0; i < 5 && !r.gone(t); i++ {
		r.reconcile(t)
	}
	if !r.gone(t) || r.sidecar.heldBy != "" || r.sidecar.partly {
		t.Errorf("gone %t, held by %q, partly deleted %t", r.gone(t), r.sidecar.heldBy, r.sidecar.partly)
	}
}

// A step that keeps failing after the data is gone delays the release by the patience, not by the
// task's time.
func TestRelease_RunningTaskWhoseStepKeepsFailing_IsCancelledAndTheNodeGivenBack(t *testing.T) {
	r := newRig(t, specs["sync"])
	r.sidecar.broken = map[api.TaskType]api.ErrorDetail{api.ConfigureStateSync: forNow}
	r.Clock.SetTime(time.Now()) // the fake API server's deletions go by the real clock
	r.reconcile(t)
	if err := r.Delete(t.Context(), r.stored(t)); err != nil {
		t.Fatal(err)
	}
	r.reconcile(t)
	waits := conditions.Get(r.stored(t).Status.Conditions, v1alpha1.ConditionReleased)
	if waits == nil || !strings.Contains(waits.Message, "configure-state-sync") || r.sidecar.heldBy == "" {
		t.Fatalf("condition %+v, held by %q", waits, r.sidecar.heldBy)
	}
	r.Clock.SetTime(r.stored(t).DeletionTimestamp.Add(31 * time.Second))
	r.reconcile(t)
	if !r.gone(t) || r.sidecar.heldBy != "" || r.sidecar.ready || !r.sidecar.emptied {
		t.Errorf("gone %t, held by %q, open %t, data deleted %t", r.gone(t), r.sidecar.heldBy, r.sidecar.ready, r.sidecar.emptied)
	}
	for id, left := range r.sidecar.known {
		if left.Type == api.ConfigureStateSync {
			t.Errorf("%s was not cancelled", id)
		}
	}
}

// A node that another task holds meanwhile is not that of the deleted task to give back.
func TestRelease_HeldByAnother_IsLeftAlone(t *testing.T) {
	r := failedSync(t, api.ConfigureStateSync)
	r.sidecar.heldBy = "another"
	before := slices.Clone(r.sidecar.did)
	if gone := r.deletion(t, fate{}); !gone || r.sidecar.heldBy != "another" || !slices.Equal(before, r.sidecar.did) {
		t.Errorf("gone %t, held by %q, did %v", gone, r.sidecar.heldBy, r.sidecar.did)
	}
}

// A task that holds its node stays until the node can be told, or is gone.
func TestRelease_NoSidecar_WaitsForIt(t *testing.T) {
	r := failedSync(t, api.ConfigureStateSync)
	if err := r.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace("ns")); err != nil {
		t.Fatal(err)
	}
	if r.deletion(t, fate{}) {
		t.Fatal("the task is gone and its node is held")
	}
	r.Clock.SetTime(r.stored(t).DeletionTimestamp.Add(time.Hour))
	r.reconcile(t)
	if waits := conditions.Get(r.stored(t).Status.Conditions, v1alpha1.ConditionReleased); waits == nil || !strings.Contains(waits.Message, "its sidecar is not running") {
		t.Errorf("condition %+v", waits)
	}
	node := controllertest.Stored(t, r.Cluster, client.ObjectKey{Namespace: "ns", Name: "n"}, &v1alpha1.SeiNode{})
	if err := r.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	r.reconcile(t)
	if !r.gone(t) {
		t.Error("the task outlives its node")
	}
}

// A sidecar that loses its tasks is not asked for a second restart.
func TestRestartSeid_SidecarLosesItsTasks_OneRestart(t *testing.T) {
	for at := range 8 {
		for _, after := range []bool{false, true} {
			r := newRig(t, specs["restart"])
			r.sidecar.forgetful, r.fate = true, fate{at: at, after: after}
			if task := r.live(t); task.Status.Phase != v1alpha1.NodeTaskComplete || r.sidecar.starts != 4 {
				t.Errorf("killed at %d (after %t): phase %s, %d restarts", at, after, task.Status.Phase, r.sidecar.starts-3)
			}
		}
	}
}
