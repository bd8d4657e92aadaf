package node_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// target draws what a user may ask for. Images, templates and configurations come from small
// sets, so that walks go back and forth.
func drawTarget(t *rapid.T, generation int64) node.Target {
	image := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "image")
	config := rapid.SampledFrom([]string{"1-1", "2-2", "3-2", "bad-bad"}).Draw(t, "config")
	operator := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "operator")
	target := node.Target{
		PlanTarget: v1alpha1.PlanTarget{
			Image: image, SpecHash: "spec-" + image, PodTemplateHash: "template-" + image + operator, ConfigHash: config, Generation: generation,
		},
		What: "full node of test", Snapshot: node.Snapshot(rapid.IntRange(0, 2).Draw(t, "snapshot")),
	}
	target.PreparationHash = fmt.Sprint(target.Snapshot)
	if rapid.IntRange(0, 9).Draw(t, "typo") == 0 {
		target.ConfigProblem = "spec.overrides: no such key"
	}
	target.ResultExport.Hash = rapid.SampledFrom([]string{"", "here", "there"}).Draw(t, "result export")
	if rapid.IntRange(0, 9).Draw(t, "no bucket") == 0 {
		target.ResultExport = node.ResultExport{Reason: v1alpha1.ReasonNoResultBucket, Problem: "there is no bucket"}
	}
	target.Paused = rapid.IntRange(0, 9).Draw(t, "paused") == 0
	return target
}

// world walks a model through the decisions made about it.
type world struct {
	*model
	plan *v1alpha1.TaskPlan
	last *v1alpha1.PlanSummary
	now  time.Time
}

func (w *world) decide(t *node.Target) node.Decision {
	return node.Decide(node.Input{Facts: w.facts(), Target: *t, Plan: w.plan, Last: w.last, Now: w.now})
}

// pass is one reconcile: decide, then store a plan or run one step of it.
func (w *world) pass(target *node.Target) (idle bool) {
	d := w.decide(target)
	switch d.Action {
	case node.Hold:
		return true
	case node.Start, node.Supersede:
		w.keysChecked = false
		w.plan = plan.New(d.Plan, w.now)
		return false
	case node.Drop:
		w.end(v1alpha1.OutcomeSuperseded, "")
		return false
	case node.Keep:
	}
	if w.plan == nil {
		known := w.initialized
		w.initialized = known || w.gate == api.GateOpen && w.pod != nil && !w.silent && len(d.Missing) == 0
		return w.initialized == known
	}
	task, _ := plan.Current(w.plan)
	if task == nil {
		if plan.Find(w.plan, node.StepMarkReady) != nil {
			w.initialized = true
		}
		w.end(v1alpha1.OutcomeComplete, "")
		return false
	}
	if w.run(task.Type, target, w.plan.Target) {
		task.Status = v1alpha1.TaskComplete
	} else {
		w.end(v1alpha1.OutcomeFailed, task.Type)
	}
	return false
}

func (w *world) end(outcome v1alpha1.PlanOutcome, failed string) {
	w.last = plan.Summarize(w.plan, outcome, w.now)
	w.last.FailedTask, w.last.FinishedAt = failed, metav1.NewTime(w.now)
	w.plan = nil
}

// settle makes passes until nothing is left to do, with time going by where something is
// held back.
func (w *world) settle(t *rapid.T, target *node.Target) {
	for range 200 {
		if !w.pass(target) {
			continue
		}
		d := w.decide(target)
		if d.RecheckAfter == 0 {
			return
		}
		w.now = w.now.Add(d.RecheckAfter)
		if len(d.Missing) > 0 && bad(target.ConfigHash) {
			return // held back for good reason: it fails each time
		}
	}
	t.Fatalf("no end after 200 passes: plan %+v, last %+v, facts %+v", w.plan, w.last, w.facts())
}

// TestDecide_AnySequence_EndsAtTheTarget walks a node through random edits, lost pods and
// silent sidecars, a few passes between two events, and demands at the end what a node made
// from scratch would have (S5), with S1, S2 and S7 held on the way.
func TestDecide_AnySequence_EndsAtTheTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{model: &model{home: api.Home{Stage: api.HomeEmpty}, gate: api.GateClosed, seid: api.SeidWaiting}, now: start}
		var target node.Target
		bootstrap := rapid.Bool().Draw(t, "bootstrap")
		signs := !bootstrap && rapid.Bool().Draw(t, "signs")
		for i := range rapid.IntRange(1, 8).Draw(t, "events") {
			switch event := rapid.IntRange(0, 5).Draw(t, "event"); {
			case event <= 2 || i == 0:
				target = drawTarget(t, int64(i+1))
				target.Bootstrap, target.SigningKey, target.Signs = bootstrap && target.Snapshot == node.BucketSnapshot, signs, signs
			case event == 3:
				w.losePod()
			case event == 4:
				w.silent = !w.silent
			default:
				target.Retry = true
			}
			for range rapid.IntRange(0, 12).Draw(t, "passes") {
				w.pass(&target)
			}
			target.Retry = false
		}
		// The last wish is one that can be had.
		w.silent, target.Paused, target.ConfigProblem = false, false, ""
		target.Generation = 100
		if bad(target.ConfigHash) {
			target.ConfigHash = "1-1"
		}
		w.settle(t, &target)
		w.check(t, &target)
	})
}

func (w *world) check(t *rapid.T, target *node.Target) {
	t.Helper()
	if len(w.violations) > 0 {
		t.Fatalf("violations: %v, want no violations", w.violations)
	}
	if d := w.decide(target); len(d.Missing) > 0 || d.Action != node.Keep {
		t.Fatalf("the second difference is not empty: %+v; facts %+v", d, w.facts())
	}
	switch {
	case !w.initialized:
		t.Fatal("the node is up and does not count as such")
	case w.pod == nil || w.pod.SpecHash != target.SpecHash:
		t.Fatalf("the pod is %+v, want spec hash %s", w.pod, target.SpecHash)
	case w.gate != api.GateOpen || w.seid != api.SeidRunning:
		t.Fatalf("gate %s, seid %s; want open and running", w.gate, w.seid)
	case w.home.ConfigHash != target.ConfigHash || w.started != target.ConfigHash:
		t.Fatalf("configuration on disk %s, running %s, want %s", w.home.ConfigHash, w.started, target.ConfigHash)
	case target.ResultExport.Problem == "" && w.export != target.ResultExport.Hash:
		t.Fatalf("export %q, want %q", w.export, target.ResultExport.Hash)
	case w.job != node.NoJob:
		t.Fatal("the bootstrap Job is still there")
	}
}
