package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// hold is why, and until when, a part of the difference is not worked on.
type hold struct {
	why string
	due time.Time
}

func (h hold) until(now time.Time) time.Duration {
	if h.due.IsZero() {
		return 0
	}
	return max(time.Second, h.due.Sub(now))
}

// heldInterval is how often a node is looked at whose gate an operation holds: nothing tells that
// the operation has released it.
const heldInterval = 5 * time.Second

// holdBack takes out of the difference what cannot succeed now: a step that has just failed
// on the same target, and what needs its result. Everything else continues.
func holdBack(in *Input, diff []Missing) ([]Missing, hold) {
	if in.Facts.held() {
		return nil, hold{why: "an operation holds the start gate closed", due: in.Now.Add(heldInterval)}
	}
	if why := blocked(in); why != "" {
		return nil, hold{why: why}
	}
	failedStep, h := lastFailure(in)
	todo := slices.Clone(diff)
	if failedStep != "" {
		if !in.Facts.Initialized {
			return nil, h // a bring-up is tried again as a whole, and only when asked to
		}
		before := len(todo)
		todo = without(&in.Facts, todo, failedStep)
		if len(todo) == before {
			h = hold{}
		}
	}
	return guardGate(in, todo, h)
}

// blocked says why nothing may be done to a node at all.
func blocked(in *Input) string {
	f, t := &in.Facts, &in.Target
	if f.Initialized && t.Signs && f.homeEmpty() && !t.RetryNode {
		return "the volume of this validator is empty, so its signing state is lost: restore the volume, or, " +
			"if you are certain that the key signs nowhere else and has not signed recent heights, set the annotation " +
			v1alpha1.AnnotationRetry + " of this SeiNode to any new value"
	}
	return ""
}

// lastFailure is the step at which the last plan failed on the target that is still wanted.
func lastFailure(in *Input) (string, hold) {
	last := in.Last
	if last == nil || last.Outcome != v1alpha1.OutcomeFailed || in.Target.Retry || last.Target == nil {
		return "", hold{}
	}
	h := hold{why: fmt.Sprintf("%s failed at step %s: %s", last.Reason, last.FailedTask, last.Error)}
	if !in.Facts.Initialized {
		if last.Target.Generation != in.Target.Generation || !IsBringUp(last.Reason) {
			return "", hold{}
		}
		return last.FailedTask, h
	}
	if *last.Target != in.Target.PlanTarget {
		return "", hold{}
	}
	h.due = last.FinishedAt.Add(backoff(last.FailedTask))
	if !in.Now.Before(h.due) {
		return "", hold{}
	}
	return last.FailedTask, h
}

// without removes a step and what needs its result. Opening the gate stays: guardGate knows
// on which configuration.
func without(f *Facts, todo []Missing, name string) []Missing {
	gone := []string{name}
	for i := 0; i < len(gone); i++ {
		for _, m := range todo {
			if m.Step != StepMarkReady && !slices.Contains(gone, m.Step) && slices.Contains(needs(m.Step), gone[i]) {
				gone = append(gone, m.Step)
			}
		}
	}
	// A gate cannot be opened without the keys, or by a step that has just failed itself.
	if slices.Contains(keySteps, name) || name == StepReplacePod || name == StepApplyStatefulSet {
		gone = append(gone, StepMarkReady)
	}
	return slices.DeleteFunc(todo, func(m Missing) bool {
		// What is on disk keeps its verdict while nothing else can be written. The verdict for
		// another version is given on what that version writes.
		verdict := name == StepConfigApply && m.Step == StepConfigValidate && (m.Because == "" || f.otherVersion())
		return verdict || slices.Contains(gone, m.Step)
	})
}

// guardGate lets the gate be opened only behind a configuration that is valid for the version
// in the pod, or that the same plan validates first.
func guardGate(in *Input, todo []Missing, h hold) ([]Missing, hold) {
	index := func(name string) int { return slices.IndexFunc(todo, func(m Missing) bool { return m.Step == name }) }
	validates := index(StepConfigValidate) >= 0
	// Files that nobody wrote for this node are no configuration of it.
	if validates && index(StepConfigApply) < 0 && in.Facts.Document != nil && in.Facts.Document.Home.ConfigHash == "" && !in.Facts.Remembered {
		todo = slices.DeleteFunc(todo, func(m Missing) bool { return m.Step == StepConfigValidate })
		validates = false
	}
	if index(StepMarkReady) < 0 || validates || in.Facts.configValid() {
		return onlyWithPurpose(todo), h
	}
	if h.why == "" {
		h.why = "the start gate stays closed: there is no configuration that is valid for this version of seid"
	}
	todo = slices.DeleteFunc(todo, func(m Missing) bool { return m.Step == StepMarkReady })
	return onlyWithPurpose(todo), h
}

// onlyWithPurpose drops steps that were taken along by one that is held back.
func onlyWithPurpose(todo []Missing) []Missing {
	if slices.ContainsFunc(todo, func(m Missing) bool { return m.Because != "" }) {
		return todo
	}
	return nil
}
