package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/planner"
	"github.com/sei-operator/sei-operator/internal/task"
)

// act does what was decided: store a new plan, or keep what is there in shape and run
// the active plan on. A new plan is only stored; the next pass begins it, so that
// every side effect has been announced in status.
func (r *Reconciler) act(ctx context.Context, s *scope) error {
	env := r.env(s)
	if s.specProblem == nil && (s.decision.Action == planner.Start || s.decision.Action == planner.Supersede) {
		r.beginPlan(s)
		return nil
	}
	if s.statefulSet != nil && mayHaveStatefulSet(s) {
		if err := r.repair(ctx, s, env); err != nil {
			return err
		}
	}
	if active := s.activePlan(); active != nil && s.decision.Action == planner.Hold {
		plan.Suspend(active)
	}
	if mayAdvance(s) {
		s.progress = r.executor.Advance(ctx, s.activePlan(), env)
		s.comeBackIn(s.progress.RequeueAfter)
		r.endPlan(s)
	}
	return nil
}

// mayAdvance reports whether the active plan runs on in this pass. After an impostor was
// deleted it waits for the next one, which starts from what is there then.
func mayAdvance(s *scope) bool {
	return s.activePlan() != nil && s.specProblem == nil && s.decision.Action != planner.Hold && !s.facts.ImpostorDeleted
}

func (r *Reconciler) env(s *scope) *task.Env {
	return &task.Env{
		Client: r.Client, Live: r.Live,
		Node: s.node, Observed: s.observed, Wanted: s.wanted, Render: s.input, StatefulSet: s.statefulSet, Config: s.config,
		Sidecar: s.sidecar, ReservationNamespace: r.Namespace, Clock: r.Clock, Facts: &s.facts,
	}
}

func (r *Reconciler) beginPlan(s *scope) {
	now := r.Clock.Now()
	if old := s.activePlan(); old != nil {
		s.node.Status.LastPlan = plan.Summarize(old, v1alpha1.OutcomeSuperseded, now)
	}
	s.node.Status.Plan = plan.New(s.decision.Plan, now)
	s.node.Status.RetriedFor = s.node.Annotations[v1alpha1.AnnotationRetry]
	if s.decision.Plan.FailedPhase == v1alpha1.NodeFailed {
		s.node.Status.Phase = v1alpha1.NodeInitializing
	}
	s.again = true
}

// endPlan takes a plan that has ended out of status at once.
func (r *Reconciler) endPlan(s *scope) {
	p := s.node.Status.Plan
	var outcome v1alpha1.PlanOutcome
	phase := p.TargetPhase
	switch p.Phase {
	case v1alpha1.PlanComplete:
		outcome = v1alpha1.OutcomeComplete
	case v1alpha1.PlanFailed:
		outcome, phase = v1alpha1.OutcomeFailed, p.FailedPhase
	default:
		return
	}
	s.finished = p
	s.node.Status.LastPlan = plan.Summarize(p, outcome, r.Clock.Now())
	s.node.Status.Plan = nil
	if phase != "" {
		s.node.Status.Phase = phase
	}
	s.again = true
}

// mayHaveStatefulSet reports whether the node is past the point where a plan makes its
// StatefulSet. Before that nothing may make one: a bootstrap Job may be using the volume.
func mayHaveStatefulSet(s *scope) bool {
	if s.facts.Identity != nil || s.node.Status.Phase == v1alpha1.NodeRunning {
		return true
	}
	made := plan.Find(s.activePlan(), planner.TaskApplyStatefulSet)
	return made != nil && made.Status == v1alpha1.TaskComplete
}

// repair keeps what the node owns in shape between plans: it puts back what was
// deleted or edited by hand, and it stops and starts the pod of a paused node.
func (r *Reconciler) repair(ctx context.Context, s *scope, env *task.Env) error {
	err := task.SyncStatefulSet(ctx, env, task.KeepTemplate)
	if foreign, ok := errors.AsType[*task.ForeignError](err); ok {
		s.specProblem = foreign
		return nil
	}
	if err != nil {
		return fmt.Errorf("keeping the StatefulSet in shape: %w", err)
	}
	if s.observed.StatefulSet == nil {
		s.comeBackIn(loop.StaleInterval)
	}
	if s.node.Status.Phase != v1alpha1.NodeRunning {
		return nil
	}
	if err := task.SyncService(ctx, env); err != nil {
		return fmt.Errorf("keeping the Service in shape: %w", err)
	}
	if s.observed.Claim != nil && s.node.Spec.ImportedClaim() == "" {
		if o := task.SyncClaim(ctx, env); !o.IsDone() {
			return fmt.Errorf("keeping the volume claim in shape: %s", o.Message)
		}
	}
	return nil
}
