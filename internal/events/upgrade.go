package events

import (
	"strings"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// upgradeEvents lists what has become of the chain's upgrades on a node.
func upgradeEvents(before, after *seiv1.SeiNode) []Event {
	was, is := upgradeOf(before), upgradeOf(after)
	var list []Event
	add := func(e Event) { list = append(list, e) }
	newlyApplied := is.Applied != nil && was.State != "" && (was.Applied == nil || was.Applied.Name != is.Applied.Name)
	switch {
	case newlyApplied:
		add(New(UpgradeApplied, "upgrade %s is applied; the node runs %s", is.Applied.Name, is.Image))
	case was.Scheduled != nil && is.Scheduled == nil:
		add(New(UpgradeCancelled, "upgrade %s is no longer scheduled", was.Scheduled.Name))
	}
	if s := is.Scheduled; s != nil {
		changed := was.Scheduled == nil || was.Scheduled.Name != s.Name || was.Scheduled.Height != s.Height
		switch {
		case halted(is.State) && (!halted(was.State) || was.Scheduled.Name != s.Name):
			add(New(UpgradeHalted, "seid has stopped for upgrade %s at height %d", s.Name, s.Height).About(Pod(after)))
		case changed && !halted(is.State):
			add(New(UpgradeScheduled, "%s upgrade %s is scheduled for height %d", strings.ToLower(string(s.Type)), s.Name, s.Height))
		}
	}
	return list
}

func upgradeOf(node *seiv1.SeiNode) seiv1.UpgradeStatus {
	if node.Status.Upgrade == nil {
		return seiv1.UpgradeStatus{}
	}
	return *node.Status.Upgrade
}

// halted reports whether seid has stopped for the upgrade.
func halted(state seiv1.UpgradeState) bool {
	return state == seiv1.UpgradeHalted || state == seiv1.UpgradeMoved || state == seiv1.UpgradeFailed
}
