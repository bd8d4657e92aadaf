package walk

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// The checks, by the invariants of docs/contributing/soundness.md.
const (
	checkKeys    = "S1: a key signs in two places, or without being reserved"
	checkConfig  = "S2: seid was started on a refused configuration"
	checkBack    = "S3: a lost process did not come back"
	checkStatus  = "S4: the status does not say what is"
	checkEnd     = "S5: the end is not that of the last spec from scratch"
	checkCalm    = "S6: something restarted although nobody asked for it"
	checkVolume  = "S7: a volume has two users"
	checkKept    = "S8: a volume that is to be retained is gone"
	checkBudget  = "S9: a rollout took too many nodes down"
	checkForeign = "S11: an object of somebody else was touched"
	checkDeletes = "deletes: an object was deleted by its name alone"
	checkSilent  = "silence: something was written after the end"
)

var checkNames = []string{
	checkKeys, checkConfig, checkBack, checkStatus, checkEnd, checkCalm, checkVolume, checkKept, checkBudget, checkForeign, checkDeletes, checkSilent,
}

// checkAlways checks what holds at every moment.
func (w *walk) checkAlways() {
	w.T.Helper()
	for id, check := range map[string]string{"S1: ": checkKeys, "S2: ": checkConfig, "S7: ": checkVolume} {
		w.counted(check)
		for _, violation := range w.Sidecars.Violations() {
			if strings.HasPrefix(violation, id) {
				w.failf(check, "%s", violation)
			}
		}
	}
	w.checkClaims()
	w.checkStrangers()
	w.counted(checkBudget)
	if problem := w.budget.problem(); problem != "" {
		w.failf(checkBudget, "%s", problem)
	}
	w.counted(checkDeletes)
}

func (w *walk) checkClaims() {
	w.counted(checkKept)
	for name, uid := range w.kept {
		claim := &corev1.PersistentVolumeClaim{}
		if !w.read(name, claim) || claim.UID != uid || claim.DeletionTimestamp != nil {
			w.failf(checkKept, "claim %s was %s and is %s, deleted at %v", name, uid, claim.UID, claim.DeletionTimestamp)
		}
	}
}

// checkStrangers wants what is another owner's to be there, and their pods not to have been called.
func (w *walk) checkStrangers() {
	w.counted(checkForeign)
	for obj := range w.foreign {
		live := obj.DeepCopyObject().(client.Object)
		if !w.read(obj.GetName(), live) || live.GetUID() != obj.GetUID() || live.GetDeletionTimestamp() != nil {
			w.failf(checkForeign, "%T %s is %s, deleted at %v", obj, obj.GetName(), live.GetUID(), live.GetDeletionTimestamp())
		}
		for _, by := range live.GetManagedFields() {
			if by.Manager == v1alpha1.FieldOwnerSeiNode || by.Manager == v1alpha1.FieldOwnerSeiNodeDeployment {
				w.failf(checkForeign, "%T %s was written to by %s", obj, obj.GetName(), by.Manager)
			}
		}
		if _, isPod := obj.(*corev1.Pod); isPod && slices.ContainsFunc(w.Sidecars.Requests(""), func(r sidecarsim.Request) bool { return r.Pod == obj.GetUID() }) {
			w.failf(checkForeign, "pod %s was called", obj.GetName())
		}
	}
}

// sees reports whether an operator runs that can see every node, and hears of everything.
func (w *walk) sees() bool {
	return !w.away && len(w.blind) == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(w.repairs)), func(what string) bool { return strings.HasPrefix(what, "cache ") })
}

// checkAtRest checks what holds once the operator has had the time to do something.
func (w *walk) checkAtRest() {
	w.T.Helper()
	if w.sees() && !w.failed() {
		w.becomes(checkStatus, w.wrongStatus)
	}
}
