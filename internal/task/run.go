package task

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// runFunc is a task: one call moves it on as far as it goes without waiting.
type runFunc func(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) plan.Outcome

// Reasons of waits that every task shares.
const (
	// ReasonAPIUnavailable: the API server could not be reached or was busy.
	ReasonAPIUnavailable = "APIUnavailable"
	// ReasonRefused: the API server refused an object.
	ReasonRefused = "ObjectRefused"
	// ReasonNamespaceTerminating: nothing new can be made; the node's own deletion follows.
	ReasonNamespaceTerminating = "NamespaceTerminating"
)

// APIOutcome turns an error of the API server into an outcome. Only what can never
// become valid ends a plan; everything else is waited out, bounded by the deadline.
func APIOutcome(doing string, err error) plan.Outcome {
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return plan.Terminal(ReasonRefused, fmt.Errorf("%s: %w", doing, err))
	}
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return plan.Wait(ReasonNamespaceTerminating, doing+": the namespace is being deleted", someTime)
	}
	return plan.Wait(ReasonAPIUnavailable, fmt.Sprintf("%s: %v", doing, err), shortly)
}
