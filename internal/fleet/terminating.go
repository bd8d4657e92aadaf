package fleet

import (
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// ReportTerminating writes into the status of a fleet that it is being deleted, and whether it waits
// for nodes that go with it.
func ReportTerminating(snd *v1alpha1.SeiNodeDeployment, bound int, now time.Time) {
	EnterPhase(snd, v1alpha1.DeploymentTerminating, now)
	snd.Status.ObservedGeneration = snd.Generation
	message := "the fleet is being deleted"
	if !Retains(snd) && bound > 0 {
		message += ": waiting for its nodes to stop"
	}
	conditions.For(&snd.Status.Conditions, snd.Generation, now).False(v1alpha1.ConditionNodesReady, v1alpha1.ReasonTerminating, message)
}
