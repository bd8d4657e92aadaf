package cli

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/internal/cli/live"
)

// StatusReport is what `status` shows: fleets with their nodes, and nodes that are in no fleet.
type StatusReport struct {
	Fleets []FleetStatus `json:"fleets,omitempty"`
	Nodes  []NodeStatus  `json:"nodes,omitempty"`
	// Notes say why facts are missing.
	Notes []string `json:"notes,omitempty"`
}

// FleetStatus is one fleet.
type FleetStatus struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Chain     string `json:"chain"`
	Phase     string `json:"phase,omitempty"`
	Ready     int32  `json:"ready"`
	Replicas  int32  `json:"replicas"`
	// Image is that of the template.
	Image string `json:"image"`
	// AppHashes sums up the verdicts on the nodes; empty when no node could be compared.
	AppHashes string         `json:"appHashes,omitempty"`
	Rollout   *RolloutDetail `json:"rollout,omitempty"`
	// Upgrade is the upgrade that its chain has scheduled.
	Upgrade *UpgradeDetail `json:"upgrade,omitempty"`
	// Plan is the fleet's own work, for example a genesis ceremony.
	Plan  *PlanDetail  `json:"plan,omitempty"`
	Nodes []NodeStatus `json:"nodes,omitempty"`
}

// RolloutDetail is a change on its way through a fleet.
type RolloutDetail struct {
	Reason    string          `json:"reason,omitempty"`
	Updated   int32           `json:"updated"`
	Total     int32           `json:"total"`
	Elapsed   metav1.Duration `json:"elapsed"`
	WaitingOn string          `json:"waitingOn,omitempty"`
	Paused    bool            `json:"paused,omitempty"`
}

// NodeStatus is one node.
type NodeStatus struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Chain     string `json:"chain"`
	Role      string `json:"role"`
	Phase     string `json:"phase,omitempty"`
	// Ready, Reason and Message are those of condition Ready.
	Ready   string `json:"ready,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Image is what the pod runs, and TargetImage what it should run.
	Image       string `json:"image,omitempty"`
	TargetImage string `json:"targetImage"`
	// Live is what the node itself tells now.
	Live *live.Facts `json:"live,omitempty"`
	// AppHash is ok or DIFFERS; empty when it could not be compared.
	AppHash live.Verdict `json:"appHash,omitempty"`
	// Upgrade is the upgrade that its chain has scheduled, or that it has stopped for.
	Upgrade *UpgradeDetail `json:"upgrade,omitempty"`
	// DiskDaysLeft is an estimate, see docs/how-to/kubectl-sei.md.
	DiskDaysLeft *int64      `json:"diskDaysLeft,omitempty"`
	Pods         []PodDetail `json:"pods,omitempty"`
	Plan         *PlanDetail `json:"plan,omitempty"`
	// diskNew is whether the estimate is missing because the volume is less than a day old.
	diskNew bool
}

// PodDetail is a pod of a node.
type PodDetail struct {
	Name       string          `json:"name"`
	Ready      int             `json:"ready"`
	Containers int             `json:"containers"`
	Status     string          `json:"status"`
	Restarts   int32           `json:"restarts"`
	Machine    string          `json:"machine,omitempty"`
	Age        metav1.Duration `json:"age"`
}

// PlanDetail is work that is in progress.
type PlanDetail struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"`
	Phase  string `json:"phase"`
	// Step of Steps is the task that the plan is at, counted from 1.
	Step    int             `json:"step"`
	Steps   int             `json:"steps"`
	Task    string          `json:"task,omitempty"`
	Elapsed metav1.Duration `json:"elapsed"`
	// TaskElapsed is since when the plan is at its task.
	TaskElapsed metav1.Duration `json:"taskElapsed"`
	// WaitsFor is what the task says that it waits for, or its last error.
	WaitsFor string `json:"waitsFor,omitempty"`
}

// all are the nodes of the report, of fleets first.
func (r *StatusReport) all() []*NodeStatus {
	var found []*NodeStatus
	for i := range r.Fleets {
		for j := range r.Fleets[i].Nodes {
			found = append(found, &r.Fleets[i].Nodes[j])
		}
	}
	for i := range r.Nodes {
		found = append(found, &r.Nodes[i])
	}
	return found
}

func elapsed(since *metav1.Time, now time.Time) metav1.Duration {
	if since == nil {
		return metav1.Duration{}
	}
	return metav1.Duration{Duration: max(now.Sub(since.Time), 0).Truncate(time.Second)}
}
