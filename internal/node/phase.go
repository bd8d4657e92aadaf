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
