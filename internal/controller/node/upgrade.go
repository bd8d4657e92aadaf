package node

import (
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/render"
)

// chooseImage settles which image the node runs, before anything is rendered.
func (s *scope) chooseImage() {
	in := s.upgradeInput()
	in.Hold = s.upgradeHold()
	s.upgrade = domain.EffectiveImage(in)
	s.input.Image = s.upgrade.Image
}

// upgradeInput is all that the image depends on, but what holds a halted node.
func (s *scope) upgradeInput() domain.UpgradeInput {
	in := domain.UpgradeInput{
		Spec: &s.node.Spec, Document: s.document, Before: s.node.Status.Upgrade, Bootstrapped: s.node.Status.Bootstrapped,
		InFleet: operation.FleetOf(s.node) != "", Early: s.node.Annotations[v1alpha1.AnnotationMinorUpgrade],
	}
	if sts := s.observed.StatefulSet; sts != nil && sts.DeletionTimestamp == nil {
		in.Running = render.SeidImage(sts.Spec.Template.Spec)
	}
	return in
}

// upgradeHold is why the node may not move yet although seid has stopped for an upgrade; empty when
// it may.
func (s *scope) upgradeHold() string {
	s.snapshotDecision = domain.DecideSnapshot(s.volumeSnapshot, s.input.Platform.VolumeSnapshots.Timeout.Duration, s.now)
	s.comeBackIn(s.snapshotDecision.RecheckAfter)
	return s.snapshotDecision.Hold
}

// upgradeEstimated is about when the chain gets to the upgrade that is ahead; nil when nobody has told.
func (s *scope) upgradeEstimated() *time.Time {
	if s.document == nil || s.document.Upgrades == nil {
		return nil
	}
	return s.document.Upgrades.EstimatedTime
}
