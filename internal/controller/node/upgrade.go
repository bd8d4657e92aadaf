package node

import (
	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/operation"
)

// chooseImage settles which image the node runs, before anything is rendered.
func (s *scope) chooseImage() {
	in := domain.UpgradeInput{
		Spec: &s.node.Spec, Document: s.document, Before: s.node.Status.Upgrade, Bootstrapped: s.facts.Bootstrapped,
		InFleet: operation.FleetOf(s.node) != "", Early: s.node.Annotations[v1alpha1.AnnotationMinorUpgrade], Hold: s.upgradeHold(),
	}
	if s.facts.StatefulSet != nil {
		in.Running = s.facts.StatefulSet.Image
	}
	s.upgrade = domain.EffectiveImage(in)
	s.input.Image = s.upgrade.Image
}

// upgradeHold is why the node may not move yet although seid has stopped for an upgrade; empty when
// it may.
func (s *scope) upgradeHold() string { return "" }
