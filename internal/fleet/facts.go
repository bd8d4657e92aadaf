package fleet

import (
	"k8s.io/utils/ptr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// Facts is what a fleet reads of a node's status. Of two states of a node with equal facts a
// fleet makes the same, so that the change from one to the other need not wake it up.
type Facts struct {
	node  Node
	phase v1alpha1.SeiNodePhase
	image string
	// address is the consensus key of a validator, which is compared with the genesis.
	address    string
	readySince int64
	step       string
	upgrade    v1alpha1.UpgradeStatus
	scheduled  v1alpha1.ScheduledUpgrade
	applied    v1alpha1.AppliedUpgrade
	// missing is what the node says of an upgrade whose image it does not know.
	missing string
}

// FactsOf reads a node as a pass does.
func FactsOf(n *v1alpha1.SeiNode) Facts {
	f := Facts{
		node:  observe(Child{Name: n.Name}, n, look{current: true, restarted: n.Annotations[rolledAnnotation]}),
		phase: n.Status.Phase, image: n.Status.CurrentImage, address: n.Status.ConsensusAddress,
		missing: imageMissing(n),
	}
	if u := n.Status.Upgrade; u != nil {
		f.upgrade, f.scheduled, f.applied = *u, ptr.Deref(u.Scheduled, v1alpha1.ScheduledUpgrade{}), ptr.Deref(u.Applied, v1alpha1.AppliedUpgrade{})
		f.upgrade.Scheduled, f.upgrade.Applied = nil, nil
	}
	if c := conditions.Get(n.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		f.readySince = c.LastTransitionTime.Unix()
	}
	// A ceremony waits for single steps of its members' plans.
	if v := n.Spec.Validator; v != nil && v.GenesisCeremony != nil && n.Status.Plan != nil {
		if task, _ := plan.Current(n.Status.Plan); task != nil {
			f.step = task.Type + task.Error
		}
	}
	return f
}
