package node

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestUpgrade_Minor_LoneNodeTakesItAtOnce(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	w.Sidecars.Plan(w.Key("n"), &api.Upgrade{Name: "v7", Height: 100, Minor: true})
	early := func(n *v1alpha1.SeiNode) bool { return settled(n) && inState(v1alpha1.UpgradeMovedEarly)(n) }
	n := w.lookUntil("n", "the node to move", early)
	if n.Status.Upgrade.Scheduled.Type != v1alpha1.UpgradeMinor || n.Status.CurrentImage != "seid:v7" {
		t.Errorf("upgrade %+v of type %s with image %s, want %s and seid:v7",
			n.Status.Upgrade.Scheduled, n.Status.Upgrade.Scheduled.Type, n.Status.CurrentImage, v1alpha1.UpgradeMinor)
	}
	w.reach("n")
	w.lookUntil("n", "the upgrade to be applied", upgradedTo("v7"))
	w.requireImages("n", "seid:a", "seid:v7")
}

// U4: a cancelled plan moves nobody back.
func TestUpgrade_Minor_CancelledAfterTheMove_Stays(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	w.Sidecars.Plan(w.Key("n"), &api.Upgrade{Name: "v7", Height: 100, Minor: true})
	early := func(n *v1alpha1.SeiNode) bool { return settled(n) && inState(v1alpha1.UpgradeMovedEarly)(n) }
	w.lookUntil("n", "the node to move", early)
	w.Sidecars.Plan(w.Key("n"), nil)
	w.lookUntil("n", "the plan to be gone", func(n *v1alpha1.SeiNode) bool {
		return early(n) && is(n, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionFalse, v1alpha1.ReasonNothingScheduled)
	})
	w.losePod("n")
	w.await("n", early)
	w.requireImages("n", "seid:a", "seid:v7")
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Upgrades = n.Spec.Upgrades[1:] })
	w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && n.Status.CurrentImage == "seid:a" })
}

// The node of a fleet waits for its turn.
func TestUpgrade_Minor_NodeOfAFleet_WaitsForItsFleet(t *testing.T) {
	w := newOperatedWorld(t)
	n := w.upgradable("n")
	n.Labels = map[string]string{v1alpha1.LabelDeployment: "fleet"}
	n.Annotations = map[string]string{v1alpha1.AnnotationDeploymentUID: "0"}
	w.bringUp(n)
	w.Sidecars.Plan(w.Key("n"), &api.Upgrade{Name: "v7", Height: 100, Minor: true})
	w.lookUntil("n", "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
	w.forceReconciles("n", 2)
	w.requireImages("n", "seid:a")
	w.edit("n", func(n *v1alpha1.SeiNode) {
		n.Annotations = map[string]string{v1alpha1.AnnotationDeploymentUID: "0", v1alpha1.AnnotationMinorUpgrade: "v7"}
	})
	w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && n.Status.CurrentImage == "seid:v7" })
}
