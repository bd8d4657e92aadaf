package render

import (
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// The node's StatefulSet and headless Service carry the node's own name.

// PodName is the name of the node's pod, and the host name of the bootstrap
// Job's pod, so that peers find both under one address.
func PodName(node *v1alpha1.SeiNode) string { return node.Name + "-0" }

// ClaimName is the claim the node lives on: the imported one, or the operator's.
func ClaimName(node *v1alpha1.SeiNode) string {
	if imported := node.Spec.ImportedClaim(); imported != "" {
		return imported
	}
	return "data-" + node.Name
}

// BootstrapJobName is the name of the node's bootstrap Job.
func BootstrapJobName(node *v1alpha1.SeiNode) string { return node.Name + "-bootstrap" }

// P2PHost is the DNS name peers inside the cluster reach the node at. It is the
// pod's name, not the Service's: an address names one peer.
func P2PHost(node *v1alpha1.SeiNode, clusterDomain string) string {
	return fmt.Sprintf("%s.%s.%s.svc.%s", PodName(node), node.Name, node.Namespace, clusterDomain)
}
