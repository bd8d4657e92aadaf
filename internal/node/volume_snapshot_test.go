package node_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
)

func TestDecideSnapshot_HoldsUntilItIsCutAndNoLongerThanAllowed(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	of := func(change func(*node.VolumeSnapshot)) node.VolumeSnapshot {
		s := node.VolumeSnapshot{Upgrade: "v2", Name: "rpc-before-v2"}
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		is     node.VolumeSnapshot
		action node.SnapshotAction
		holds  bool
		reason string
		words  string
	}{
		"not asked for": {},
		"no such API":   {of(func(s *node.VolumeSnapshot) { s.NoAPI = true }), node.SnapshotNothing, false, v1alpha1.ReasonSnapshotAPIMissing, "upgrade v2 continues without"},
		"not begun":     {of(func(*node.VolumeSnapshot) {}), node.SnapshotTake, true, v1alpha1.ReasonSnapshotPending, "waiting for VolumeSnapshot rpc-before-v2"},
		"refused":       {of(func(s *node.VolumeSnapshot) { s.Refused = "quota" }), node.SnapshotNothing, false, v1alpha1.ReasonSnapshotRefused, "quota"},
		"somebody else's": {
			of(func(s *node.VolumeSnapshot) { s.Exists, s.Foreign, s.Cut = true, true, true }), node.SnapshotNothing, false, v1alpha1.ReasonSnapshotRefused, "does not belong to this node",
		},
		"being cut": {
			of(func(s *node.VolumeSnapshot) { s.Exists, s.Made, s.Error = true, now.Add(-59*time.Second), "no driver" }),
			node.SnapshotNothing, true, v1alpha1.ReasonSnapshotPending, "to be taken: no driver",
		},
		"cut": {of(func(s *node.VolumeSnapshot) { s.Exists, s.Cut, s.Made = true, true, now.Add(-time.Hour) }), node.SnapshotPrune, false, v1alpha1.ReasonSnapshotTaken, "before upgrade v2"},
		"not cut in time": {
			of(func(s *node.VolumeSnapshot) { s.Exists, s.Made, s.Error = true, now.Add(-time.Minute), "no driver" }),
			node.SnapshotDrop, false, v1alpha1.ReasonSnapshotTimeout, "was not taken within 1m0s: no driver",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := node.DecideSnapshot(c.is, time.Minute, now)
			if got.Action != c.action || (got.Hold != "") != c.holds || got.Reason != c.reason || !strings.Contains(got.Message, c.words) {
				t.Errorf("got %+v; want action %d, hold %t, %s, %q", got, c.action, c.holds, c.reason, c.words)
			}
			if got.Taken != (c.reason == v1alpha1.ReasonSnapshotTaken) || (got.RecheckAfter > 0) != c.holds {
				t.Errorf("taken %t, look again after %s", got.Taken, got.RecheckAfter)
			}
		})
	}
}
