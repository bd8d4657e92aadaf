package look

import (
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

func TestDue_ByThePaceOfTheBlocks(t *testing.T) {
	at := func(height int64, after time.Duration) moment { return moment{height, now.Add(after)} }
	for name, tc := range map[string]struct {
		from, to moment
		height   int64
		want     time.Duration // after now; 0: it cannot be determined
	}{
		"two seconds a block":    {at(100, -200*time.Second), at(200, 0), 1100, 1800 * time.Second},
		"many blocks a second":   {at(1, -100*time.Second), at(1001, 0), 2001, 100 * time.Second},
		"the next block":         {at(100, -100*time.Second), at(200, 0), 201, time.Second},
		"it is there":            {at(100, -100*time.Second), at(200, 0), 200, 0},
		"it is past it":          {at(100, -100*time.Second), at(200, 0), 150, 0},
		"the chain stands still": {at(100, 0), at(200, 0), 300, 0},
		"one block":              {at(200, 0), at(200, 0), 300, 0},
		"years ahead":            {at(100, -100*time.Second), at(200, 0), 1 << 40, 0},
	} {
		got := due(tc.from, tc.to, tc.height)
		if (got == nil) != (tc.want == 0) || got != nil && !got.Equal(now.Add(tc.want)) {
			t.Errorf("%s: %v, want %s after %s", name, got, tc.want, now)
		}
	}
}

// planAt is the chain's answer about its plan.
func planAt(name string, height int64) string {
	plan := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
	plan = protowire.AppendVarint(protowire.AppendTag(plan, 3, protowire.VarintType), uint64(height))
	return hex.EncodeToString(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), plan))
}

// The estimate is told with the plan, and not once seid has stopped for it.
func TestNode_PlannedUpgrade_HasAnEstimatedTime(t *testing.T) {
	s := newSeid(t)
	s.set(func() {
		s.height, s.plan = 1010, planAt("v7", 2010)
		s.blocks = func(height int64) string {
			return fmt.Sprintf(`{"block_id":{"hash":"AB"},"block":{"header":{"height":"%d","time":%q},"data":{"txs":[]}}}`, height, now.Add(time.Duration(height-1010)*time.Second).Format(time.RFC3339))
		}
	})
	l := s.look()
	doc := l.Node(t.Context())
	if want := now.Add(1000 * time.Second); doc.Upgrades.EstimatedTime == nil || !doc.Upgrades.EstimatedTime.Equal(want) {
		t.Errorf("estimated for %v, want %s", doc.Upgrades.EstimatedTime, want)
	}
	s.set(func() { s.plan = "" })
	s.clock.Step(keepPlan)
	if doc = l.Node(t.Context()); doc.Upgrade != nil || doc.Upgrades.EstimatedTime != nil {
		t.Errorf("after it was cancelled: %+v, estimated for %v", doc.Upgrade, doc.Upgrades.EstimatedTime)
	}
}
