package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// Tracer makes spans. A nil one makes none.
type Tracer struct{ tracer trace.Tracer }

// New returns a Tracer of a provider.
func New(provider trace.TracerProvider) *Tracer {
	return &Tracer{tracer: provider.Tracer("github.com/sei-operator/sei-operator")}
}

// Reconciler puts a span around every reconcile of a kind.
func (t *Tracer) Reconciler(kind string, inner reconcile.Reconciler) reconcile.Reconciler {
	if t == nil {
		return inner
	}
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		about := []attribute.KeyValue{
			attribute.String("sei.kind", kind), attribute.String("k8s.namespace.name", req.Namespace), attribute.String("sei.name", req.Name),
		}
		ctx, span := t.tracer.Start(ctx, "reconcile "+kind, trace.WithAttributes(about...))
		defer span.End()
		result, err := inner.Reconcile(context.WithValue(ctx, objectKey{}, about), req)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		} else if result.RequeueAfter > 0 {
			span.SetAttributes(attribute.String("sei.requeue_after", result.RequeueAfter.String()))
		}
		return result, err
	})
}

// objectKey is where a context has the attributes of the object it is about.
type objectKey struct{}

// Observer reports the plans that an executor runs; nil when there is nobody to tell.
func (t *Tracer) Observer() plan.Observer {
	if t == nil {
		return nil
	}
	return observer{t.tracer}
}

type observer struct{ tracer trace.Tracer }

// Task puts a span around one call of a task.
func (o observer) Task(ctx context.Context, p *v1alpha1.TaskPlan, task *v1alpha1.PlannedTask) (context.Context, func(plan.Outcome)) {
	trace.SpanFromContext(ctx).SetAttributes(planAttributes(p)...)
	ctx, span := o.tracer.Start(ctx, "task "+task.Type, trace.WithAttributes(append(planAttributes(p), taskAttributes(task)...)...))
	return ctx, func(outcome plan.Outcome) {
		span.SetAttributes(attribute.String("sei.task.outcome", outcome.String()))
		if outcome.Reason != "" {
			span.SetAttributes(attribute.String("sei.task.reason", outcome.Reason))
		}
		if outcome.Err != nil {
			span.SetStatus(codes.Error, outcome.Err.Error())
		}
		span.End()
	}
}

// Ended makes a trace of a plan that has ended, from the times in it. A plan outlives
// reconciles and operators, so it has no span while it runs.
func (o observer) Ended(ctx context.Context, p *v1alpha1.TaskPlan) {
	if p.StartedAt == nil {
		return
	}
	about, _ := ctx.Value(objectKey{}).([]attribute.KeyValue)
	attributes := append(planAttributes(p), about...)
	root, span := o.tracer.Start(ctx, "plan "+p.Reason, trace.WithNewRoot(), trace.WithLinks(trace.LinkFromContext(ctx)),
		trace.WithTimestamp(p.StartedAt.Time), trace.WithAttributes(append(attributes, attribute.String("sei.plan.outcome", string(p.Phase)))...))
	end := p.StartedAt.Time
	for i := range p.Tasks {
		task := &p.Tasks[i]
		if task.StartedAt == nil || task.CompletedAt == nil {
			continue
		}
		_, child := o.tracer.Start(root, "task "+task.Type, trace.WithTimestamp(task.StartedAt.Time), trace.WithAttributes(taskAttributes(task)...))
		if task.Status == v1alpha1.TaskFailed {
			child.SetStatus(codes.Error, task.Error)
			span.SetStatus(codes.Error, task.Type+": "+task.Error)
		}
		child.End(trace.WithTimestamp(task.CompletedAt.Time))
		end = task.CompletedAt.Time
	}
	span.End(trace.WithTimestamp(end))
}

func planAttributes(p *v1alpha1.TaskPlan) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("sei.plan.id", p.ID), attribute.String("sei.plan.reason", p.Reason)}
}

func taskAttributes(task *v1alpha1.PlannedTask) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("sei.task.type", task.Type), attribute.String("sei.task.id", task.ID), attribute.Int("sei.task.attempt", int(task.Attempt)),
	}
}
