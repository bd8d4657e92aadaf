package node

import "github.com/sei-operator/sei-operator/api/v1alpha1"

// Phase says how far a node got in its life. It is output: nothing is decided by it.
func Phase(status *v1alpha1.SeiNodeStatus) v1alpha1.SeiNodePhase {
	last := status.LastPlan
	switch {
	case status.InitializedAt != nil:
		return v1alpha1.NodeRunning
	case status.Plan != nil:
		return v1alpha1.NodeInitializing
	case last != nil && last.Outcome == v1alpha1.OutcomeFailed:
		return v1alpha1.NodeFailed
	case last != nil:
		return v1alpha1.NodeInitializing
	default:
		return v1alpha1.NodePending
	}
}

// phase says how far the node got in its life.
func (r *report) phase() { r.enter(Phase(r.status)) }

// enter notes a phase, and since when it is the node's.
func (r *report) enter(phase v1alpha1.SeiNodePhase) {
	if r.status.Phase != phase {
		r.status.Phase, r.status.PhaseTransitionTime = phase, seconds(r.Now)
	}
}
