package fleet

import (
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
	wanted := s.snd.Spec.Replicas
	switch {
	case s.snd.Spec.Paused || s.snd.Spec.Template.Spec.Paused:
		return v1alpha1.DeploymentPaused
	case s.ceremonyFailed():
		return v1alpha1.DeploymentFailed
	case len(status.Nodes) == 0:
		return v1alpha1.DeploymentPending
	case status.Rollout != nil:
		return v1alpha1.DeploymentUpgrading
	case status.ReadyReplicas == wanted:
		return v1alpha1.DeploymentReady
	case failed == len(status.Nodes):
		return v1alpha1.DeploymentFailed
	case failed == 0 && s.comingUp():
		return v1alpha1.DeploymentInitializing
	default:
		return v1alpha1.DeploymentDegraded
	}
}

// comingUp reports whether a node that the fleet shall have was not brought up yet.
func (s *report) comingUp() bool {
	status := &s.snd.Status
	if len(status.Nodes) < int(s.snd.Spec.Replicas) {
		return true
	}
	for _, n := range status.Nodes {
		if n.Phase != v1alpha1.NodeRunning {
			return true
		}
	}
	return false
}
