package render

import (
	"strings"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
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

// CertificateName is the Secret with the certificate of the node's sidecar.
func CertificateName(node *v1alpha1.SeiNode) string { return node.Name + certificateSuffix }

const certificateSuffix = "-sidecar-tls"

// NodeOfCertificate is the name of the node that a Secret has the certificate of, by its own name;
// empty if it cannot be one.
func NodeOfCertificate(secret string) string {
	name, ok := strings.CutSuffix(secret, certificateSuffix)
	if !ok {
		return ""
	}
	return name
}

// P2PHost is the DNS name peers inside the cluster reach the node at.
func P2PHost(node *v1alpha1.SeiNode, clusterDomain string) string {
	return api.PodHost(node.Namespace, node.Name) + "." + clusterDomain
}
