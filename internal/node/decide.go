package node

import (
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// Input is all a decision may depend on.
type Input struct {
	Facts  Facts
	Target Target
	// Plan is the plan under way; nil when there is none.
	Plan *v1alpha1.TaskPlan
	// Last is how the plan before ended.
	Last *v1alpha1.PlanSummary
	Now  time.Time
}

// Action is what becomes of the node's plan.
type Action int

// The actions.
const (
	// Keep continues with the active plan, or with none.
	Keep Action = iota
	// Start begins a plan where there is none.
	Start
	// Supersede ends the active plan and begins another.
	Supersede
	// Hold freezes everything: the node is paused, or a new node's spec cannot be acted on.
	Hold
	// Drop ends the active plan: what it was for is there, or is not asked for any more.
	Drop
)

// Decision is what to do about a node, and why.
type Decision struct {
	Action Action
	// Plan is the plan to begin with Start and Supersede.
	Plan plan.Spec
	// Why says why the active plan is not right any more.
	Why string
	// Missing is the whole difference, also what is held back.
	Missing []Missing
	// HeldBack says why a part of the difference is not being worked on; empty when all is.
	HeldBack string
	// RecheckAfter is when what is held back becomes due.
	RecheckAfter time.Duration
	// PendingRestart says what the next restart will pick up.
	PendingRestart string
}

// Decide compares what is with what is wanted.
func Decide(in Input) Decision {
	d := Decision{Missing: Difference(&in.Facts, &in.Target), PendingRestart: pendingRestart(&in)}
	if in.Target.Paused || !in.Facts.Initialized && (in.Target.ConfigProblem != "" || in.Target.TemplateProblem != "") {
		d.Action = Hold
		return d
	}
	todo, held := holdBack(&in, d.Missing)
	d.HeldBack = held.why
	if in.Plan != nil && in.Plan.Phase == v1alpha1.PlanActive {
		d.Why = outdated(&in, todo)
		switch {
		case d.Why == "":
			return d
		case len(todo) == 0:
			d.Action = Drop
			return d
		}
		d.Action = Supersede
	} else if len(todo) > 0 {
		d.Action = Start
	}
	d.RecheckAfter = held.until(in.Now)
	if len(todo) > 0 && d.Action != Keep {
		d.Plan = specOf(&in, todo)
	}
	return d
}

func specOf(in *Input, todo []Missing) plan.Spec {
	reason, message := reasonFor(in, todo)
	spec := plan.Spec{Reason: reason, Message: message, Target: in.Target.PlanTarget}
	for _, m := range todo {
		spec.Tasks = append(spec.Tasks, m.Step)
	}
	return spec
}

// outdated says why the active plan cannot lead to the target any more; empty when it can.
// Steps of it that turn out to be done already are no reason: each looks first.
func outdated(in *Input, todo []Missing) string {
	left := remaining(in.Plan)
	for _, m := range todo {
		i := slices.Index(left, m.Step)
		switch {
		case i >= 0:
			left[i] = ""
		case (slices.Contains(preparation, m.Step) || in.Facts.Remembered && in.Facts.homeEmpty()) && plan.Find(in.Plan, m.Step) != nil:
			// Done by this plan: the home counts as empty until its last step is, and that of
			// an older sidecar until the node was brought up.
		case m.Because != "":
			return "step " + m.Step + " is missing too: " + m.Because
		case plan.Find(in.Plan, m.Step) == nil:
			return "step " + m.Step + " must run too"
		}
	}
	for _, name := range remaining(in.Plan) {
		if !asked(&in.Facts, &in.Target, name) || name == StepReplacePod && in.Facts.KeepsAdoptedPod(&in.Target) {
			return "step " + name + " is no longer needed"
		}
	}
	pinned := in.Plan.Target
	if pinned == nil || pinned.PreparationHash == "" || pinned.PreparationHash == in.Target.PreparationHash {
		return ""
	}
	for _, name := range []string{StepSnapshotRestore, StepConfigureStateSync, StepAwaitBootstrap} {
		if slices.Contains(remaining(in.Plan), name) {
			return "the source of the first state changed"
		}
	}
	return ""
}

// remaining lists the steps of a plan that are not complete.
func remaining(p *v1alpha1.TaskPlan) []string {
	var left []string
	for i := range p.Tasks {
		if p.Tasks[i].Status != v1alpha1.TaskComplete {
			left = append(left, p.Tasks[i].Type)
		}
	}
	return left
}

// pendingRestart reports a template that differs only because the operator or its
// configuration changed. It waits for the next update.
func pendingRestart(in *Input) string {
	pod, t := in.Facts.Pod, &in.Target
	if in.Facts.KeepsAdoptedPod(t) {
		return adoptedPod
	}
	if pod == nil || t.TemplateProblem != "" || pod.SpecHash != t.SpecHash || pod.TemplateHash == t.PodTemplateHash {
		return ""
	}
	return "this version or configuration of the operator renders another pod template; " +
		"the next update applies it; to apply it now, set the annotation " + v1alpha1.AnnotationRestart + " to any new value"
}
