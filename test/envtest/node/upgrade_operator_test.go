package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// U1.
func TestUpgrade_OperatorIsAwayAtTheHalt_MovesWhenItIsBack(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	w.lookUntil("n", "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
	w.Stop()
	w.reach("n")
	w.StartOperator()
	w.await("n", upgradedTo("v7"))
	w.requireImages("n", "seid:a", "seid:v7")
}

// U1: an operator that is killed in the middle of the move continues where it was.
func TestUpgrade_OperatorRestartedDuringTheMove_GoesOn(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	release := w.Pods.Rule(podMatch(w.NS, "n-0", "install"), holdContainer())
	w.reach("n")
	w.awaitPod("n-0", func(p *corev1.Pod) bool { return p.Spec.Containers[0].Image == "seid:v7" })
	w.RestartOperator()
	release()
	w.await("n", upgradedTo("v7"))
	w.requireImages("n", "seid:a", "seid:v7")
}
