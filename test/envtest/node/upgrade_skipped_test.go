package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Validators that run with --unsafe-skip-upgrades have their chain go past the height of a plan: the
// upgrade module drops the plan there, and nothing is applied.

// requireNoUpgrade fails if a node says anything of an upgrade.
func requireNoUpgrade(t *testing.T, n *v1alpha1.SeiNode) {
	t.Helper()
	for condition, reason := range map[string]string{
		v1alpha1.ConditionUpgradeScheduled: v1alpha1.ReasonNothingScheduled, v1alpha1.ConditionUpgradeImageMissing: v1alpha1.ReasonNothingScheduled,
		v1alpha1.ConditionUpgradeFailed: v1alpha1.ReasonNoFailure, v1alpha1.ConditionStalled: "",
	} {
		if !is(n, condition, metav1.ConditionFalse, reason) {
			t.Errorf("%s is not False: %+v", condition, n.Status.Conditions)
		}
	}
	if u := n.Status.Upgrade; u != nil && (u.Scheduled != nil || u.Applied != nil || u.Entry != "" || u.State != v1alpha1.UpgradeUpToDate) {
		t.Errorf("status %+v", u)
	}
}

// requireUnmoved fails unless a node's seid still runs in the same pod, as the only process it ever had.
func (w nodes) requireUnmoved(name string, pod *corev1.Pod) {
	w.T.Helper()
	now := &corev1.Pod{}
	if w.Get(name+"-0", now); now.UID != pod.UID {
		w.T.Error("the pod was replaced")
	}
	if starts := w.Sidecars.Starts(w.Key(name)); len(starts) != 1 {
		w.T.Errorf("seid was started %d times", len(starts))
	}
	w.sound()
}

// The height passes without a halt. While the sidecar still tells the plan, which it asks for twice a
// minute, and after it, the node stays where it is; the next upgrade finds it there.
func TestUpgrade_Skipped_ConditionsClearAndNothingMoves(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	pod := &corev1.Pod{}
	w.Get("n-0", pod)
	w.Sidecars.Plan(w.Key("n"), &api.Upgrade{Name: "v7", Height: 2000})
	w.lookUntil("n", "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
	w.awaitPulled("n")

	w.Sidecars.Amend(w.Key("n"), func(doc *api.Node) { doc.Sync.Height = 2001 })
	w.forceReconciles("n", 3)
	if n := w.node("n"); !settled(n) || !inState(v1alpha1.UpgradeScheduled)(n) {
		t.Errorf("past the height, with the plan: %+v", n.Status)
	}
	w.requireUnmoved("n", pod)

	w.Sidecars.Plan(w.Key("n"), nil)
	n := w.lookUntil("n", "the plan to be gone", func(n *v1alpha1.SeiNode) bool {
		return inState(v1alpha1.UpgradeUpToDate)(n) && n.Status.PulledAhead == nil
	})
	requireNoUpgrade(t, n)
	w.AwaitEvent("n", events.UpgradeCancelled)
	w.forceReconciles("n", 1)
	mark := w.Recorder.Mark()
	w.forceReconciles("n", 5)
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes after a skipped upgrade")
	if !settled(w.node("n")) {
		t.Errorf("status %+v", w.node("n").Status)
	}
	w.requireUnmoved("n", pod)

	w.Sidecars.Plan(w.Key("n"), &api.Upgrade{Name: "v8", Height: 3000})
	w.reach("n")
	w.await("n", upgradedTo("v8"))
	w.requireImages("n", "seid:a", "seid:v8")
}

// Nobody has named the image of an upgrade that its validators skip: it is not missing any more.
func TestUpgrade_SkippedWithoutAnEntry_IsNotMissingAnyMore(t *testing.T) {
	w := newOperatedWorld(t)
	w.handlers()
	w.bringUp(fullNode("n"))
	pod := &corev1.Pod{}
	w.Get("n-0", pod)
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	w.lookUntil("n", "the plan to be seen", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
	})
	w.Sidecars.Plan(w.Key("n"), nil)
	n := w.lookUntil("n", "the plan to be gone", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionFalse, v1alpha1.ReasonNothingScheduled)
	})
	requireNoUpgrade(t, n)
	w.requireUnmoved("n", pod)
}

// The chain plans another upgrade in place of the one that it had: only that one is told, and moved to.
func TestUpgrade_PlanReplacedByAnother_OnlyThatOneIsTaken(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	pod := &corev1.Pod{}
	w.Get("n-0", pod)
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	w.lookUntil("n", "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
	w.Sidecars.Plan(w.Key("n"), &api.Upgrade{Name: "v8", Height: 200})
	n := w.lookUntil("n", "the other plan to be seen", func(n *v1alpha1.SeiNode) bool {
		return inState(v1alpha1.UpgradeScheduled)(n) && n.Status.Upgrade.Scheduled.Name == "v8"
	})
	if n.Status.Upgrade.Scheduled.Height != 200 || !is(n, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionTrue, v1alpha1.ReasonImageKnown) {
		t.Errorf("status %+v", n.Status.Upgrade)
	}
	w.requireUnmoved("n", pod)
	w.reach("n")
	w.await("n", upgradedTo("v8"))
	w.requireImages("n", "seid:a", "seid:v8")
}

// Validators that have stopped for an upgrade may decide to skip it then. The node continues with the
// image that it has, and nothing is left of the halt.
func TestUpgrade_SkippedAfterTheHalt_NodeGoesOnWithItsImage(t *testing.T) {
	w := newOperatedWorld(t)
	w.handlers()
	w.bringUp(fullNode("n"))
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	w.lookUntil("n", "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
	w.reach("n")
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return inState(v1alpha1.UpgradeHalted)(n) && is(n, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
	})
	w.Sidecars.Applied(w.Key("n")) // the state has neither the plan nor the upgrade
	w.losePod("n")
	n := w.lookUntil("n", "the node to go on", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionFalse, v1alpha1.ReasonNothingScheduled)
	})
	requireNoUpgrade(t, n)
	w.requireImages("n", "seid:a")
}
