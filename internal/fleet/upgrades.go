package fleet

import (
	"maps"
	"slices"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
)

// entryOf is the place of the entry for an upgrade; -1 when none names it.
func entryOf(spec *v1alpha1.SeiNodeSpec, upgrade string) int {
	if upgrade == "" {
		return -1
	}
	return slices.IndexFunc(spec.Upgrades, func(u v1alpha1.ChainUpgrade) bool { return u.Name == upgrade })
}

// imageNow is the image that a node would run now if spec were its own.
func imageNow(spec *v1alpha1.SeiNodeSpec, status *v1alpha1.UpgradeStatus) string {
	return node.EffectiveImage(node.UpgradeInput{Spec: spec, Before: status, InFleet: true}).Image
}

// changesImage reports whether a node would run another image if it had the spec that is wanted.
// image and upgrades are one thing: which of the two says what a node runs now depends on its
// volume. While the answer stays the same both reach it at once.
func (c Child) changesImage(live *v1alpha1.SeiNode) bool {
	return imageNow(c.Spec, live.Status.Upgrade) != imageNow(&live.Spec, live.Status.Upgrade)
}

// maxEntries is how many entries of upgrades the API server takes.
const maxEntries = 128

// withNewEntries are the upgrades of a node that may not move, with those entries of the template that
// it does not have: all that leave its image as it is, and the one that it has stopped for, since it
// is down already. An entry that the API server would refuse beside those of the node is left out.
func withNewEntries(live *v1alpha1.SeiNode, template []v1alpha1.ChainUpgrade) []v1alpha1.ChainUpgrade {
	spec := live.Spec.DeepCopy()
	for i := range template {
		entry := &template[i]
		if entryOf(spec, entry.Name) >= 0 {
			continue
		}
		with := *spec
		with.Upgrades = slices.Insert(slices.Clone(spec.Upgrades), placeOf(spec, template[i+1:]), *entry.DeepCopy())
		stays := imageNow(&with, live.Status.Upgrade) == imageNow(spec, live.Status.Upgrade)
		if takesUpgrades(&with) && (stays || haltedFor(live, entry.Name)) {
			spec = &with
		}
	}
	return spec.Upgrades
}

// placeOf is where an entry goes: before the first of those that follow it in the template, or last.
func placeOf(spec *v1alpha1.SeiNodeSpec, following []v1alpha1.ChainUpgrade) int {
	for i := range following {
		if at := entryOf(spec, following[i].Name); at >= 0 {
			return at
		}
	}
	return len(spec.Upgrades)
}

// takesUpgrades reports whether the API server takes the entries of a node: heights rise, and no image
// follows itself.
func takesUpgrades(spec *v1alpha1.SeiNodeSpec) bool {
	image, height := spec.Image, int64(0)
	for i := range spec.Upgrades {
		u := &spec.Upgrades[i]
		if u.Image == image || u.Height != 0 && u.Height <= height {
			return false
		}
		image, height = u.Image, max(height, u.Height)
	}
	return len(spec.Upgrades) <= maxEntries
}

// haltedFor reports whether a node has stopped for an upgrade.
func haltedFor(live *v1alpha1.SeiNode, upgrade string) bool {
	u := live.Status.Upgrade
	return u != nil && u.State == v1alpha1.UpgradeHalted && u.Scheduled != nil && u.Scheduled.Name == upgrade
}

// nextUpgrade is the upgrade that the chain has scheduled, as the nodes tell that are in sync: the
// others may report one that they have yet to catch up with. While none is, all are asked.
func nextUpgrade(members []Member) *v1alpha1.ScheduledUpgrade {
	for _, ask := range []func(*v1alpha1.SeiNode) bool{IsReady, func(*v1alpha1.SeiNode) bool { return true }} {
		var next *v1alpha1.ScheduledUpgrade
		asked := false
		for i := range members {
			live := members[i].own()
			if live == nil || !ask(live) {
				continue
			}
			asked = true
			if u := live.Status.Upgrade; u != nil && u.Scheduled != nil && (next == nil || u.Scheduled.Height > next.Height) {
				next = u.Scheduled
			}
		}
		if asked {
			return next
		}
	}
	return nil
}

// earlyUpgrade is the minor upgrade that the nodes of a fleet take before its height, one after the
// other; empty when there is none.
func earlyUpgrade(template *v1alpha1.SeiNodeSpec, next *v1alpha1.ScheduledUpgrade) string {
	if next == nil || next.Type != v1alpha1.UpgradeMinor {
		return ""
	}
	at := entryOf(template, next.Name)
	if at < 0 || template.Upgrades[at].Type == v1alpha1.UpgradeMajor {
		return ""
	}
	return next.Name
}

// takingEarly is the node with the permission to take an upgrade before its height.
func (c Child) takingEarly(upgrade string) Child {
	if upgrade == "" {
		return c
	}
	c.Annotations = maps.Clone(c.Annotations)
	c.Annotations[v1alpha1.AnnotationMinorUpgrade] = upgrade
	return c
}

// waitsForEarly reports whether a node still has to be allowed to take an upgrade early.
func (c Child) waitsForEarly(live *v1alpha1.SeiNode) bool {
	upgrade := c.Annotations[v1alpha1.AnnotationMinorUpgrade]
	u := live.Status.Upgrade
	return upgrade != "" && live.Annotations[v1alpha1.AnnotationMinorUpgrade] != upgrade && (u == nil || u.Entry != upgrade)
}
