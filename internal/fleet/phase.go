package fleet

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// EnterPhase writes the phase, and when it began if it is another one.
func EnterPhase(snd *v1alpha1.SeiNodeDeployment, phase v1alpha1.SeiNodeDeploymentPhase, now time.Time) {
	if snd.Status.Phase == phase {
		return
	}
	at := metav1.NewTime(now.Truncate(time.Second))
	snd.Status.Phase, snd.Status.PhaseTransitionTime = phase, &at
}

// phase sums up how the fleet is.
func (s *report) phase() v1alpha1.SeiNodeDeploymentPhase {
	status := &s.snd.Status
	failed := 0
	for _, n := range status.Nodes {
		if n.Phase == v1alpha1.NodeFailed {
			failed++
		}
	}
	switch {
	case s.snd.Spec.Paused || s.snd.Spec.Template.Spec.Paused:
		return v1alpha1.DeploymentPaused
	case s.ceremonyFailed():
		return v1alpha1.DeploymentFailed
	case s.nodes == nil && status.Phase != "":
		return status.Phase // nobody has looked
	case len(status.Nodes) == 0:
		return v1alpha1.DeploymentPending
	case status.Rollout != nil:
		return v1alpha1.DeploymentUpgrading
	case len(s.notInSync()) == 0:
		return v1alpha1.DeploymentReady
	case failed == len(status.Nodes):
		return v1alpha1.DeploymentFailed
	case failed == 0 && s.firstSync():
		return v1alpha1.DeploymentInitializing
	default:
		return v1alpha1.DeploymentDegraded
	}
}

// notInSync lists the places of the nodes that are meant to run and are not in sync, or not as what
// they are meant to be.
func (s *report) notInSync() []int {
	var found []int
	for i, n := range s.nodes {
		if (!n.Ready || n.NotInGenesis != "") && !n.Stopped {
			found = append(found, i)
		}
	}
	return found
}

// firstSync reports whether all nodes that are not in sync have never been.
func (s *report) firstSync() bool {
	for _, i := range s.notInSync() {
		name := s.nodes[i].Name
		if slices.ContainsFunc(s.snd.Status.Nodes, func(n v1alpha1.FleetNode) bool { return n.Name == name && n.Synced }) {
			return false
		}
	}
	return true
}
