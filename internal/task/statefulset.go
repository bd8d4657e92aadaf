package task

import (
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
)

// TemplatePolicy says what a sync may do to the pod template of a StatefulSet that
// is there already.
type TemplatePolicy int

// The template policies.
const (
	// KeepTemplate repairs what somebody else changed, and nothing more: a new
	// template is a plan's business.
	KeepTemplate TemplatePolicy = iota
	// ReplaceTemplate brings the template to what is wanted.
	ReplaceTemplate
)

// NotOursError reports a StatefulSet of our name that cannot be the node's.
type NotOursError struct{ message string }

// Error implements error.
func (e *NotOursError) Error() string { return e.message }

func notOurs(format string, args ...any) error {
	return &NotOursError{message: fmt.Sprintf(format, args...)}
}

// SyncStatefulSet is the only code that writes the node's StatefulSet. It works by
// the identity that is recorded: what we made is kept in shape, what vanished is
// made again, and what took its place is removed first. Afterwards
// env.Observed.StatefulSet is the node's StatefulSet, or nil while there is none.
func SyncStatefulSet(ctx context.Context, env *Env, policy TemplatePolicy) error {
	live, tracked := env.Observed.StatefulSet, env.Facts.Identity
	switch {
	case live == nil && tracked != nil:
		return recreate(ctx, env, policy)
	case live == nil:
		return create(ctx, env)
	case live.DeletionTimestamp != nil:
		env.Observed.StatefulSet = nil
		return nil
	}
	if owner := metav1.GetControllerOf(live); owner != nil && owner.UID != env.Node.UID {
		return notOurs("StatefulSet %s is controlled by %s %s: delete or rename one of the two", live.Name, owner.Kind, owner.Name)
	}
	if tracked != nil && tracked.UID != live.UID {
		return removeImpostor(ctx, env, live)
	}
	if policy == KeepTemplate && env.InShape.known(env.Node, live) {
		env.Facts.Identity = identityOf(live)
		return nil
	}
	want, err := env.StatefulSet()
	if err != nil {
		return err
	}
	if err := mayAdopt(env, live, want.Spec); err != nil {
		return err
	}
	applied := env.planID()
	if policy == KeepTemplate {
		applied = live.Annotations[render.AnnotationPlan]
	}
	want = withNotes(want, applied, adoptedSpecHash(env, live, want, policy))
	return keepInShape(ctx, env, live, want, policy)
}

func identityOf(live *appsv1.StatefulSet) *v1alpha1.ObjectIdentity {
	return &v1alpha1.ObjectIdentity{Name: live.Name, UID: live.UID}
}

// recreate makes a StatefulSet again that was deleted behind our back. The cache may
// only be late, so the API server is asked first.
func recreate(ctx context.Context, env *Env, policy TemplatePolicy) error {
	live := &appsv1.StatefulSet{}
	err := env.Live.Get(ctx, client.ObjectKeyFromObject(env.Node), live)
	if err == nil {
		env.Observed.StatefulSet = live
		return SyncStatefulSet(ctx, env, policy)
	}
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading StatefulSet %s: %w", env.Node.Name, err)
	}
	env.Facts.Identity = nil
	if err := create(ctx, env); err != nil {
		return err
	}
	env.Facts.Recreated = true
	return nil
}

func create(ctx context.Context, env *Env) error {
	want, err := env.StatefulSet()
	if err != nil {
		return err
	}
	return apply(ctx, env, withNotes(want, env.planID(), ""))
}

// planID is the id of the plan under way; empty when there is none.
func (env *Env) planID() string {
	if env.Node.Status.Plan == nil {
		return ""
	}
	return env.Node.Status.Plan.ID
}

// withNotes is a StatefulSet that names the plan that has applied its template, and the spec for which
// it was adopted with its pod. What is rendered once for all is left as it is.
func withNotes(rendered *appsv1ac.StatefulSetApplyConfiguration, planID, adopted string) *appsv1ac.StatefulSetApplyConfiguration {
	notes := map[string]string{render.AnnotationPlan: planID, render.AnnotationAdoptedSpecHash: adopted}
	maps.DeleteFunc(notes, func(_, value string) bool { return value == "" })
	if len(notes) == 0 {
		return rendered
	}
	noted, metadata := *rendered, *rendered.ObjectMetaApplyConfiguration
	noted.ObjectMetaApplyConfiguration = &metadata
	metadata.Annotations = notes
	return &noted
}

// adoptedSpecHash is the spec for which a StatefulSet of another operator is adopted while its pod is
// left running: that of the plan that applies the template and does not replace the pod. Another
// template than the one it was adopted with ends that.
func adoptedSpecHash(env *Env, live *appsv1.StatefulSet, want *appsv1ac.StatefulSetApplyConfiguration, policy TemplatePolicy) string {
	active, wanted := env.Node.Status.Plan, render.SpecHash(want.Spec.Template.Annotations)
	note := live.Annotations[render.AnnotationAdoptedSpecHash]
	adopts := plan.Find(active, domain.StepApplyStatefulSet) != nil && plan.Find(active, domain.StepReplacePod) == nil
	switch foreign := render.SpecHash(live.Spec.Template.Annotations) == ""; {
	case foreign && adopts:
		return wanted
	case !foreign && (policy == KeepTemplate || adopts && note == wanted):
		return note // the step itself comes after the repair, which may have applied the template already
	default:
		return ""
	}
}

// removeImpostor deletes exactly the object that was seen and forgets the recorded
// identity at once, so that the next sync starts afresh and never deletes what it
// has just made.
func removeImpostor(ctx context.Context, env *Env, live *appsv1.StatefulSet) error {
	err := env.Client.Delete(ctx, live, client.Preconditions{UID: &live.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting a foreign StatefulSet: %w", err)
	}
	env.Deleted(live)
	env.Observed.StatefulSet = nil
	env.Facts.Identity = nil
	env.Facts.ImpostorDeleted = err == nil
	return nil
}

// mayAdopt accepts what we control, and what nobody controls if it selects our pods. Fields
// that cannot be changed have to be as we would make them.
func mayAdopt(env *Env, live *appsv1.StatefulSet, want *appsv1ac.StatefulSetSpecApplyConfiguration) error {
	orphan := fmt.Sprintf("kubectl delete statefulset %s --cascade=orphan keeps its pod, and the operator recreates the StatefulSet", live.Name)
	switch selector := live.Spec.Selector; {
	case selector == nil || selector.MatchLabels[v1alpha1.LabelNode] != env.Node.Name:
		return notOurs("StatefulSet %s has no controller and selects other pods: delete or rename it", live.Name)
	case !maps.Equal(selector.MatchLabels, want.Selector.MatchLabels) || len(selector.MatchExpressions) > 0:
		return notOurs("StatefulSet %s cannot be adopted: its spec.selector is %s and cannot be changed: %s",
			live.Name, metav1.FormatLabelSelector(selector), orphan)
	case live.Spec.ServiceName != *want.ServiceName:
		return notOurs("StatefulSet %s cannot be adopted: its spec.serviceName is %q, must be %q and cannot be changed: %s",
			live.Name, live.Spec.ServiceName, *want.ServiceName, orphan)
	default:
		return nil
	}
}

// keepInShape applies only if something we own differs. The comparison is of what we
// would send, so defaults of the API server never look like a difference.
func keepInShape(
	ctx context.Context, env *Env, live *appsv1.StatefulSet, want *appsv1ac.StatefulSetApplyConfiguration, policy TemplatePolicy,
) error {
	if policy == KeepTemplate && !sameTemplate(want, live) {
		if env.templateIsDue() && coversButTemplate(want, live) {
			env.Facts.Identity = identityOf(live)
			return nil // the plan is about to replace it
		}
		var err error
		if want, err = withLiveTemplate(ctx, env, want, live); err != nil {
			return err
		}
	}
	env.Facts.Identity = identityOf(live)
	taken, err := takeOverTemplate(ctx, env, live)
	if err != nil {
		return err
	}
	live = env.Observed.StatefulSet
	// Who wrote which field is most of the object, and nothing to compare.
	bare := *live
	bare.ManagedFields = nil
	if ok, _ := render.Covers(want, &bare); ok && !taken {
		return putBackTemplate(ctx, env, live, want)
	}
	if live.Spec.UpdateStrategy.RollingUpdate != nil {
		if err := putBackStrategy(ctx, env, live, want); err != nil {
			return err
		}
	}
	return apply(ctx, env, want)
}

// templateIsDue reports whether a plan is under way that still has to apply the template.
func (env *Env) templateIsDue() bool {
	step := plan.Find(env.Node.Status.Plan, domain.StepApplyStatefulSet)
	return step != nil && step.Status != v1alpha1.TaskComplete
}

func coversButTemplate(want *appsv1ac.StatefulSetApplyConfiguration, live *appsv1.StatefulSet) bool {
	rest, spec := *want, *want.Spec
	rest.Spec, spec.Template = &spec, nil
	bare := *live
	bare.ManagedFields, bare.Spec.Template = nil, corev1.PodTemplateSpec{}
	ok, _ := render.Covers(&rest, &bare)
	return ok
}

func sameTemplate(want *appsv1ac.StatefulSetApplyConfiguration, live *appsv1.StatefulSet) bool {
	return render.TemplateHash(want.Spec.Template.Annotations) == render.TemplateHash(live.Spec.Template.Annotations)
}

// withLiveTemplate keeps the template as we applied it last: an operator that renders
// another one must not change what the next pod is made from by itself.
func withLiveTemplate(
	ctx context.Context, env *Env, want *appsv1ac.StatefulSetApplyConfiguration, live *appsv1.StatefulSet,
) (*appsv1ac.StatefulSetApplyConfiguration, error) {
	live, err := withAppliedFields(ctx, env, live)
	if err != nil {
		return nil, err
	}
	ours, err := appsv1ac.ExtractStatefulSet(live, v1alpha1.FieldOwnerSeiNode)
	if err != nil {
		return nil, fmt.Errorf("reading what was applied before: %w", err)
	}
	if ours.Spec == nil || ours.Spec.Template == nil {
		return want, nil // adopted, never applied by us: there is nothing to keep
	}
	kept, spec := *want, *want.Spec
	spec.Template = ours.Spec.Template
	kept.Spec = &spec
	return &kept, nil
}

// apply sends a copy, because the answer is written into what is sent. A StatefulSet
// that is there is named by its UID, so that no other of its name is touched.
func apply(ctx context.Context, env *Env, rendered *appsv1ac.StatefulSetApplyConfiguration) error {
	want, err := render.Convert[appsv1ac.StatefulSetApplyConfiguration](rendered)
	if err != nil {
		return err
	}
	if live := env.Observed.StatefulSet; live != nil {
		want.WithUID(live.UID)
	}
	if err := env.Client.Apply(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNode), client.ForceOwnership); err != nil {
		return err
	}
	made, err := render.Convert[appsv1.StatefulSet](want)
	if err != nil {
		return err
	}
	env.Observed.StatefulSet = made
	env.Wrote(made)
	env.Facts.Identity = identityOf(made)
	return nil
}
