package node_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// choosing is a pass over a node with three entries whose sidecar tells what the document says.
func choosing(d *api.Node) *node.Pass {
	p := settledPass()
	p.Node.Spec.Image, p.Node.Spec.Upgrades = walk().Image, walk().Upgrades
	p.Facts.Document = d
	d.Gate.State = api.GateOpen
	choose(p)
	return p
}

// choose decides the image of a pass again.
func choose(p *node.Pass) {
	p.Upgrade = node.EffectiveImage(node.UpgradeInput{Spec: &p.Node.Spec, Document: p.Facts.Document, Before: p.Node.Status.Upgrade})
}

// otherPod is a pass whose pod does not run what was chosen yet.
func otherPod(p *node.Pass) *node.Pass { p.Pod.Build.SpecHash = "another"; return p }

func TestUpgradeConditions_OfEveryState(t *testing.T) {
	for name, c := range map[string]struct {
		pass      *node.Pass
		state     v1alpha1.UpgradeState
		scheduled string
		missing   string
		failed    string
		stalled   string
		words     []string
	}{
		"nothing ahead":         {choosing(known("v7")), v1alpha1.UpgradeUpToDate, "False NothingScheduled", "False NothingScheduled", "False NoFailure", "False Progressing", nil},
		"a major one":           {choosing(planned(known(), major("v7"))), v1alpha1.UpgradeScheduled, "True ImageKnown", "False ImageKnown", "False NoFailure", "False Progressing", []string{"major upgrade v7 is scheduled for height 2000, with image seid:v7"}},
		"a minor one":           {choosing(planned(known(), minor("v7"))), v1alpha1.UpgradeMovedEarly, "True ImageKnown", "False ImageKnown", "False NoFailure", "False Progressing", []string{"minor upgrade v7"}},
		"one without an entry":  {choosing(planned(known(), major("v10"))), v1alpha1.UpgradeScheduled, "True NoEntry", "True NoEntry", "False NoFailure", "False Progressing", []string{"(entries: v7, v8, v9)", "or the node stops at that height"}},
		"halted":                {otherPod(choosing(needing(known(), "v7"))), v1alpha1.UpgradeHalted, "True ImageKnown", "False ImageKnown", "False NoFailure", "False Progressing", []string{"seid has stopped for major upgrade v7 at height 2000"}},
		"halted, no entry":      {choosing(needing(known(), "v10")), v1alpha1.UpgradeHalted, "True NoEntry", "True NoEntry", "False NoFailure", "True NoEntry", []string{"seid has stopped for upgrade v10"}},
		"moved":                 {choosing(needing(known(), "v7")), v1alpha1.UpgradeMoved, "True ImageKnown", "False ImageKnown", "False NoFailure", "False Progressing", nil},
		"the old pod's refusal": {otherPod(choosing(refusing(needing(known(), "v7"), api.RefusedNeeded, "v7"))), v1alpha1.UpgradeHalted, "True ImageKnown", "False ImageKnown", "False NoFailure", "False Progressing", nil},
		"the wrong image":       {choosing(refusing(needing(known(), "v7"), api.RefusedNeeded, "v7")), v1alpha1.UpgradeFailed, "True ImageKnown", "False ImageKnown", "True HandlerMissing", "True HandlerMissing", []string{"correct the image of entry v7 of spec.upgrades. seid says: panic"}},
		"the state needs more":  {choosing(refusing(known("v8"), api.RefusedHandlerMissing, "v8")), v1alpha1.UpgradeUpToDate, "False NothingScheduled", "False NothingScheduled", "True HandlerMissing", "True HandlerMissing", nil},
		"and nobody listed it":  {choosing(refusing(known("v10", "v7"), api.RefusedHandlerMissing, "v10")), v1alpha1.UpgradeUpToDate, "False NothingScheduled", "True NoEntry", "False NoFailure", "True NoEntry", []string{"upgrade v10 is applied on the volume"}},
		"spec.image is too new": {choosing(refusing(planned(known(), major("v7")), api.RefusedTooEarly, "v7")), v1alpha1.UpgradeScheduled, "True ImageKnown", "False ImageKnown", "True TooEarly", "True TooEarly", []string{"in spec.image"}},
		"an older sidecar":      {choosing(ofLevel(7)), v1alpha1.UpgradeUpToDate, "Unknown SidecarTooOld", "Unknown NotAsked", "False NoFailure", "False Progressing", []string{fmt.Sprintf("use a sidecar image of level %d", api.LevelUpgrades)}},
	} {
		status := node.Report(c.pass)
		said, words := func(of string) string {
			got := conditions.Get(status.Conditions, of)
			return string(got.Status) + " " + got.Reason
		}, ""
		for _, of := range []string{v1alpha1.ConditionUpgradeScheduled, v1alpha1.ConditionUpgradeImageMissing, v1alpha1.ConditionUpgradeFailed} {
			words += conditions.Get(status.Conditions, of).Message + "\n"
		}
		if status.Upgrade == nil || status.Upgrade.State != c.state || status.Upgrade.Image != c.pass.Upgrade.Image {
			t.Errorf("%s: status %+v, want %s", name, status.Upgrade, c.state)
		}
		for of, want := range map[string]string{
			v1alpha1.ConditionUpgradeScheduled: c.scheduled, v1alpha1.ConditionUpgradeImageMissing: c.missing,
			v1alpha1.ConditionUpgradeFailed: c.failed, v1alpha1.ConditionStalled: c.stalled,
		} {
			if said(of) != want {
				t.Errorf("%s: %s is %s, want %s", name, of, said(of), want)
			}
		}
		for _, part := range c.words {
			if !strings.Contains(words, part) {
				t.Errorf("%s: %q is not in\n%s", name, part, words)
			}
		}
	}
}

// What an entry says otherwise than the plan is told, and the plan counts.
func TestUpgradeScheduled_EntryDiffersFromThePlan_IsTold(t *testing.T) {
	p := choosing(planned(known(), major("v7")))
	p.Node.Spec.Upgrades[0].Type, p.Node.Spec.Upgrades[0].Height = v1alpha1.UpgradeMinor, 5
	choose(p)
	got := conditions.Get(node.Report(p).Conditions, v1alpha1.ConditionUpgradeScheduled).Message
	if !strings.Contains(got, "the entry says Minor but the chain's plan does not") || !strings.Contains(got, "the entry says height 5") {
		t.Errorf("message %q", got)
	}
}

// A failure holds while its image is chosen and seid does not get on, also when nobody answers.
func TestUpgradeFailed_HoldsUntilSeidGetsOn(t *testing.T) {
	failed := func(p *node.Pass) bool {
		return conditions.Is(p.Node.Status.Conditions, v1alpha1.ConditionUpgradeFailed, metav1.ConditionTrue, v1alpha1.ReasonHandlerMissing)
	}
	p := choosing(refusing(needing(known(), "v7"), api.RefusedNeeded, "v7"))
	for _, step := range []struct {
		name   string
		change func()
		want   bool
	}{
		{"seid has said so", func() {}, true},
		{"nobody answers", func() { p.Facts.Document = nil }, true},
		{"the next sidecar has not heard it", func() { p.Facts.Document = needing(known(), "v7") }, true},
		{"a pass that could not end", func() { p.Err = errors.New("no answer") }, true},
		{"seid goes on", func() { p.Err, p.Facts.Document = nil, known("v7"); p.Facts.Document.Sync.Height = 2001 }, false},
	} {
		step.change()
		choose(p)
		report(p)
		if failed(p) != step.want {
			t.Errorf("%s: %+v, want failed %v", step.name, conditions.Get(p.Node.Status.Conditions, v1alpha1.ConditionUpgradeFailed), step.want)
		}
	}
}

// A failure of an image before the height is no halt: when nobody answers then, nobody moves.
func TestUpgradeFailed_BeforeTheHeight_IsNotTakenForAHalt(t *testing.T) {
	for name, d := range map[string]*api.Node{
		"too early":      refusing(planned(known(), major("v7")), api.RefusedTooEarly, "v7"),
		"lacks the last": refusing(planned(known("v7"), major("v8")), api.RefusedHandlerMissing, "v7"),
	} {
		p := choosing(d)
		image := p.Upgrade.Image
		for range 3 {
			report(p)
			p.Facts.Document = nil
			choose(p)
			if p.Upgrade.Image != image || p.Upgrade.Halted {
				t.Errorf("%s: %+v, want Image %v and Halted false", name, p.Upgrade, image)
			}
		}
		if !conditions.Is(p.Node.Status.Conditions, v1alpha1.ConditionUpgradeFailed, metav1.ConditionTrue, "") {
			t.Errorf("%s: the failure is not told any more", name)
		}
	}
}

// A node without entries on a chain without upgrades has no status of them, and a pass that has read
// nothing says nothing.
func TestUpgradeStatus_NothingToTell_IsAbsent(t *testing.T) {
	p := settledPass()
	p.Facts.Document.Upgrades = &api.Upgrades{Known: true}
	choose(p)
	if got := node.Report(p).Upgrade; got != nil {
		t.Errorf("upgrade %+v, want nil", got)
	}
	p.Err, p.Read, p.Upgrade = errors.New("no cache"), false, node.UpgradeChoice{}
	if got := conditions.Get(node.Report(p).Conditions, v1alpha1.ConditionUpgradeScheduled); got.Reason != v1alpha1.ReasonNotAsked {
		t.Errorf("unread: %+v, want Reason %v", got, v1alpha1.ReasonNotAsked)
	}
}

func TestImageInForceAndScheduledImage(t *testing.T) {
	n := &v1alpha1.SeiNode{Spec: *walk()}
	if got := *node.ImageInForce(n); got != "seid:v6" || node.ScheduledImage(&n.Spec, nil) != "" {
		t.Errorf("without a status: %s", got)
	}
	n.Status.Upgrade = &v1alpha1.UpgradeStatus{Entry: "v7", Scheduled: &v1alpha1.ScheduledUpgrade{Name: "v8"}}
	if *node.ImageInForce(n) != "seid:v7" || node.ScheduledImage(&n.Spec, n.Status.Upgrade) != "seid:v8" {
		t.Errorf("%s, then %s", *node.ImageInForce(n), node.ScheduledImage(&n.Spec, n.Status.Upgrade))
	}
	n.Status.Upgrade.Entry = "v8"
	if got := node.ScheduledImage(&n.Spec, n.Status.Upgrade); got != "" {
		t.Errorf("it has the image already: %s", got)
	}
}

// S4: what was said of a backup holds for the newest spec, too, and says so.
func TestUpgradeSnapshot_SaidAgainForANewerSpec(t *testing.T) {
	p := settledPass()
	p.Snapshot = node.SnapshotDecision{Taken: true, Reason: v1alpha1.ReasonSnapshotTaken, Message: "n-before-v7"}
	report(p)
	p.Snapshot = node.SnapshotDecision{}
	for _, err := range []error{nil, errors.New("no answer")} {
		p.Err = err
		before := p.Node.Generation
		p.Node.Generation++
		got := conditions.Get(node.Report(p).Conditions, v1alpha1.ConditionUpgradeSnapshotTaken)
		want := p.Node.Generation
		if err != nil {
			want = before
		}
		if got.Status != metav1.ConditionTrue || got.Message != "n-before-v7" || got.ObservedGeneration != want {
			t.Errorf("%v: %+v, want generation %d", err, got, want)
		}
		report(p)
	}
}
