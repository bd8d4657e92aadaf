package operation

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Transaction is what a governance task carries; nil for tasks of other kinds.
func Transaction(spec *v1alpha1.SeiNodeTaskSpec) *v1alpha1.GovTx {
	switch {
	case spec.GovVote != nil:
		return &spec.GovVote.GovTx
	case spec.GovSoftwareUpgrade != nil:
		return &spec.GovSoftwareUpgrade.GovTx
	case spec.GovParamChange != nil:
		return &spec.GovParamChange.GovTx
	default:
		return nil
	}
}

// Proposes reports whether a task makes a proposal.
func Proposes(spec *v1alpha1.SeiNodeTaskSpec) bool {
	return spec.GovSoftwareUpgrade != nil || spec.GovParamChange != nil
}

// cannotSign refuses transactions for another chain, and nodes without an operator's key.
func cannotSign(spec *v1alpha1.SeiNodeTaskSpec, node *v1alpha1.SeiNode) string {
	tx := Transaction(spec)
	switch {
	case tx == nil:
		return fmt.Sprintf("the task has no payload for kind %s", spec.Kind)
	case tx.ChainID != node.Spec.ChainID:
		return fmt.Sprintf("the transaction is for chain %s, and SeiNode %s is on %s", tx.ChainID, node.Name, node.Spec.ChainID)
	case node.Spec.Validator == nil:
		return fmt.Sprintf("SeiNode %s has no keyring to sign with: only validators have one", node.Name)
	default:
		return ""
	}
}

// cannotStateSync refuses nodes whose data is worth more than a state sync gives back: what a
// validator signs with must not be on a volume that is emptied, and an archive's history would be
// lost. Replayers and seeds have no use for it.
func cannotStateSync(_ *v1alpha1.SeiNodeTaskSpec, node *v1alpha1.SeiNode) string {
	switch {
	case node.Spec.Signs():
		return fmt.Sprintf("SeiNode %s has a signing key: a task never deletes the data of such a node", node.Name)
	case node.Spec.FullNode == nil:
		return fmt.Sprintf("SeiNode %s is not a full node: an archive would lose its history, and other modes do not state-sync", node.Name)
	default:
		return ""
	}
}

// ofFleet refuses nodes whose spec a fleet writes: it would put the image back.
func ofFleet(_ *v1alpha1.SeiNodeTaskSpec, node *v1alpha1.SeiNode) string {
	fleet := FleetOf(node)
	if fleet == "" {
		return ""
	}
	return fmt.Sprintf("SeiNode %s belongs to SeiNodeDeployment %s, which would revert its image: change spec.template.spec.image there", node.Name, fleet)
}

// FleetOf is the name of the fleet that writes a node's spec; empty when there is none. A node that
// outlives its fleet has no owner reference, and says by an annotation whose it is.
func FleetOf(node *v1alpha1.SeiNode) string {
	if owner := metav1.GetControllerOfNoCopy(node); owner != nil {
		if owner.Kind == v1alpha1.KindSeiNodeDeployment {
			return owner.Name
		}
		return ""
	}
	if node.Annotations[v1alpha1.AnnotationDeploymentUID] == "" {
		return ""
	}
	return node.Labels[v1alpha1.LabelDeployment]
}
