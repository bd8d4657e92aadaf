package render

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// Input is everything an object may depend on.
type Input struct {
	// Node is the SeiNode to render.
	Node *v1alpha1.SeiNode
	// Image is the seid image that the node should run now. Empty means spec.image.
	Image string
	// Platform is the operator's configuration.
	Platform *platform.Config
	// SidecarSubjects are the token subjects the sidecar listens to, for example
	// system:serviceaccount:sei-operator-system:sei-operator.
	SidecarSubjects []string
	// OperatorNamespace is where the operator runs.
	OperatorNamespace string
}

// role is the node's role, which also picks the platform's defaults.
func (in Input) role() string { return in.Node.Spec.Role() }

// seidImage is the image in force.
func (in Input) seidImage() string { return cmp.Or(in.Image, in.Node.Spec.Image) }

// sidecarImage is the node's own choice, else the platform's.
func (in Input) sidecarImage() string {
	var own string
	if in.Node.Spec.Sidecar != nil {
		own = in.Node.Spec.Sidecar.Image
	}
	return cmp.Or(own, in.Platform.Images.Sidecar)
}

// SidecarPort is the port the node's sidecar listens on.
func SidecarPort(node *v1alpha1.SeiNode) int32 {
	if node.Spec.Sidecar == nil {
		return seid.PortSidecar
	}
	return cmp.Or(node.Spec.Sidecar.Port, seid.PortSidecar)
}

func (in Input) seidResources() corev1.ResourceRequirements {
	if own := in.Node.Spec.Resources; own != nil {
		return *own
	}
	return in.Platform.ResourcesFor(in.role())
}

func (in Input) sidecarResources() corev1.ResourceRequirements {
	if own := in.Node.Spec.Sidecar; own != nil && own.Resources != nil {
		return *own.Resources
	}
	return in.Platform.SidecarResources()
}

// modeOf is the profile seid runs with; empty for a mode that is not known, which nothing is
// rendered for.
func modeOf(node *v1alpha1.SeiNode) seid.Mode {
	mode, _ := domain.ModeOf(&node.Spec)
	return mode.Seid
}
