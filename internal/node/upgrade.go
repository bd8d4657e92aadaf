package node

import (
	"slices"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// UpgradeInput is all that the image of a node may depend on.
type UpgradeInput struct {
	Spec *v1alpha1.SeiNodeSpec
	// Document is what the sidecar told; nil when nobody answered.
	Document *api.Node
	// Before is what the pass before came to; nil when there was none.
	Before *v1alpha1.UpgradeStatus
	// Bootstrapped: the bootstrap Job has reached its height.
	Bootstrapped bool
	// Running is the image that the next pod would be made from; empty when nothing makes pods.
	Running string
	// InFleet: a fleet says when the node may take a minor upgrade early, and Early which one.
	InFleet bool
	Early   string
	// Hold is why the node may not move at a halt yet; empty when it may.
	Hold string
}

// UpgradeChoice is the image that a node should run now, and its state with regard to upgrades of its chain.
type UpgradeChoice struct {
	// Image is spec.image, or that of the entry of spec.upgrades with the name Entry.
	Image, Entry string
	// Because says why the image is that of an upgrade, for people; empty when it is in force already.
	Because string
	// Applied is the newest upgrade that is known to be applied; nil when none is.
	Applied *v1alpha1.AppliedUpgrade
	// Scheduled is the upgrade that is ahead, or that seid has stopped for; nil when there is none.
	Scheduled *v1alpha1.ScheduledUpgrade
	// Halted: seid has stopped for it.
	Halted bool
	// Early: the image is that of a minor upgrade that is not due yet.
	Early bool
	// Missing is an upgrade that no entry names although it is ahead, or needed; empty when there is none.
	Missing string
	// Refusal is how the binary in the pod has refused the state; nil when it has not.
	Refusal *api.UpgradeRefusal
	// Unknown: nobody has told yet what is scheduled and applied.
	Unknown bool
	// Hold is why the node does not move although seid has stopped; empty when it moves.
	Hold string
}

// EffectiveImage decides which image a node runs: that of the newest applied upgrade that has an entry,
// that of the upgrade which seid has stopped for, or that of a minor upgrade which is scheduled. The
// image of a major upgrade is never taken before seid has stopped for it, and never given up after it
// was applied. The chain decides which upgrade that is; the order of the entries does not.
func EffectiveImage(in UpgradeInput) UpgradeChoice {
	v := volumeOf(&in)
	entry := inForce(&in, v)
	c := UpgradeChoice{Applied: v.newest(), Scheduled: v.scheduled(), Halted: v.needed != nil, Refusal: v.refusal, Unknown: !v.told}
	switch {
	case v.needed != nil:
		entry = c.halt(&in, v, entry)
	case v.plan != nil || keptEarly(&in, v) != nil:
		entry = c.ahead(&in, v, entry)
	}
	if c.Missing == "" && v.lacks() != "" && find(in.Spec, v.lacks()) == nil {
		c.Missing = v.lacks()
	}
	c.Image = in.Spec.Image
	if entry != nil {
		c.Image, c.Entry = entry.Image, entry.Name
	}
	return c
}

// halt is the entry of a node whose seid has stopped for an upgrade.
func (c *UpgradeChoice) halt(in *UpgradeInput, v *volume, current *v1alpha1.ChainUpgrade) *v1alpha1.ChainUpgrade {
	next := find(in.Spec, v.needed.Name)
	switch {
	case next == nil:
		c.Missing = v.needed.Name
		return current
	case in.Hold != "" && (current == nil || current.Name != next.Name):
		c.Hold = in.Hold
		return current
	}
	c.Because = "seid has stopped for upgrade " + next.Name
	return next
}

// ahead is the entry of a node whose chain has an upgrade ahead.
func (c *UpgradeChoice) ahead(in *UpgradeInput, v *volume, current *v1alpha1.ChainUpgrade) *v1alpha1.ChainUpgrade {
	var next *v1alpha1.ChainUpgrade
	if v.plan != nil {
		if next = find(in.Spec, v.plan.Name); next == nil {
			c.Missing = v.plan.Name
		}
	}
	if kept := keptEarly(in, v); kept != nil {
		c.Early = true
		return kept
	}
	if next == nil || !mayGoEarly(in, v, next) {
		return current
	}
	c.Early, c.Because = true, "minor upgrade "+next.Name+" is scheduled and may run before its height"
	return next
}

// mayGoEarly reports whether the image of a scheduled upgrade may run now. The chain has the last
// word: a binary that has a major upgrade refuses to run before its height.
func mayGoEarly(in *UpgradeInput, v *volume, entry *v1alpha1.ChainUpgrade) bool {
	return v.told && v.plan.Minor && entry.Type != v1alpha1.UpgradeMajor && !v.tooEarly(entry.Name) && (!in.InFleet || in.Early == entry.Name)
}

// keptEarly is the entry of a minor upgrade that the node has taken early. It stays when the plan is
// cancelled or the fleet withdraws its leave: going back would be a restart for nothing.
func keptEarly(in *UpgradeInput, v *volume) *v1alpha1.ChainUpgrade {
	before := in.Before
	if before == nil || before.State != v1alpha1.UpgradeMovedEarly || v.has(before.Entry) || v.tooEarly(before.Entry) || v.renewed {
		return nil
	}
	return find(in.Spec, before.Entry)
}

// find is the entry for an upgrade; nil when there is none.
func find(spec *v1alpha1.SeiNodeSpec, name string) *v1alpha1.ChainUpgrade {
	i := slices.IndexFunc(spec.Upgrades, func(u v1alpha1.ChainUpgrade) bool { return u.Name == name })
	if i < 0 {
		return nil
	}
	return &spec.Upgrades[i]
}

// ScheduledImage is the image that a node will move to when its chain's next upgrade is due; empty
// when none is ahead, no entry names it, or the node has its image already.
func ScheduledImage(spec *v1alpha1.SeiNodeSpec, status *v1alpha1.UpgradeStatus) string {
	if status == nil || status.Scheduled == nil || status.Entry == status.Scheduled.Name {
		return ""
	}
	if entry := find(spec, status.Scheduled.Name); entry != nil {
		return entry.Image
	}
	return ""
}

// ImageInForce is the field of the spec that the node's image comes from now.
func ImageInForce(n *v1alpha1.SeiNode) *string {
	if status := n.Status.Upgrade; status != nil {
		if entry := find(&n.Spec, status.Entry); entry != nil {
			return &entry.Image
		}
	}
	return &n.Spec.Image
}
