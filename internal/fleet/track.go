package fleet

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Track is the rollout after a look at the nodes; nil when there is none. It begins when
// the template is no longer what the nodes were last brought to, when a node's spec
// differs from it, or when the chain is upgraded, continues until every node is done, and starts over
// when the template changes in between, or another upgrade begins. Nodes that a partition holds
// back take no part in what the template asks for.
func Track(before *v1alpha1.RolloutStatus, broughtTo string, goal Goal, nodes []Node, now time.Time) *v1alpha1.RolloutStatus {
	done, total := int32(0), int32(0)
	behind := broughtTo != "" && broughtTo != goal.TargetHash || goal.Upgrade != nil
	for _, n := range nodes {
		if !goal.concerns(n) {
			continue
		}
		total++
		if n.Done() {
			done++
		}
		behind = behind || !n.Current
	}
	if before == nil && !behind || done == total {
		return nil
	}
	at := metav1.NewTime(now.Truncate(time.Second))
	after, goesOn := &v1alpha1.RolloutStatus{TargetHash: goal.TargetHash, StartedAt: at}, goal.is(before)
	if goesOn {
		after = Resume(before, now)
		after.MostUpdated = max(after.MostUpdated, before.Updated)
		if total < before.Total {
			// Nodes that were done are gone: what the others do from now on is progress.
			after.MostUpdated = min(after.MostUpdated, done)
		}
	}
	if done > after.MostUpdated {
		after.MostUpdated = done
		if goesOn {
			after.ProgressedAt, after.PausedFor = &at, nil
		}
	}
	after.Reason, after.Upgrade = goal.reason(), goal.Upgrade
	after.Updated, after.Total, after.WaitingOn = done, total, WaitingOn(nodes)
	return after
}

// Goal is what a rollout leads to.
type Goal struct {
	// TargetHash identifies the template.
	TargetHash string
	// Upgrade is the upgrade of the chain that is under way, and how far it is; nil when there is none.
	Upgrade *v1alpha1.UpgradeRollout
}

func (g Goal) reason() v1alpha1.RolloutReason {
	if g.Upgrade != nil {
		return v1alpha1.RolloutChainUpgrade
	}
	return v1alpha1.RolloutTemplateChanged
}

// is reports whether a rollout has this goal. One that continues after its upgrade has begun with it.
func (g Goal) is(r *v1alpha1.RolloutStatus) bool {
	return r != nil && r.TargetHash == g.TargetHash && (g.Upgrade == nil || r.Upgrade != nil && r.Upgrade.Name == g.Upgrade.Name)
}

// concerns reports whether a node takes part.
func (g Goal) concerns(n Node) bool {
	if g.Upgrade == nil {
		return !n.Held
	}
	return n.Upgrading || !n.Held && (!n.FirstSync || !n.Current)
}

// Pause stops the clock of a rollout.
func Pause(r *v1alpha1.RolloutStatus, now time.Time) *v1alpha1.RolloutStatus {
	if r == nil || r.PausedAt != nil {
		return r
	}
	r = r.DeepCopy()
	r.PausedAt = new(metav1.NewTime(now.Truncate(time.Second)))
	return r
}

// Resume lets the clock of a rollout continue where it was stopped.
func Resume(r *v1alpha1.RolloutStatus, now time.Time) *v1alpha1.RolloutStatus {
	r = r.DeepCopy()
	if r.PausedAt == nil {
		return r
	}
	paused := ptr.Deref(r.PausedFor, metav1.Duration{}).Duration + max(0, now.Truncate(time.Second).Sub(r.PausedAt.Time))
	r.PausedAt, r.PausedFor = nil, &metav1.Duration{Duration: paused}
	return r
}

// WaitingOn names the node a rollout waits for: one that is on its way, or else the
// next in line.
func WaitingOn(nodes []Node) string {
	for _, onItsWay := range []bool{true, false} {
		for _, n := range byOrdinal(nodes) {
			if (!n.Held || n.Upgrading) && !n.Done() && n.Current == onItsWay {
				return n.Name + ": " + n.Why + waitingOn(nodes, onItsWay)
			}
		}
	}
	return ""
}

// waitingOn names a node that takes budget although the rollout has nothing to do with it.
func waitingOn(nodes []Node, onItsWay bool) string {
	if onItsWay {
		return ""
	}
	for _, n := range byOrdinal(nodes) {
		if !n.Ready && (n.Stopped || n.Held) {
			return fmt.Sprintf("; %s is %s and counts against maxUnavailable", n.Name, map[bool]string{true: "stopped", false: "down"}[n.Stopped])
		}
	}
	return ""
}

// StalledSince is when a rollout last made progress, and how long it may still make no progress; nothing is
// left when it has stalled. Time that the fleet was paused does not count.
func StalledSince(r *v1alpha1.RolloutStatus, deadline time.Duration, now time.Time) (since time.Time, left time.Duration) {
	since = r.StartedAt.Time
	if r.ProgressedAt != nil && r.ProgressedAt.After(since) {
		since = r.ProgressedAt.Time
	}
	r = Resume(r, now)
	paused := cmp.Or(r.PausedFor, &metav1.Duration{}).Duration
	return since, max(0, since.Add(deadline+paused).Sub(now))
}
