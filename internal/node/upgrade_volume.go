package node

import (
	"slices"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// volume is what is known of the upgrades of the state on a node's volume: what its sidecar tells, or
// else what was known before. While nobody answers nothing changes there.
type volume struct {
	// told: a sidecar has told what is scheduled and what is applied.
	told bool
	// known: applied is complete.
	known bool
	// renewed: seid has not run on what is on the volume, so nothing that was known before holds.
	renewed bool
	applied []api.AppliedUpgrade
	// plan is the upgrade that is ahead; nil when there is none.
	plan *api.Upgrade
	// needed is the upgrade that seid has stopped for; nil when it has not.
	needed  *api.Upgrade
	refusal *api.UpgradeRefusal
}

func volumeOf(in *UpgradeInput) *volume {
	d := in.Document
	if d == nil || d.APILevel < api.LevelNode {
		return remembered(in.Before)
	}
	v := &volume{renewed: d.Home.Stage == api.HomeEmpty || d.Home.Stage == api.HomePrepared, plan: d.Upgrade}
	if d.Upgrades == nil { // an older sidecar
		if d.Sync.State == api.SyncUpgradeNeeded {
			v.needed = d.Upgrade
		}
		return v.settled()
	}
	u := d.Upgrades
	v.told, v.known, v.applied, v.needed, v.refusal = true, u.Known, u.Applied, u.Needed, u.Refusal
	return v.settled()
}

// settled leaves what is applied out of what is ahead.
func (v *volume) settled() *volume {
	if v.plan != nil && v.has(v.plan.Name) {
		v.plan = nil
	}
	if v.needed != nil && v.has(v.needed.Name) {
		v.needed = nil
	}
	return v
}

// remembered is the volume as the last pass that saw it has left it.
func remembered(before *v1alpha1.UpgradeStatus) *volume {
	v := &volume{}
	if before == nil {
		return v
	}
	if before.Applied != nil {
		v.applied = []api.AppliedUpgrade{{Name: before.Applied.Name, Height: before.Applied.Height}}
	}
	if s := before.Scheduled; s != nil {
		ahead := &api.Upgrade{Name: s.Name, Height: s.Height, Minor: s.Type == v1alpha1.UpgradeMinor}
		if isHalted(before.State) {
			v.needed = ahead
		} else {
			v.plan = ahead
		}
	}
	return v
}

// isHalted reports whether seid has stopped for the upgrade that is scheduled.
func isHalted(state v1alpha1.UpgradeState) bool {
	return state == v1alpha1.UpgradeHalted || state == v1alpha1.UpgradeMoved || state == v1alpha1.UpgradeFailed
}

func (v *volume) has(name string) bool {
	return slices.ContainsFunc(v.applied, func(a api.AppliedUpgrade) bool { return a.Name == name })
}

// tooEarly reports whether the binary in the pod has said that this upgrade is not due yet.
func (v *volume) tooEarly(name string) bool {
	return v.refusal != nil && v.refusal.Kind == api.RefusedTooEarly && v.refusal.Name == name
}

// lacks is the applied upgrade that the binary in the pod does not have; empty when it has all.
func (v *volume) lacks() string {
	if v.refusal == nil || v.refusal.Kind != api.RefusedHandlerMissing {
		return ""
	}
	return v.refusal.Name
}

func (v *volume) newest() *v1alpha1.AppliedUpgrade {
	if len(v.applied) == 0 {
		return nil
	}
	return &v1alpha1.AppliedUpgrade{Name: v.applied[0].Name, Height: v.applied[0].Height}
}

func (v *volume) scheduled() *v1alpha1.ScheduledUpgrade {
	ahead := v.plan
	if v.needed != nil {
		ahead = v.needed
	}
	if ahead == nil {
		return nil
	}
	s := &v1alpha1.ScheduledUpgrade{Name: ahead.Name, Height: ahead.Height, Type: v1alpha1.UpgradeMajor}
	if ahead.Minor {
		s.Type = v1alpha1.UpgradeMinor
	}
	return s
}
