package node

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// VolumeSnapshot is the backup of a node's volume before an upgrade, as far as it was seen.
type VolumeSnapshot struct {
	// Upgrade that it is taken for; empty when none is asked for.
	Upgrade string
	Name    string
	// NoAPI: the cluster does not know VolumeSnapshots.
	NoAPI bool
	// Exists: it was asked for. Cut: the point in time is fixed, whatever is copied afterwards.
	Exists, Cut bool
	// Foreign: something of its name is not the node's.
	Foreign bool
	// Error is what the snapshot controller says; it tries again by itself.
	Error string
	// Refused is why the API server did not take it; empty when it did.
	Refused string
	Made    time.Time
}

// SnapshotAction is what becomes of a backup.
type SnapshotAction int

// The actions.
const (
	SnapshotNothing SnapshotAction = iota
	SnapshotTake
	// SnapshotPrune removes older ones: the new one is there.
	SnapshotPrune
	// SnapshotDrop removes one that was not taken in time. Taken later, it would hold the state after the
	// upgrade under the name of the state before.
	SnapshotDrop
)

// SnapshotDecision is what to do about the backup before an upgrade.
type SnapshotDecision struct {
	Action SnapshotAction
	// Hold is why the node does not move yet; empty when it may.
	Hold string
	// Reason and Message are what condition UpgradeSnapshot says; empty when there is nothing to say.
	Taken           bool
	Reason, Message string
	RecheckAfter    time.Duration
}

// snapshotInterval is how often a backup is looked at that is not cut yet. VolumeSnapshots are not
// watched: there may be no such API, and they matter for seconds once in months.
const snapshotInterval = time.Second

// DecideSnapshot holds a halted node until its backup is cut, and no longer than timeout: a chain
// that makes no blocks waits for its validators. What cannot be had holds up nothing.
func DecideSnapshot(s VolumeSnapshot, timeout time.Duration, now time.Time) SnapshotDecision {
	without := func(reason, why string) SnapshotDecision {
		return SnapshotDecision{Reason: reason, Message: fmt.Sprintf("upgrade %s continues without a VolumeSnapshot: %s", s.Upgrade, why)}
	}
	switch {
	case s.Upgrade == "":
		return SnapshotDecision{}
	case s.NoAPI:
		return without(v1alpha1.ReasonSnapshotAPIMissing, "the cluster does not serve VolumeSnapshots; install the CSI snapshot controller and its CRDs")
	case s.Foreign:
		return without(v1alpha1.ReasonSnapshotRefused, "VolumeSnapshot "+s.Name+" does not belong to this node")
	case s.Refused != "":
		return without(v1alpha1.ReasonSnapshotRefused, s.Refused)
	case !s.Exists:
		return waiting(s, SnapshotTake)
	case s.Cut:
		return SnapshotDecision{
			Action: SnapshotPrune, Taken: true, Reason: v1alpha1.ReasonSnapshotTaken,
			Message: fmt.Sprintf("VolumeSnapshot %s holds the state before upgrade %s", s.Name, s.Upgrade),
		}
	case now.Sub(s.Made) >= timeout:
		d := without(v1alpha1.ReasonSnapshotTimeout, fmt.Sprintf("%s was not taken within %s%s", s.Name, timeout, because(s.Error)))
		d.Action = SnapshotDrop
		return d
	default:
		return waiting(s, SnapshotNothing)
	}
}

func waiting(s VolumeSnapshot, action SnapshotAction) SnapshotDecision {
	words := fmt.Sprintf("waiting for VolumeSnapshot %s to be taken%s", s.Name, because(s.Error))
	return SnapshotDecision{Action: action, Hold: words, Reason: v1alpha1.ReasonSnapshotPending, Message: words, RecheckAfter: snapshotInterval}
}

func because(problem string) string {
	if problem == "" {
		return ""
	}
	return ": " + problem
}

// upgradeSnapshot says whether there is a backup from before the last upgrade that asked for one. A
// pass that had nothing to do with one says again what was said, which holds for the newest spec too.
func (r *report) upgradeSnapshot() {
	d, was := &r.Snapshot, conditions.Get(r.status.Conditions, v1alpha1.ConditionUpgradeSnapshotTaken)
	switch {
	case d.Reason != "":
		r.set.Status(v1alpha1.ConditionUpgradeSnapshotTaken, d.Taken, d.Reason, d.Message)
	case was == nil:
		r.set.False(v1alpha1.ConditionUpgradeSnapshotTaken, v1alpha1.ReasonNotApplicable, "")
	case r.Err == nil:
		r.set.Set(was.Type, was.Status, was.Reason, was.Message)
	}
}
