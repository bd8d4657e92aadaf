package task

import (
	"context"
	"errors"
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
)

// Reasons of waits for a name that is taken.
const (
	// ReasonForeignObject says that an object of the name belongs to somebody else.
	ReasonForeignObject = "ForeignObject"
	// ReasonTerminating says that an object of the name is on its way out.
	ReasonTerminating = "ObjectTerminating"
	// ReasonNoCertificate says that the pod would wait for a certificate that cannot be made.
	ReasonNoCertificate = "NoCertificate"
)

// applyStatefulSet brings the StatefulSet to what the plan wants, template included. A template that
// the plan has applied already stays, whatever this operator would render.
func applyStatefulSet(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	if problem := env.Facts.CertificateProblem; problem != "" {
		return plan.Wait(ReasonNoCertificate, problem, someTime)
	}
	policy := ReplaceTemplate
	if sts := env.Observed.StatefulSet; sts != nil && sts.Annotations[render.AnnotationPlan] == env.Node.Status.Plan.ID {
		policy = KeepTemplate
	}
	err := SyncStatefulSet(ctx, env, policy)
	obstacle, blocked := errors.AsType[*NotOursError](err)
	switch {
	case blocked:
		return plan.Wait(ReasonForeignObject, obstacle.Error(), someTime)
	case err != nil:
		return APIOutcome("applying StatefulSet "+env.Node.Name, err)
	case env.Observed.StatefulSet == nil:
		return plan.Wait(ReasonTerminating, fmt.Sprintf("waiting for the old StatefulSet %s to be deleted", env.Node.Name), soon)
	}
	env.Facts.AppliedTemplate = render.TemplateHash(env.Observed.StatefulSet.Spec.Template.Annotations)
	return plan.Done("")
}
