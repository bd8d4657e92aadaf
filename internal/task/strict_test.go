package task

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// strict deletes, as careful callers do, only what is named by its UID, and refuses, as the API
// server does, to delete an object of another UID or version.
type strict struct {
	client.Client
	// policies are the propagation policies of the deletions that were asked for.
	policies *[]metav1.DeletionPropagation
}

func (s strict) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	live := obj.DeepCopyObject().(client.Object)
	if err := s.Get(ctx, client.ObjectKeyFromObject(obj), live); err != nil {
		return err
	}
	wanted := (&client.DeleteOptions{}).ApplyOptions(opts)
	if s.policies != nil && wanted.PropagationPolicy != nil {
		*s.policies = append(*s.policies, *wanted.PropagationPolicy)
	}
	p := wanted.Preconditions
	if p == nil || p.UID == nil || *p.UID != live.GetUID() || p.ResourceVersion != nil && *p.ResourceVersion != live.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{}, obj.GetName(), errors.New("the precondition differs"))
	}
	return s.Client.Delete(ctx, obj)
}
