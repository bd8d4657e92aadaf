package events_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
)

// upgrading is a node at a state of an upgrade, with what is applied.
func upgrading(state seiv1.UpgradeState, name string, height int64, applied string) *seiv1.SeiNode {
	n := &seiv1.SeiNode{}
	n.Status.Phase = seiv1.NodeRunning
	n.Status.Upgrade = &seiv1.UpgradeStatus{State: state}
	if name != "" {
		n.Status.Upgrade.Scheduled = &seiv1.ScheduledUpgrade{Name: name, Height: height, Type: seiv1.UpgradeMajor}
	}
	if applied != "" {
		n.Status.Upgrade.Applied = &seiv1.AppliedUpgrade{Name: applied}
	}
	return n
}

func TestForNode_Upgrades_EachTransitionOnce(t *testing.T) {
	nothing := state(seiv1.NodeRunning)
	for name, c := range map[string]struct {
		before, after *seiv1.SeiNode
		want          []events.Reason
	}{
		"first look":               {nothing, upgrading(seiv1.UpgradeUpToDate, "", 0, "v6"), nil},
		"a plan appears":           {upgrading(seiv1.UpgradeUpToDate, "", 0, "v6"), upgrading(seiv1.UpgradeScheduled, "v7", 9, "v6"), []events.Reason{events.UpgradeScheduled}},
		"a plan at the first look": {nothing, upgrading(seiv1.UpgradeScheduled, "v7", 9, "v6"), []events.Reason{events.UpgradeScheduled}},
		"a plan stays":             {upgrading(seiv1.UpgradeScheduled, "v7", 9, "v6"), upgrading(seiv1.UpgradeScheduled, "v7", 9, "v6"), nil},
		"to another height":        {upgrading(seiv1.UpgradeScheduled, "v7", 9, "v6"), upgrading(seiv1.UpgradeScheduled, "v7", 10, "v6"), []events.Reason{events.UpgradeScheduled}},
		"cancelled":                {upgrading(seiv1.UpgradeScheduled, "v7", 9, "v6"), upgrading(seiv1.UpgradeUpToDate, "", 0, "v6"), []events.Reason{events.UpgradeCancelled}},
		"halted":                   {upgrading(seiv1.UpgradeScheduled, "v7", 9, "v6"), upgrading(seiv1.UpgradeHalted, "v7", 9, "v6"), []events.Reason{events.UpgradeHalted}},
		"halted unannounced":       {upgrading(seiv1.UpgradeUpToDate, "", 0, "v6"), upgrading(seiv1.UpgradeHalted, "v7", 9, "v6"), []events.Reason{events.UpgradeHalted}},
		"moved":                    {upgrading(seiv1.UpgradeHalted, "v7", 9, "v6"), upgrading(seiv1.UpgradeMoved, "v7", 9, "v6"), nil},
		"applied":                  {upgrading(seiv1.UpgradeMoved, "v7", 9, "v6"), upgrading(seiv1.UpgradeUpToDate, "", 0, "v7"), []events.Reason{events.UpgradeApplied}},
		"applied, the next ahead":  {upgrading(seiv1.UpgradeMoved, "v7", 9, "v6"), upgrading(seiv1.UpgradeScheduled, "v8", 20, "v7"), []events.Reason{events.UpgradeApplied, events.UpgradeScheduled}},
		"a minor one, unnoticed":   {upgrading(seiv1.UpgradeMovedEarly, "v7", 9, "v6"), upgrading(seiv1.UpgradeUpToDate, "", 0, "v7"), []events.Reason{events.UpgradeApplied}},
	} {
		if diff := cmp.Diff(c.want, reasons(events.ForNode(c.before, c.after))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
