package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// upgrade has a node stand to upgrade v2 at height 100 in a state. It is in sync unless it has
// stopped for it, or has moved after that.
func (s *scene) upgrade(ordinal int, state v1alpha1.UpgradeState) {
	u := &v1alpha1.UpgradeStatus{State: state, Scheduled: &v1alpha1.ScheduledUpgrade{Name: "v2", Height: 100, Type: v1alpha1.UpgradeMajor}}
	switch state {
	case v1alpha1.UpgradeHalted:
		s.ready(ordinal, metav1.ConditionFalse, v1alpha1.ReasonUpgradeNeeded)
	case v1alpha1.UpgradeMoved:
		s.ready(ordinal, metav1.ConditionFalse, v1alpha1.ReasonStartingUp)
		u.Entry = "v2"
	case v1alpha1.UpgradeFailed:
		s.ready(ordinal, metav1.ConditionFalse, v1alpha1.ReasonUpgradeNeeded)
		condition(s.live(ordinal), v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonHandlerMissing)
		u.Entry = "v2"
	case v1alpha1.UpgradeMovedEarly:
		u.Entry = "v2"
	case v1alpha1.UpgradeUpToDate:
		u.Scheduled, u.Entry, u.Applied = nil, "v2", &v1alpha1.AppliedUpgrade{Name: "v2", Height: 100}
	case v1alpha1.UpgradeScheduled:
	}
	s.live(ordinal).Status.Upgrade = u
}

// entries puts entries into the template, and into all nodes.
func (s *scene) entries(entries ...v1alpha1.ChainUpgrade) {
	s.snd.Spec.Template.Spec.Upgrades = entries
	for i := range s.members {
		s.members[i].Live.Spec.Upgrades = entries
		s.members[i].Target = fleet.Target(s.snd, platform.Default(), i)
	}
}

// upgrading has the fleet be in the middle of v2.
func (s *scene) upgrading() {
	s.snd.Status.Rollout = &v1alpha1.RolloutStatus{
		Reason: v1alpha1.RolloutChainUpgrade, TargetHash: s.snd.Status.TemplateHash, StartedAt: metav1.NewTime(passAt.Add(-time.Second)), Total: 3,
		Upgrade: &v1alpha1.UpgradeRollout{Name: "v2", Height: 100},
	}
}

const (
	scheduled = v1alpha1.UpgradeScheduled
	halted    = v1alpha1.UpgradeHalted
	moved     = v1alpha1.UpgradeMoved
	failed    = v1alpha1.UpgradeFailed
	upToDate  = v1alpha1.UpgradeUpToDate
)

// One upgrade is one rollout, from the first node that stops for it to the last that is in sync.
func TestUpgrade_CountsHaltedMovedAndProducing(t *testing.T) {
	for name, c := range map[string]struct {
		states [3]v1alpha1.UpgradeState
		change func(*scene)
		want   string // halted moved producing of total; empty: no rollout
		waits  string
	}{
		"nothing is scheduled":        {},
		"scheduled":                   {states: [3]v1alpha1.UpgradeState{scheduled, scheduled, scheduled}},
		"the first stops":             {states: [3]v1alpha1.UpgradeState{halted, scheduled, scheduled}, want: "1 0 0 of 3", waits: "rpc-0"},
		"all stopped":                 {states: [3]v1alpha1.UpgradeState{halted, halted, halted}, want: "3 0 0 of 3", waits: "rpc-0"},
		"some moved":                  {states: [3]v1alpha1.UpgradeState{moved, halted, moved}, want: "1 2 0 of 3"},
		"all moved":                   {states: [3]v1alpha1.UpgradeState{moved, moved, moved}, want: "0 3 0 of 3"},
		"one produces":                {states: [3]v1alpha1.UpgradeState{upToDate, moved, moved}, want: "0 3 1 of 3", waits: "rpc-1"},
		"all produce, it was tracked": {states: [3]v1alpha1.UpgradeState{upToDate, upToDate, upToDate}, change: (*scene).upgrading},
		"one failed":                  {states: [3]v1alpha1.UpgradeState{failed, halted, moved}, want: "1 2 0 of 3", waits: "rpc-0"},
		"one is down since before the halt": {
			states: [3]v1alpha1.UpgradeState{upToDate, upToDate, scheduled}, change: func(s *scene) { s.upgrading(); s.down(2) },
			want: "0 2 2 of 3", waits: "rpc-2",
		},
		"one is down since before the plan": {
			states: [3]v1alpha1.UpgradeState{upToDate, upToDate}, change: func(s *scene) { s.upgrading(); s.down(2) },
			want: "0 2 2 of 3", waits: "rpc-2",
		},
		"one stops late": {states: [3]v1alpha1.UpgradeState{upToDate, upToDate, halted}, change: (*scene).upgrading, want: "1 2 2 of 3", waits: "rpc-2"},
		"one stops when the others are done": {
			states: [3]v1alpha1.UpgradeState{upToDate, upToDate, halted}, want: "1 2 2 of 3", waits: "rpc-2",
		},
		"one is stopped": {states: [3]v1alpha1.UpgradeState{upToDate, upToDate, scheduled}, change: func(s *scene) { s.upgrading(); s.stop(2) }},
		"one has never been in sync and walks through old upgrades": {
			states: [3]v1alpha1.UpgradeState{upToDate, upToDate, halted}, change: func(s *scene) { s.snd.Status.Nodes[2].Synced = false },
		},
		"one has never been in sync, the others stop": {
			states: [3]v1alpha1.UpgradeState{halted, halted, moved}, change: func(s *scene) { s.snd.Status.Nodes[2].Synced = false }, want: "2 0 0 of 2",
		},
		"one was restored from a backup and walks through an old one": {
			states: [3]v1alpha1.UpgradeState{upToDate, upToDate, halted},
			change: func(s *scene) {
				for i := range 2 {
					s.live(i).Status.Upgrade.Applied = &v1alpha1.AppliedUpgrade{Name: "v3", Height: 200}
				}
			},
		},
		"one has not seen it": {
			states: [3]v1alpha1.UpgradeState{halted, moved, upToDate},
			change: func(s *scene) {
				s.live(2).Status.Upgrade = &v1alpha1.UpgradeStatus{State: upToDate, Applied: &v1alpha1.AppliedUpgrade{Name: "v1", Height: 50}}
			},
			want: "1 1 0 of 3", waits: "rpc-0",
		},
		"one has not seen the first one of its chain": {
			states: [3]v1alpha1.UpgradeState{halted, moved},
			change: func(s *scene) {
				condition(s.live(2), v1alpha1.ConditionUpgradeScheduled, metav1.ConditionFalse, v1alpha1.ReasonNothingScheduled)
			},
			want: "1 1 0 of 3", waits: "rpc-0",
		},
		"the sidecar of one does not tell": {
			states: [3]v1alpha1.UpgradeState{halted, moved},
			change: func(s *scene) {
				condition(s.live(2), v1alpha1.ConditionUpgradeScheduled, metav1.ConditionUnknown, v1alpha1.ReasonNotAsked)
			},
			want: "1 2 1 of 3", waits: "rpc-0",
		},
		"a partition holds one back": {
			states: [3]v1alpha1.UpgradeState{halted, halted, halted},
			change: func(s *scene) { s.partition(1); s.live(0).Spec.Overrides = map[string]string{"a": "b"} },
			want:   "3 0 0 of 3", waits: "rpc-1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.entries(v1alpha1.ChainUpgrade{Name: "v2", Image: "seid:b"})
			for i, state := range c.states {
				if state != "" {
					s.upgrade(i, state)
				}
			}
			if c.change != nil {
				c.change(s)
			}
			r := s.reported(t).Status.Rollout
			if c.want == "" {
				if r != nil {
					t.Errorf("rollout %+v, want none", r)
				}
				return
			}
			if r == nil || r.Upgrade == nil || r.Reason != v1alpha1.RolloutChainUpgrade {
				t.Fatalf("rollout %+v, want one of chain upgrade v2", r)
			}
			if got := counts(r); got != c.want || !strings.HasPrefix(r.WaitingOn, c.waits) {
				t.Errorf("halted, moved, producing: %s, waiting on %q; want %s, waiting on %s", got, r.WaitingOn, c.want, c.waits)
			}
		})
	}
}

func counts(r *v1alpha1.RolloutStatus) string {
	return fmt.Sprintf("%d %d %d of %d", r.Upgrade.Halted, r.Upgrade.Moved, r.Upgrade.Producing, r.Total)
}

// A halt is no failure of the template, and the conditions are about the upgrade.
func TestUpgrade_ConditionsNameIt(t *testing.T) {
	s := newScene(t)
	s.entries(v1alpha1.ChainUpgrade{Name: "v2", Image: "seid:b"})
	for i := range 3 {
		s.upgrade(i, halted)
		condition(s.live(i), v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
	}
	got := s.reported(t)
	words := "chain upgrade v2 at height 100: of 3 nodes 3 are halted, 0 moved and 0 of those in sync; waiting on rpc-0: "
	for conditionType, want := range map[string]metav1.ConditionStatus{
		v1alpha1.ConditionRolloutInProgress: metav1.ConditionTrue, v1alpha1.ConditionReconciling: metav1.ConditionTrue,
	} {
		c := conditions.Get(got.Status.Conditions, conditionType)
		if c.Status != want || c.Reason != v1alpha1.ReasonChainUpgrade || !strings.HasPrefix(c.Message, words) {
			t.Errorf("%s is %s: %s: %s", conditionType, c.Status, c.Reason, c.Message)
		}
	}
	if conditions.Is(got.Status.Conditions, v1alpha1.ConditionRolloutFailed, metav1.ConditionTrue, "") {
		t.Error("a halt counts as a failure of the template")
	}
	s.snd.Status = got.Status
	for i := range 3 {
		s.upgrade(i, upToDate)
		s.ready(i, metav1.ConditionTrue, v1alpha1.ReasonInSync)
		c := conditions.Get(s.live(i).Status.Conditions, v1alpha1.ConditionStalled)
		c.Status = metav1.ConditionFalse
	}
	c := conditions.Get(s.reported(t).Status.Conditions, v1alpha1.ConditionRolloutInProgress)
	if c.Status != metav1.ConditionFalse || c.Message != "every node is past chain upgrade v2" {
		t.Errorf("RolloutInProgress is %s: %s", c.Status, c.Message)
	}
}

// A fleet whose nodes know no image for an upgrade says so itself.
func TestUpgrade_ImageMissing_IsACondition(t *testing.T) {
	missing := func(s *scene, ordinal int) {
		condition(s.live(ordinal), v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
		conditions.Get(s.live(ordinal).Status.Conditions, v1alpha1.ConditionUpgradeImageMissing).Message = "upgrade v1 is applied and no entry names it"
	}
	ahead := "no entry of spec.template.spec.upgrades names upgrade v2 at height 100: add an entry"
	for name, c := range map[string]struct {
		change func(*scene)
		status metav1.ConditionStatus
		reason string
		words  string
	}{
		"nothing is scheduled":        {func(*scene) {}, metav1.ConditionFalse, v1alpha1.ReasonNothingScheduled, ""},
		"scheduled, with an entry":    {func(s *scene) { s.upgrade(0, scheduled) }, metav1.ConditionFalse, v1alpha1.ReasonImageKnown, ""},
		"scheduled, without an entry": {func(s *scene) { s.entries(); s.upgrade(0, scheduled) }, metav1.ConditionTrue, v1alpha1.ReasonNoEntry, ahead},
		"halted, without an entry": {
			func(s *scene) { s.entries(); s.upgrade(0, halted); s.upgrade(1, halted); s.upgrade(2, halted) }, metav1.ConditionTrue, v1alpha1.ReasonNoEntry, ahead,
		},
		"scheduled, all know it, and one node says so once more": {
			func(s *scene) { s.entries(); s.upgrade(0, scheduled); missing(s, 0) }, metav1.ConditionTrue, v1alpha1.ReasonNoEntry, ahead,
		},
		"the entry has not reached a node yet": {
			func(s *scene) { s.upgrade(0, scheduled); missing(s, 1) }, metav1.ConditionTrue, v1alpha1.ReasonNoEntry, "rpc-1: upgrade v1 is applied",
		},
		"the state of a node is ahead of its image": {func(s *scene) { missing(s, 2) }, metav1.ConditionTrue, v1alpha1.ReasonNoEntry, "rpc-2: upgrade v1 is applied"},
		"cancelled": {func(s *scene) { s.entries(); s.upgrade(0, upToDate) }, metav1.ConditionFalse, v1alpha1.ReasonNothingScheduled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.entries(v1alpha1.ChainUpgrade{Name: "v2", Image: "seid:b"})
			c.change(s)
			got := conditions.Get(s.reported(t).Status.Conditions, v1alpha1.ConditionUpgradeImageMissing)
			if got == nil || got.Status != c.status || got.Reason != c.reason || !strings.HasPrefix(got.Message, c.words) {
				t.Errorf("UpgradeImageMissing is %+v, want %s %s %q", got, c.status, c.reason, c.words)
			}
		})
	}
}

func TestUpgrade_Next_IsWhatNodesInSyncTell(t *testing.T) {
	at := func(name string, height int64) *v1alpha1.UpgradeStatus {
		return &v1alpha1.UpgradeStatus{State: scheduled, Scheduled: &v1alpha1.ScheduledUpgrade{Name: name, Height: height, Type: v1alpha1.UpgradeMajor}}
	}
	s := newScene(t)
	s.entries(v1alpha1.ChainUpgrade{Name: "v3", Image: "seid:c"})
	s.live(0).Status.Upgrade, s.live(1).Status.Upgrade = at("v3", 300), at("v4", 400)
	s.down(1) // the plan was cancelled while it was down
	want := &v1alpha1.NextUpgrade{ScheduledUpgrade: v1alpha1.ScheduledUpgrade{Name: "v3", Height: 300, Type: v1alpha1.UpgradeMajor}, Image: "seid:c"}
	if diff := cmp.Diff(want, s.reported(t).Status.NextUpgrade); diff != "" {
		t.Errorf("next upgrade (-want +got):\n%s", diff)
	}
	s.down(0)
	s.down(2)
	want.ScheduledUpgrade, want.Image = *at("v4", 400).Scheduled, ""
	if diff := cmp.Diff(want, s.reported(t).Status.NextUpgrade); diff != "" {
		t.Errorf("next upgrade while all are down (-want +got):\n%s", diff)
	}
}

// Which images a change of image and upgrades would have a node run decides whether it is rolled.
func TestRolled_ImageAndUpgrades_ByWhatTheNodeRuns(t *testing.T) {
	entry := func(name, image string) v1alpha1.ChainUpgrade { return v1alpha1.ChainUpgrade{Name: name, Image: image} }
	v1, v2 := entry("v1", "seid:a1"), entry("v2", "seid:b")
	list := func(entries ...v1alpha1.ChainUpgrade) []v1alpha1.ChainUpgrade { return entries }
	after := func(entry, applied string) *v1alpha1.UpgradeStatus {
		u := &v1alpha1.UpgradeStatus{State: upToDate, Entry: entry}
		if applied != "" {
			u.Applied = &v1alpha1.AppliedUpgrade{Name: applied, Height: 1}
		}
		return u
	}
	haltedAt := &v1alpha1.UpgradeStatus{State: halted, Scheduled: &v1alpha1.ScheduledUpgrade{Name: "v2", Height: 9}}
	for name, c := range map[string]struct {
		image, toImage string
		have, want     []v1alpha1.ChainUpgrade
		status         *v1alpha1.UpgradeStatus
		rolled         string
	}{
		"an image":                                   {"seid:a", "seid:x", nil, nil, nil, "image"},
		"an image, the sidecar tells":                {"seid:a", "seid:x", nil, nil, after("", "v0"), "image"},
		"an entry for an upgrade ahead":              {"seid:a", "seid:a", nil, list(v2), after("", "v1"), ""},
		"an entry, nothing is known":                 {"seid:a", "seid:a", nil, list(v2), nil, ""},
		"an entry for what the node has stopped for": {"seid:a", "seid:a", nil, list(v2), haltedAt, "upgrades"},
		"another image for an upgrade ahead":         {"seid:a", "seid:a", list(v2), list(entry("v2", "seid:b2")), after("", "v1"), ""},
		"another image for the entry in force":       {"seid:a", "seid:a", list(v2), list(entry("v2", "seid:b2")), after("v2", "v2"), "upgrades"},
		"another image for an older entry":           {"seid:a", "seid:a", list(v1, v2), list(entry("v1", "seid:a2"), v2), after("v2", "v2"), ""},
		"the image before an entry in force":         {"seid:a", "seid:x", list(v2), list(v2), after("v2", "v2"), ""},
		"the image before, and the entry in force":   {"seid:a", "seid:x", list(v2), list(entry("v2", "seid:b2")), after("v2", "v2"), "image"},
		"history is written down":                    {"seid:b", "seid:a", nil, list(v2), after("", "v2"), ""},
		"an entry for what was applied":              {"seid:a", "seid:a", nil, list(v2), after("", "v2"), "upgrades"},
		"an entry beyond that in force":              {"seid:a", "seid:a", list(v1), list(v1, v2), after("v1", "v1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			snd := rpcFleet()
			snd.Spec.Template.Spec.Image, snd.Spec.Template.Spec.Upgrades = c.image, c.have
			live := liveOf(t, snd, 0)
			live.Status.Upgrade = c.status
			snd.Spec.Template.Spec.Image, snd.Spec.Template.Spec.Upgrades = c.toImage, c.want
			target := fleet.Target(snd, platform.Default(), 0)
			rolled, err := target.Rolled(live)
			if err != nil || strings.Join(rolled, " ") != c.rolled {
				t.Errorf("rolled %q, %v; want %q", rolled, err, c.rolled)
			}
			held, err := target.Held(live)
			if err != nil {
				t.Fatal(err)
			}
			image, entries := c.toImage, c.want
			if c.rolled != "" {
				image, entries = c.image, c.have
			}
			if c.status == haltedAt {
				entries = c.want // it is down already, and waits for nothing else
			}
			if held.Spec.Image != image || !slices.Equal(held.Spec.Upgrades, entries) {
				t.Errorf("while it is held back it has %s and %v; want %s and %v", held.Spec.Image, held.Spec.Upgrades, image, entries)
			}
		})
	}
}

// A node that is held back gets the entries that are new and do not change what it runs, whatever else
// the template changes. One that has stopped for an upgrade gets its entry: it is down already.
func TestHeld_NewEntries_ReachANodeThatIsHeldBack(t *testing.T) {
	entry := func(name, image string, height int64) v1alpha1.ChainUpgrade {
		return v1alpha1.ChainUpgrade{Name: name, Image: image, Height: height}
	}
	v1, v2, v3 := entry("v1", "seid:a1", 10), entry("v2", "seid:b", 20), entry("v3", "seid:c", 30)
	list := func(entries ...v1alpha1.ChainUpgrade) []v1alpha1.ChainUpgrade { return entries }
	at := func(state v1alpha1.UpgradeState, entry, scheduled, applied string) *v1alpha1.UpgradeStatus {
		u := &v1alpha1.UpgradeStatus{State: state, Entry: entry}
		if scheduled != "" {
			u.Scheduled = &v1alpha1.ScheduledUpgrade{Name: scheduled, Height: 30}
		}
		if applied != "" {
			u.Applied = &v1alpha1.AppliedUpgrade{Name: applied, Height: 1}
		}
		return u
	}
	many := make([]v1alpha1.ChainUpgrade, 128)
	for i := range many {
		many[i] = entry(fmt.Sprintf("m%d", i), fmt.Sprintf("seid:m%d", i), 0)
	}
	for name, c := range map[string]struct {
		toImage          string
		have, want, held []v1alpha1.ChainUpgrade
		status           *v1alpha1.UpgradeStatus
	}{
		"another image, and an upgrade ahead": {"seid:x", nil, list(v2), list(v2), at(scheduled, "", "v2", "v1")},
		"another image, and the halt for it":  {"seid:x", nil, list(v2), list(v2), at(halted, "", "v2", "v1")},
		"another image in force, and two upgrades ahead": {
			"seid:a", list(v1), list(entry("v1", "seid:a2", 10), v2, v3), list(v1, v2, v3), at(upToDate, "v1", "", "v1"),
		},
		"halted, and another beyond": {"seid:x", list(v1), list(v1, v2, v3), list(v1, v2, v3), at(halted, "v1", "v2", "v1")},
		"it runs without the entry for what was applied, and another is ahead": {
			"seid:a", nil, list(v2, v3), list(v3), at(scheduled, "", "v3", "v2"),
		},
		"in the order of the template":                {"seid:x", list(v1, v3), list(v1, v2, v3), list(v1, v2, v3), at(upToDate, "", "", "v0")},
		"after what the template has dropped":         {"seid:x", list(v1), list(v2, v3), list(v1, v2, v3), at(upToDate, "", "", "v0")},
		"the heights would not rise":                  {"seid:x", list(v2), list(entry("v4", "seid:d", 15)), list(v2), at(upToDate, "", "", "v0")},
		"an image would follow itself":                {"seid:x", list(v2), list(entry("v4", "seid:b", 40)), list(v2), at(halted, "", "v4", "v0")},
		"the image before the first would be its own": {"seid:x", nil, list(entry("v4", "seid:a", 0)), nil, at(upToDate, "", "", "v0")},
		"there is no room":                            {"seid:x", many, list(v1), many, at(upToDate, "", "", "v0")},
	} {
		t.Run(name, func(t *testing.T) {
			snd := rpcFleet()
			snd.Spec.Template.Spec.Upgrades = c.have
			live := liveOf(t, snd, 0)
			live.Status.Upgrade = c.status
			snd.Spec.Template.Spec.Image, snd.Spec.Template.Spec.Upgrades = c.toImage, c.want
			before := live.DeepCopy()
			held, err := fleet.Target(snd, platform.Default(), 0).Held(live)
			if err != nil || held.Spec.Image != "seid:a" || !slices.Equal(held.Spec.Upgrades, c.held) {
				t.Errorf("it has %s and %v, %v; want seid:a and %v", held.Spec.Image, held.Spec.Upgrades, err, c.held)
			}
			if diff := cmp.Diff(before, live); diff != "" {
				t.Errorf("the live node was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// minor has all nodes see a minor upgrade ahead.
func (s *scene) minor() {
	for i := range s.members {
		s.upgrade(i, scheduled)
		s.live(i).Status.Upgrade.Scheduled.Type = v1alpha1.UpgradeMinor
	}
}

// Nodes look for plans at their own pace. One that has not seen the upgrade looks settled whatever it may do, so that it must not
// be allowed to take it: it would go down beside the next.
func TestUpgrade_Minor_IsNotAllowedToANodeThatHasNotSeenIt(t *testing.T) {
	s := newScene(t)
	s.entries(v1alpha1.ChainUpgrade{Name: "v2", Image: "seid:b"})
	s.minor()
	seen := s.live(0).Status.Upgrade
	s.live(0).Status.Upgrade = nil
	if decision := s.allowed(t); !slices.Equal(decision.Moves, []int{1}) {
		t.Errorf("moves %v, want the second, which has seen it", decision.Moves)
	}
	s.live(1).Annotations[v1alpha1.AnnotationMinorUpgrade] = "v2"
	if decision := s.allowed(t); len(decision.Moves) > 0 {
		t.Errorf("moves %v beside one that is about to go down", decision.Moves)
	}
	s.live(0).Status.Upgrade = seen
	s.upgrade(1, v1alpha1.UpgradeMovedEarly)
	if decision := s.allowed(t); !slices.Equal(decision.Moves, []int{0}) {
		t.Errorf("moves %v, want the first once it has seen it", decision.Moves)
	}
}

func TestUpgrade_Minor_IsTakenEarlyWithinTheBudget(t *testing.T) {
	s := newScene(t)
	s.entries(v1alpha1.ChainUpgrade{Name: "v2", Image: "seid:b"})
	s.minor()
	decision := s.allowed(t)
	if !slices.Equal(decision.Moves, []int{0}) {
		t.Errorf("moves %v, want the first", decision.Moves)
	}
	for i, want := range []string{"v2", "", ""} {
		child, err := decision.Want(i, &s.members[i])
		if err != nil || child.Annotations[v1alpha1.AnnotationMinorUpgrade] != want {
			t.Errorf("node %d may take %q early, want %q (%v)", i, child.Annotations[v1alpha1.AnnotationMinorUpgrade], want, err)
		}
	}
	if r := s.reported(t).Status.Rollout; r == nil || counts(r) != "0 0 0 of 3" {
		t.Errorf("rollout %+v", r)
	}
	// The first may take it and has not begun yet: nobody else is allowed to.
	s.live(0).Annotations[v1alpha1.AnnotationMinorUpgrade] = "v2"
	if decision := s.allowed(t); len(decision.Moves) > 0 {
		t.Errorf("moves %v beside one that is about to go down", decision.Moves)
	}
	// The first has it, and the second is next.
	s.upgrade(0, v1alpha1.UpgradeMovedEarly)
	if decision := s.allowed(t); !slices.Equal(decision.Moves, []int{1}) {
		t.Errorf("moves %v, want the second", decision.Moves)
	}
	if r := s.reported(t).Status.Rollout; r == nil || counts(r) != "0 1 1 of 3" {
		t.Errorf("rollout %+v", r)
	}
}

func TestUpgrade_NotMinorOrNotNamed_NoneMayTakeItEarly(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"major":    func(s *scene) { s.upgrade(0, scheduled); s.upgrade(1, scheduled); s.upgrade(2, scheduled) },
		"no entry": func(s *scene) { s.entries() },
		"the entry is major": func(s *scene) {
			s.entries(v1alpha1.ChainUpgrade{Name: "v2", Image: "seid:b", Type: v1alpha1.UpgradeMajor})
		},
		"the plan was called": func(s *scene) { s.upgrade(0, upToDate); s.upgrade(1, upToDate); s.upgrade(2, upToDate) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.entries(v1alpha1.ChainUpgrade{Name: "v2", Image: "seid:b"})
			s.minor()
			change(s)
			decision := s.allowed(t)
			if len(decision.Moves) > 0 || s.members[0].Target.Annotations[v1alpha1.AnnotationMinorUpgrade] != "" {
				t.Errorf("moves %v, permission %q", decision.Moves, s.members[0].Target.Annotations[v1alpha1.AnnotationMinorUpgrade])
			}
		})
	}
}

// A node that was allowed to take a minor upgrade, and has not yet, is not allowed to any more when
// the plan is gone, also while something else holds it back. Otherwise it would take the next plan of
// that name out of turn.
func TestUpgrade_Minor_PlanGone_ThePermissionIsWithdrawn(t *testing.T) {
	cancelled := func(s *scene) {
		for i := range s.members {
			s.live(i).Status.Upgrade = &v1alpha1.UpgradeStatus{State: upToDate}
		}
	}
	held := func(s *scene) {
		s.partition(1)
		s.live(0).Spec.Overrides = map[string]string{"a": "b"}
	}
	for name, c := range map[string]struct {
		change func(*scene)
		want   string
	}{
		"the plan is there":                        {func(*scene) {}, "v2"},
		"the plan is there, the node is held back": {held, "v2"},
		"cancelled":                             {cancelled, ""},
		"cancelled while the node is held back": {func(s *scene) { cancelled(s); held(s) }, ""},
		"it is a major one now": {func(s *scene) {
			for i := range s.members {
				s.upgrade(i, scheduled)
			}
			held(s)
		}, ""},
		"another one is planned while the node is held back": {func(s *scene) {
			for i := range s.members {
				s.live(i).Status.Upgrade.Scheduled.Name = "v3"
			}
			s.entries(v1alpha1.ChainUpgrade{Name: "v2", Image: "seid:b"}, v1alpha1.ChainUpgrade{Name: "v3", Image: "seid:c"})
			held(s)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.entries(v1alpha1.ChainUpgrade{Name: "v2", Image: "seid:b"})
			s.minor()
			s.live(0).Annotations[v1alpha1.AnnotationMinorUpgrade] = "v2"
			c.change(s)
			decision := s.allowed(t)
			child, err := decision.Want(0, &s.members[0])
			if got := child.Annotations[v1alpha1.AnnotationMinorUpgrade]; err != nil || got != c.want {
				t.Errorf("the node may take %q early, want %q (%v)", got, c.want, err)
			}
		})
	}
}

// allowed decides on the scene after the members were told what they may take early.
func (s *scene) allowed(t *testing.T) fleet.Decision {
	t.Helper()
	fleet.AllowEarly(&s.snd.Spec.Template.Spec, s.members)
	d, err := fleet.Decide(&fleet.Observation{Fleet: s.snd, Members: s.members, Now: passAt}, platform.Default())
	if err != nil {
		t.Fatal(err)
	}
	return d
}
