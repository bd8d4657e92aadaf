package fleet

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// AllowEarly has the members ask for the permission to take a minor upgrade that is scheduled before
// its height. The permission reaches a node like a change of the template: within the budget. One
// that does not report the upgrade yet does not ask: it would look settled until it does, and then
// go down beside the next.
func AllowEarly(template *v1alpha1.SeiNodeSpec, members []Member) {
	upgrade := earlyUpgrade(template, nextUpgrade(members))
	for i := range members {
		if live := members[i].own(); live != nil && tellsOf(live, upgrade) {
			members[i].Target = members[i].Target.takingEarly(upgrade)
		}
	}
}

// tellsOf reports whether a node has seen an upgrade, or may take it already.
func tellsOf(live *v1alpha1.SeiNode, upgrade string) bool {
	u := live.Status.Upgrade
	return u != nil && u.Scheduled != nil && u.Scheduled.Name == upgrade || live.Annotations[v1alpha1.AnnotationMinorUpgrade] == upgrade
}

// upgradeUnderWay is the upgrade of the chain that the fleet goes through; nil when there is none.
// It begins with the first node that stops for it, or that may take it early, and a node that
// comes late still has it to take. A node that has never been in sync takes no part: it may have
// upgrades of years to walk through.
func upgradeUnderWay(o *Observation) *v1alpha1.ScheduledUpgrade {
	var found *v1alpha1.ScheduledUpgrade
	if r := o.Fleet.Status.Rollout; r != nil && r.Upgrade != nil {
		found = &v1alpha1.ScheduledUpgrade{Name: r.Upgrade.Name, Height: r.Upgrade.Height}
	}
	for i := range o.Members {
		live := o.Members[i].own()
		if live == nil || live.Status.Upgrade == nil || firstSync(o.Fleet, live) {
			continue
		}
		u := live.Status.Upgrade
		if isUnderWay(u, &o.Members[i].Target) && (found == nil || u.Scheduled.Height > found.Height) && !beyond(o.Members, u.Scheduled.Height) {
			found = u.Scheduled
		}
	}
	return found
}

// isUnderWay reports whether a node has stopped for an upgrade and is not past it yet, or takes it
// early.
func isUnderWay(u *v1alpha1.UpgradeStatus, target *Child) bool {
	switch {
	case u.Scheduled == nil:
		return false
	case u.State == v1alpha1.UpgradeScheduled:
		return target.Annotations[v1alpha1.AnnotationMinorUpgrade] == u.Scheduled.Name
	default:
		return u.State == v1alpha1.UpgradeHalted || u.State == v1alpha1.UpgradeMoved || u.State == v1alpha1.UpgradeFailed
	}
}

// beyond reports whether a node in sync has applied a later upgrade: the chain is past this one.
func beyond(members []Member, height int64) bool {
	return slices.ContainsFunc(members, func(m Member) bool {
		live := m.own()
		if live == nil || !IsReady(live) || live.Status.Upgrade == nil {
			return false
		}
		applied := live.Status.Upgrade.Applied
		return applied != nil && height != 0 && applied.Height > height
	})
}

// firstSync reports whether a node has never been in sync.
func firstSync(snd *v1alpha1.SeiNodeDeployment, live *v1alpha1.SeiNode) bool {
	return !IsReady(live) && !slices.ContainsFunc(snd.Status.Nodes, func(n v1alpha1.FleetNode) bool { return n.Name == live.Name && n.Synced })
}

// behindUpgrade reports whether a node still has to take an upgrade, as far as it tells.
func behindUpgrade(live *v1alpha1.SeiNode, upgrade string) bool {
	u := live.Status.Upgrade
	if u == nil || u.Scheduled == nil || u.Scheduled.Name != upgrade {
		return false
	}
	switch u.State {
	case v1alpha1.UpgradeScheduled, v1alpha1.UpgradeHalted, v1alpha1.UpgradeFailed:
		return true
	default:
		return false
	}
}

// hasTaken reports whether a node that is not behind has taken an upgrade. One that is ready may not
// have seen it yet. Of nodes whose sidecars do not report upgrades nothing else is known.
func hasTaken(live *v1alpha1.SeiNode, upgrade *v1alpha1.ScheduledUpgrade) bool {
	u := live.Status.Upgrade
	if u == nil {
		return IsReady(live) && !conditions.Is(live.Status.Conditions, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionFalse, "")
	}
	applied := u.Applied
	return u.Entry == upgrade.Name || applied != nil && (applied.Name == upgrade.Name || upgrade.Height != 0 && applied.Height >= upgrade.Height)
}

// upgradeProgress counts how far the nodes have come with an upgrade; nil when there is none.
func upgradeProgress(upgrade *v1alpha1.ScheduledUpgrade, members []Member, nodes []Node) *v1alpha1.UpgradeRollout {
	if upgrade == nil {
		return nil
	}
	p := &v1alpha1.UpgradeRollout{Name: upgrade.Name, Height: upgrade.Height}
	for i := range members {
		live := members[i].own()
		if live == nil || nodes[i].FirstSync {
			continue
		}
		u := live.Status.Upgrade
		behind := behindUpgrade(live, upgrade.Name)
		switch {
		case behind && u.State == v1alpha1.UpgradeHalted:
			p.Halted++
		case !behind && hasTaken(live, upgrade), behind && u.State == v1alpha1.UpgradeFailed:
			p.Moved++
			if nodes[i].Ready {
				p.Producing++
			}
		}
	}
	return p
}

// upgradeMessage says how far an upgrade is.
func upgradeMessage(r *v1alpha1.RolloutStatus) string {
	u := r.Upgrade
	text := "chain upgrade " + u.Name
	if u.Height != 0 {
		text += fmt.Sprintf(" at height %d", u.Height)
	}
	return fmt.Sprintf("%s: of %d nodes %d are halted, %d moved and %d of those in sync; waiting on %s",
		text, r.Total, u.Halted, u.Moved, u.Producing, r.WaitingOn)
}
