package node

import (
	"slices"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// inForce is the entry that the state on the volume needs; nil means spec.image.
func inForce(in *UpgradeInput, v *volume) *v1alpha1.ChainUpgrade {
	for _, a := range v.applied {
		if entry := find(in.Spec, a.Name); entry != nil {
			return entry
		}
	}
	if v.known {
		return nil
	}
	if entry, certain := fromFirstState(in, v); certain {
		return entry
	}
	return unlessTooEarly(in, v, lastKnown(in))
}

// fromFirstState is the entry for a state that seid has not run on, by its height. false: seid has
// run on it, or its height is unknown.
func fromFirstState(in *UpgradeInput, v *volume) (*v1alpha1.ChainUpgrade, bool) {
	source := in.Spec.Snapshot()
	switch {
	case !v.renewed:
		return nil, false
	case source == nil:
		return nil, true // it starts from genesis
	case source.S3 != nil && len(in.Document.Snapshots) > 0:
		return byHeight(in.Spec, in.Document.Snapshots[0].Height), true
	case source.S3 != nil:
		return nil, true // nothing is restored yet
	default:
		return nil, false // state sync leads to where the chain is
	}
}

// byHeight is the last entry that a state of this height has behind it. The block at an upgrade's
// height is the first that needs it.
func byHeight(spec *v1alpha1.SeiNodeSpec, height int64) *v1alpha1.ChainUpgrade {
	var last *v1alpha1.ChainUpgrade
	for i := range spec.Upgrades {
		if u := &spec.Upgrades[i]; u.Height > 0 && u.Height <= height {
			last = u
		}
	}
	return last
}

// lastKnown is the entry that the node was given last. Without one, the image that it was given or
// runs is kept if it is listed: what is unknown starts nothing.
func lastKnown(in *UpgradeInput) *v1alpha1.ChainUpgrade {
	images := []string{in.Running}
	if before := in.Before; before != nil {
		if entry := find(in.Spec, before.Entry); entry != nil {
			return entry
		}
		images = []string{before.Image, in.Running}
	}
	for _, image := range images {
		if image == in.Spec.Image {
			break
		}
		if entry := withImage(in.Spec, image); entry != nil {
			return entry
		}
	}
	if source := in.Spec.Snapshot(); in.Bootstrapped && source != nil && source.S3 != nil {
		return byHeight(in.Spec, source.S3.TargetHeight) // it is there, or further
	}
	return nil
}

// withImage is the last entry with an image; nil when there is none.
func withImage(spec *v1alpha1.SeiNodeSpec, image string) *v1alpha1.ChainUpgrade {
	for i := range slices.Backward(spec.Upgrades) {
		if spec.Upgrades[i].Image == image {
			return &spec.Upgrades[i]
		}
	}
	return nil
}

// unlessTooEarly goes one entry back when seid has said that the one which was guessed is not due.
func unlessTooEarly(in *UpgradeInput, v *volume, guess *v1alpha1.ChainUpgrade) *v1alpha1.ChainUpgrade {
	if guess == nil || !v.tooEarly(guess.Name) {
		return guess
	}
	i := slices.IndexFunc(in.Spec.Upgrades, func(u v1alpha1.ChainUpgrade) bool { return u.Name == guess.Name })
	if i == 0 {
		return nil
	}
	return &in.Spec.Upgrades[i-1]
}
