package fleet

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Member is one of the nodes the fleet should have.
type Member struct {
	// Target is the node as the template asks for it.
	Target Child
	// Live is the node that is there; nil when there is none.
	Live *v1alpha1.SeiNode
	// Restarted is the value of sei.io/restart its pod was made with.
	Restarted string
	// Task is the SeiNodeTask that restarts it now; empty when there is none.
	Task string
	// Foreign says why a node of this name is not the fleet's.
	Foreign string
	// Moved: the pass gave it the template's spec.
	Moved bool
	// Refused says why the API server does not take the node. Only writing it tells.
	Refused string
}

// own is the fleet's node; nil when there is none, or when it is another owner's.
func (m *Member) own() *v1alpha1.SeiNode {
	if m.Foreign != "" {
		return nil
	}
	return m.Live
}

// Observation is what a pass saw of a fleet. Nothing changes it.
type Observation struct {
	// Fleet is the fleet as it was read.
	Fleet *v1alpha1.SeiNodeDeployment
	// Members are the nodes it should have, by ordinal.
	Members []Member
	// Surplus are its nodes beyond those, in the order in which they are removed.
	Surplus []*v1alpha1.SeiNode
	// Genesis are the ConfigMaps with a genesis of the fleet's chain.
	Genesis []corev1.ConfigMap
	// Founders are the fleets that ask to start that chain, the fleet itself among them.
	Founders []v1alpha1.SeiNodeDeployment
	Now      time.Time
}

// Nodes are the nodes that the fleet has, those among them that it is about to remove.
func (o *Observation) Nodes() []*v1alpha1.SeiNode {
	var nodes []*v1alpha1.SeiNode
	for i := range o.Members {
		if live := o.Members[i].own(); live != nil {
			nodes = append(nodes, live)
		}
	}
	return append(nodes, o.Surplus...)
}

// Result is what acting on a decision came to.
type Result struct {
	// Members are the nodes as the pass left them.
	Members []Member
	// Nodes is how they are judged then; nil when the pass did not get that far.
	Nodes      []Node
	Networking Networking
	Err        error
}

// Pass is what one pass over a fleet saw, decided and did.
type Pass struct {
	Observed Observation
	Decision Decision
	Result   Result
}
