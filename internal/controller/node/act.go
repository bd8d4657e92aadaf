package node

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/task"
)

// act does what was decided: store a new plan, or keep what is there in shape and run
// the active plan on. A new plan is only stored; the next pass begins it, so that
// every side effect has been announced in status.
func (r *Reconciler) act(ctx context.Context, s *scope) error {
	if err := r.syncSnapshot(ctx, s); err != nil {
		return err
	}
	switch s.decision.Action {
	case domain.Start, domain.Supersede:
		r.beginPlan(ctx, s)
		return nil
	case domain.Drop:
		r.dropPlan(ctx, s)
		return nil
	case domain.Hold:
		if active := s.activePlan(); active != nil {
			plan.Suspend(active)
		}
	case domain.Keep:
		if s.activePlan() == nil && s.target.Retry && s.decision.HeldBack == "" {
			s.noteRetry()
		}
	}
	env := r.env(s)
	unguarded := s.syncNetworkPolicy(ctx, env)
	uncertified := s.syncCertificate(ctx, env)
	if err := errors.Join(unguarded, uncertified); err != nil && !domain.Initialized(&s.node.Status) {
		return err // no pod before its policy and its certificate
	}
	if s.target.TemplateProblem == "" && s.mayHaveStatefulSet() {
		if err := r.repair(ctx, s, env); err != nil {
			return err
		}
	}
	if s.mayAdvance() {
		s.progress = r.executor.Advance(ctx, s.activePlan(), env)
		s.comeBackIn(s.progress.RequeueAfter)
		s.pin()
		r.endPlan(s)
	}
	return errors.Join(unguarded, uncertified, r.syncPull(ctx, s))
}

// hasBegun reports whether the node is about to have a pod, or has had one.
func (s *scope) hasBegun() bool {
	return s.activePlan() != nil || s.found.Identity != nil || domain.Initialized(&s.node.Status)
}

// syncCertificate keeps the certificate of the node's sidecar valid, from before its first pod is made.
func (s *scope) syncCertificate(ctx context.Context, env *task.Env) error {
	if !s.hasBegun() {
		return nil
	}
	if err := task.SyncCertificate(ctx, env); err != nil {
		return fmt.Errorf("keeping the sidecar's certificate valid: %w", err)
	}
	return nil
}

// syncNetworkPolicy keeps the node's NetworkPolicy in shape, from before its first pod is made.
func (s *scope) syncNetworkPolicy(ctx context.Context, env *task.Env) (err error) {
	if !s.hasBegun() {
		return nil
	}
	if s.policyProblem, err = task.SyncNetworkPolicy(ctx, env); err != nil {
		return fmt.Errorf("reconciling the NetworkPolicy: %w", err)
	}
	return nil
}

// mayAdvance reports whether the active plan runs on in this pass. After an impostor was
// deleted it waits for the next one, which starts from what is there then.
func (s *scope) mayAdvance() bool {
	return s.activePlan() != nil && s.decision.Action != domain.Hold && !s.found.ImpostorDeleted
}

func (r *Reconciler) env(s *scope) *task.Env {
	env := &task.Env{
		Client: r.Client, Live: r.Live,
		Node: s.node, Observed: &s.objects, Document: s.document, LookError: s.lookError, Render: s.input, StatefulSet: s.statefulSet,
		Sidecar: s.sidecar, ReservationNamespace: r.Namespace, Certificates: r.Certificates, Clock: r.Clock, Wrote: r.Writes.Wrote, Deleted: r.Writes.Deleted,
		WebhookAdds: &r.webhookAdds, InShape: &r.inShape, Facts: &s.found,
	}
	if active := s.activePlan(); active != nil {
		env.Target, env.Config = active.Target, s.config()
	}
	return env
}

func (r *Reconciler) beginPlan(ctx context.Context, s *scope) {
	if s.activePlan() != nil {
		r.dropPlan(ctx, s)
	}
	s.node.Status.Plan = plan.New(s.decision.Plan, s.now)
	s.noteRetry()
	s.again = true
}

// dropPlan ends a plan that does not lead to what is wanted any more.
func (r *Reconciler) dropPlan(ctx context.Context, s *scope) {
	old := s.activePlan()
	log.FromContext(ctx).Info("plan superseded", "plan", old.ID, "reason", old.Reason, "why", s.decision.Why)
	s.node.Status.LastPlan = plan.Summarize(old, v1alpha1.OutcomeSuperseded, s.now)
	s.node.Status.Plan = nil
	s.again = true
}

// pin records in the plan which template it has applied: the operator may render another one
// by the time the pod is replaced.
func (s *scope) pin() {
	if active := s.activePlan(); active != nil && active.Target != nil && s.found.AppliedTemplate != "" {
		active.Target.PodTemplateHash = s.found.AppliedTemplate
	}
}

// endPlan takes a plan that has ended out of status at once.
func (r *Reconciler) endPlan(s *scope) {
	p := s.node.Status.Plan
	var outcome v1alpha1.PlanOutcome
	switch p.Phase {
	case v1alpha1.PlanComplete:
		outcome = v1alpha1.OutcomeComplete
	case v1alpha1.PlanFailed:
		outcome = v1alpha1.OutcomeFailed
	default:
		return
	}
	s.finished = p
	s.node.Status.LastPlan = plan.Summarize(p, outcome, r.Clock.Now())
	s.node.Status.Plan = nil
	s.again = true
}

// mayHaveStatefulSet reports whether the node is past the point where a plan makes its
// StatefulSet. Before that nothing may make one: a bootstrap Job may be using the volume.
func (s *scope) mayHaveStatefulSet() bool {
	if s.observed.Job != nil && isOwned(s.observed.Job, s.node) {
		return false
	}
	return s.found.Identity != nil || domain.Initialized(&s.node.Status)
}

func isOwned(obj metav1.Object, node *v1alpha1.SeiNode) bool { return metav1.IsControlledBy(obj, node) }

// repair keeps what the node owns in shape between plans: it puts back what was
// deleted or edited by hand, and it stops and starts the pod of a paused node.
func (r *Reconciler) repair(ctx context.Context, s *scope, env *task.Env) error {
	err := task.SyncStatefulSet(ctx, env, task.KeepTemplate)
	if obstacle, ok := errors.AsType[*task.NotOursError](err); ok {
		s.obstacle = obstacle
		return nil
	}
	if err != nil {
		return fmt.Errorf("reconciling the StatefulSet: %w", err)
	}
	if s.objects.StatefulSet == nil {
		s.comeBackIn(loop.StaleInterval)
	}
	if s.objects.Claim != nil && s.node.Spec.ImportedClaim() == "" && task.ClaimIsOurs(s.node, s.objects.Claim) {
		if o := task.SyncClaim(ctx, env); !o.IsDone() {
			return fmt.Errorf("reconciling the PersistentVolumeClaim: %s", o.Message)
		}
	}
	if !domain.Initialized(&s.node.Status) {
		return nil
	}
	if err := task.SyncService(ctx, env); err != nil {
		return fmt.Errorf("reconciling the Service: %w", err)
	}
	return nil
}
