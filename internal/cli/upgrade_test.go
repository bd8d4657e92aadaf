package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/cli/live"
)

// v7 is the upgrade that the chain of the tests has scheduled.
var v7 = seiv1.ScheduledUpgrade{Name: "v7", Height: 198765432, Type: seiv1.UpgradeMajor}

// upgrading has a node stand to v7 in a state, with an entry for it.
func upgrading(node *seiv1.SeiNode, state seiv1.UpgradeState) *seiv1.SeiNode {
	node.Spec.Upgrades = []seiv1.ChainUpgrade{{Name: "v7", Image: newImage}}
	node.Status.Upgrade = &seiv1.UpgradeStatus{Scheduled: &v7, Image: oldImage, State: state}
	setCondition(node, condition(seiv1.ConditionUpgradeScheduled, metav1.ConditionTrue, seiv1.ReasonImageKnown,
		"major upgrade v7 is scheduled for height 198765432, with image "+newImage))
	return node
}

// withoutEntry takes the entry for v7 away.
func withoutEntry(node *seiv1.SeiNode) *seiv1.SeiNode {
	node.Spec.Upgrades = nil
	setCondition(node, condition(seiv1.ConditionUpgradeScheduled, metav1.ConditionTrue, seiv1.ReasonNoEntry,
		"major upgrade v7 is scheduled for height 198765432; no entry of spec.upgrades names its image"))
	setCondition(node, condition(seiv1.ConditionUpgradeImageMissing, metav1.ConditionTrue, seiv1.ReasonNoEntry,
		"upgrade v7 is scheduled for height 198765432, and no entry of spec.upgrades names it: add an entry with this name and the image of its release, "+
			"or the node stops at that height"))
	return node
}

// unpulled has the image of v7 be one that cannot be pulled ahead.
func unpulled(node *seiv1.SeiNode) *seiv1.SeiNode {
	setCondition(node, condition(seiv1.ConditionUpgradeScheduled, metav1.ConditionTrue, seiv1.ReasonImagePullFailed,
		"major upgrade v7 is scheduled for height 198765432, with image "+newImage+"; it cannot be pulled ahead: not found"))
	return node
}

func setCondition(node *seiv1.SeiNode, c metav1.Condition) {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == c.Type {
			node.Status.Conditions[i] = c
			return
		}
	}
	node.Status.Conditions = append(node.Status.Conditions, c)
}

// ahead is what a sidecar answers to a scraper when its chain gets to an upgrade in a while.
func ahead(upgrade string, in time.Duration) string {
	return sidecarMetrics("inSync", 1200, 0, 24, 400e9) +
		fmt.Sprintf("# TYPE sei_node_upgrade_estimated_timestamp_seconds gauge\nsei_node_upgrade_estimated_timestamp_seconds{name=%q} %v\n",
			upgrade, float64(now.Add(in).Unix()))
}

// A fleet with v7 ahead, of which rpc-1 cannot pull the image and rpc-2 is not in sync and silent; a
// node without an entry, one that has taken the image early, one that has stopped for the upgrade, and
// one of a chain without any.
func upgradeAhead(t *testing.T) *plugin {
	t.Helper()
	fleet := aFleet()
	fleet.Status.NextUpgrade = &seiv1.NextUpgrade{ScheduledUpgrade: v7, Image: newImage}
	n0, n1, n2 := upgrading(member(0), seiv1.UpgradeScheduled), unpulled(upgrading(member(1), seiv1.UpgradeScheduled)), upgrading(member(2), seiv1.UpgradeScheduled)
	setCondition(n2, condition(seiv1.ConditionReady, metav1.ConditionFalse, "CatchingUp", "seid is not in sync: it catches up with its chain"))
	unnamed, early := withoutEntry(upgrading(aNode("unnamed"), seiv1.UpgradeScheduled)), upgrading(aNode("early"), seiv1.UpgradeMovedEarly)
	early.Status.Upgrade.Entry, early.Status.Upgrade.Image, early.Status.CurrentImage = "v7", newImage, newImage
	halted, quiet := upgrading(aNode("halted"), seiv1.UpgradeHalted), aNode("quiet")
	setCondition(halted, condition(seiv1.ConditionReady, metav1.ConditionFalse, "UpgradeNeeded", "seid has stopped for upgrade v7 at height 198765432"))
	quiet.Status.Upgrade = &seiv1.UpgradeStatus{Image: oldImage, State: seiv1.UpgradeUpToDate}
	p := newPlugin(t, fleet, n0, n1, n2, unnamed, early, halted, quiet,
		aPod(n0), aPod(n1), aPod(n2), aPod(unnamed), aPod(early), aPod(halted), aPod(quiet),
		aClaim(n0), aClaim(n1), aClaim(n2), aClaim(unnamed), aClaim(early), aClaim(halted), aClaim(quiet))
	p.cluster.Pods = podAnswers{
		"rpc-0-0 7777 /v0/metrics":   ahead("v7", 3*time.Hour+20*time.Minute),
		"rpc-1-0 7777 /v0/metrics":   ahead("v7", 3*time.Hour+18*time.Minute),
		"unnamed-0 7777 /v0/metrics": sidecarMetrics("inSync", 1200, 0, 24, 400e9),
		"early-0 7777 /v0/metrics":   ahead("v7", -time.Minute),
		"halted-0 7777 /v0/metrics":  ahead("v7", time.Minute),
		"quiet-0 7777 /v0/metrics":   ahead("v7", 3*time.Hour),
	}
	return p
}

func TestStatus_UpgradeAhead_IsInTheDetail(t *testing.T) {
	p := upgradeAhead(t)
	golden(t, "status-upgrade.txt", p.mustRun(t, "status"))
	golden(t, "status-upgrade-wide.txt", p.mustRun(t, "status", "-o", "wide"))
	golden(t, "status-upgrade-fleet.json", p.mustRun(t, "status", "fleet/rpc", "-o", "json"))
	golden(t, "status-upgrade-node.yaml", p.mustRun(t, "status", "unnamed", "-o", "yaml"))
}

func TestStatus_NoUpgradeAhead_SaysNothingOfOne(t *testing.T) {
	p := upgradeAhead(t)
	for _, args := range [][]string{{"status", "quiet"}, {"status", "quiet", "-o", "wide"}, {"why", "quiet"}, {"why", "quiet", "-o", "json"}} {
		if out := p.mustRun(t, args...); strings.Contains(strings.ToLower(out), "upgrade") {
			t.Errorf("%v:\n%s", args, out)
		}
	}
}

// A node that has stopped says so by itself, and its height is no longer ahead.
func TestStatus_NodeStoppedForTheUpgrade_FleetDoesNotAnnounceIt(t *testing.T) {
	fleet := aFleet()
	fleet.Status.NextUpgrade = &seiv1.NextUpgrade{ScheduledUpgrade: v7, Image: newImage}
	n0, n1 := upgrading(member(0), seiv1.UpgradeScheduled), upgrading(member(1), seiv1.UpgradeHalted)
	p := newPlugin(t, fleet, n0, n1, aPod(n0), aPod(n1))
	p.cluster.Pods = podAnswers{"rpc-0-0 7777 /v0/metrics": ahead("v7", time.Second)}
	for line := range strings.Lines(p.mustRun(t, "status")) {
		if announced := strings.Contains(line, "upgrade v7"); announced != strings.Contains(line, "node/rpc-0") {
			t.Errorf("of a fleet with a node that has stopped: %s", line)
		}
	}
}

func TestWhy_UpgradeAhead_SaysWhenAndWithWhichImage(t *testing.T) {
	p := upgradeAhead(t)
	golden(t, "why-upgrade.txt", p.mustRun(t, "why", "rpc-0"))
	golden(t, "why-upgrade.yaml", p.mustRun(t, "why", "rpc-0", "-o", "yaml"))
	golden(t, "why-upgrade-unpulled.txt", p.mustRun(t, "why", "rpc-1"))
	golden(t, "why-upgrade-silent.txt", p.mustRun(t, "why", "rpc-2"))
	golden(t, "why-upgrade-missing.txt", p.mustRun(t, "why", "unnamed"))
}

// A node without a pod is not asked.
func TestWhy_UpgradeAheadOfAPausedNode_SaysWhyNobodyKnowsWhen(t *testing.T) {
	node := upgrading(aNode("val"), seiv1.UpgradeScheduled)
	node.Spec.Paused = true
	p := newPlugin(t, node)
	if out := p.mustRun(t, "why", "val"); !strings.Contains(out, "estimated time not known: the node is paused\n") {
		t.Error(out)
	}
}

func TestUpgradeWords(t *testing.T) {
	scheduled := func() *seiv1.SeiNode { return upgrading(aNode("a"), seiv1.UpgradeScheduled) }
	in := func(d time.Duration) *live.Upgrade { return &live.Upgrade{Name: "v7", EstimatedTime: now.Add(d)} }
	other := scheduled()
	other.Status.Upgrade.Entry = "v6"
	minor := scheduled()
	minor.Status.Upgrade.Scheduled = &seiv1.ScheduledUpgrade{Name: "v7", Type: seiv1.UpgradeMinor}
	for name, c := range map[string]struct {
		node        *seiv1.SeiNode
		told        *live.Upgrade
		short, full string
	}{
		"in hours": {
			scheduled(), in(3 * time.Hour), "upgrade v7 at height 198765432 in about 3h, image known",
			"major upgrade v7 at height 198765432 in about 3h (2026-11-15T15:00:00Z), image " + newImage,
		},
		"in days, another entry in force": {
			other, in(50 * time.Hour), "upgrade v7 at height 198765432 in about 2d2h, image known",
			"major upgrade v7 at height 198765432 in about 2d2h (2026-11-17T14:00:00Z), image " + newImage,
		},
		"later than estimated": {
			scheduled(), in(-time.Minute), "upgrade v7 at height 198765432 about now, image known",
			"major upgrade v7 at height 198765432 about now (2026-11-15T11:59:00Z), image " + newImage,
		},
		"nobody tells when": {
			scheduled(), nil, "upgrade v7 at height 198765432, image known", "major upgrade v7 at height 198765432, image " + newImage,
		},
		"the node tells of another one": {
			scheduled(), &live.Upgrade{Name: "v8", EstimatedTime: now}, "upgrade v7 at height 198765432, image known",
			"major upgrade v7 at height 198765432, image " + newImage,
		},
		"a minor one at an unknown height": {minor, nil, "upgrade v7, image known", "minor upgrade v7, image " + newImage},
		"without an entry": {
			withoutEntry(scheduled()), nil, "upgrade v7 at height 198765432, image missing",
			"major upgrade v7 at height 198765432, image missing: no entry names it",
		},
		"an image that cannot be pulled": {
			unpulled(scheduled()), nil, "upgrade v7 at height 198765432, image cannot be pulled",
			"major upgrade v7 at height 198765432, image " + newImage + " cannot be pulled",
		},
		"stopped for it":    {upgrading(aNode("a"), seiv1.UpgradeHalted), in(time.Hour), "", ""},
		"moved":             {upgrading(aNode("a"), seiv1.UpgradeMoved), nil, "", ""},
		"failed":            {upgrading(aNode("a"), seiv1.UpgradeFailed), nil, "", ""},
		"nothing scheduled": {aNode("a"), in(time.Hour), "", ""},
	} {
		u := upgradeOf(c.node, c.told, now)
		if short, full := u.words(false), u.words(true); short != c.short || full != c.full {
			t.Errorf("%s: %q and %q, want %q and %q", name, short, full, c.short, c.full)
		}
		if u != nil && c.short == "" && u.EstimatedTime != nil {
			t.Errorf("%s: still to come at %s", name, u.EstimatedTime)
		}
	}
}
