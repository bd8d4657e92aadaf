package task

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

// SyncNetworkPolicy applies the node's NetworkPolicy if it differs from what is wanted, or deletes it
// where the platform wants none. One that the API server does not take, or that somebody else has in
// its place, is reported and holds up nothing: problem says what is wrong.
func SyncNetworkPolicy(ctx context.Context, env *Env) (problem string, err error) {
	live := env.Observed.NetworkPolicy
	switch {
	case live != nil && live.DeletionTimestamp != nil:
		return "", nil // made again when it is gone, which wakes the node up
	case live != nil && !mayTake(env.Node, live):
		if !env.Render.Platform.NetworkPolicies.On() {
			return "", nil
		}
		return fmt.Sprintf("NetworkPolicy %s does not belong to the node, so its ports are not protected: delete or rename it", live.Name), nil
	case !env.Render.Platform.NetworkPolicies.On():
		return "", removePolicy(ctx, env, live)
	case live != nil && env.InShape.known(env.Node, live):
		return "", nil
	}
	return applyPolicy(ctx, env, live)
}

// mayTake accepts what the node controls, and what nobody controls if it was made for the node.
func mayTake(node *v1alpha1.SeiNode, live metav1.Object) bool {
	if owner := metav1.GetControllerOf(live); owner != nil {
		return owner.UID == node.UID
	}
	return live.GetLabels()[v1alpha1.LabelNode] == node.Name
}

func removePolicy(ctx context.Context, env *Env, live *networkingv1.NetworkPolicy) error {
	if live == nil {
		return nil
	}
	if err := env.Client.Delete(ctx, live, client.Preconditions{UID: &live.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting NetworkPolicy %s: %w", live.Name, err)
	}
	env.Deleted(live)
	env.Observed.NetworkPolicy = nil
	return nil
}

func applyPolicy(ctx context.Context, env *Env, live *networkingv1.NetworkPolicy) (problem string, err error) {
	want := render.NetworkPolicy(env.Render)
	if live != nil {
		wanted, err := render.Convert[networkingv1.NetworkPolicy](want)
		if err != nil {
			return "", err
		}
		if samePolicy(wanted, live) {
			env.InShape.note(env.Node, live)
			return "", nil
		}
		want.WithUID(live.UID)
	}
	err = env.Client.Apply(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNode), client.ForceOwnership)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return "", err
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		return fmt.Sprintf("the API server rejects NetworkPolicy %s, so the node's ports are not protected: %v", env.Node.Name, err), nil
	case err != nil:
		return "", fmt.Errorf("applying NetworkPolicy %s: %w", env.Node.Name, err)
	}
	made, err := render.Convert[networkingv1.NetworkPolicy](want)
	if err != nil {
		return "", err
	}
	env.Observed.NetworkPolicy = made
	env.Wrote(made)
	return "", nil
}

// samePolicy compares all that decides who may connect: one label more in a selector shuts somebody
// out. Rules for egress say nothing in a policy that is about ingress alone.
func samePolicy(want, live *networkingv1.NetworkPolicy) bool {
	for key, value := range want.Labels {
		if live.Labels[key] != value {
			return false
		}
	}
	same := apiequality.Semantic.DeepEqual
	return same(want.Spec.PodSelector, live.Spec.PodSelector) && same(want.Spec.Ingress, live.Spec.Ingress) &&
		same(want.Spec.PolicyTypes, live.Spec.PolicyTypes) && metav1.GetControllerOf(live) != nil
}
