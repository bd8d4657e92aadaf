package deployment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// act brings the fleet to what was decided. A paused fleet's nodes are left alone; its
// networking is not. One node's trouble does not keep the others waiting.
func (r *Reconciler) act(ctx context.Context, s *scope) error {
	errs := []error{r.syncOwners(ctx, s), r.syncHistory(ctx, s)}
	if !s.snd.Spec.Paused {
		errs = append(errs, r.removeSurplus(ctx, s))
		for i := range s.Result.Members {
			errs = append(errs, r.syncMember(ctx, s, i))
			if s.Result.Members[i].Refused != "" {
				s.Decision = s.Decision.Halted()
			}
		}
		errs = append(errs, r.syncCeremony(ctx, s))
	} else {
		errs = append(errs, r.holdCeremony(ctx, s))
	}
	s.Result.Networking.Synced = true
	errs = append(errs, r.syncNetworking(ctx, s), r.syncBudget(ctx, s))
	s.Result.Nodes = s.Decision.Judge(&s.Observed, s.Result.Members)
	return errors.Join(errs...)
}

// removeSurplus deletes the nodes beyond the wanted number, the highest first. Their
// volumes follow the nodes' own policy.
func (r *Reconciler) removeSurplus(ctx context.Context, s *scope) error {
	for _, node := range s.Observed.Surplus {
		if err := r.markScaledDown(ctx, node); err != nil {
			return err
		}
		if err := r.deleteNode(ctx, node); err != nil {
			return err
		}
		s.tell(events.New(events.NodeRemoved, "%s was removed: the fleet was scaled to %d", node.Name, s.snd.Spec.Replicas).About(events.Node(s.snd, node.Name)))
	}
	return nil
}

// markScaledDown notes on a node that it goes because of the fleet's size. The node's own finalizer
// sees to the volume.
func (r *Reconciler) markScaledDown(ctx context.Context, live *v1alpha1.SeiNode) error {
	node, changed := fleet.ScaledDown(live)
	if !changed {
		return nil
	}
	if err := r.Client.Patch(ctx, node, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("marking SeiNode %s as scaled down: %w", node.Name, err)
	}
	return nil
}

func (r *Reconciler) deleteNode(ctx context.Context, node *v1alpha1.SeiNode) error {
	err := r.Client.Delete(ctx, node, client.Preconditions{UID: &node.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting SeiNode %s: %w", node.Name, err)
	}
	return nil
}

// syncMember applies one node if it is not as it should be.
func (r *Reconciler) syncMember(ctx context.Context, s *scope, i int) error {
	m := &s.Result.Members[i]
	if s.Decision.LeavesAlone(m) {
		return nil
	}
	want, err := s.Decision.Want(i, m)
	if err != nil {
		return err
	}
	want, err = want.Stamped()
	if err != nil {
		return err
	}
	if m.Live != nil {
		same, err := want.Same(m.Live, s.snd)
		if err != nil || same {
			return err
		}
		if leaving, err := r.leaving(ctx, s, m.Live); leaving || err != nil {
			return err
		}
	}
	m.Moved, err = r.applyMember(ctx, s, m, want)
	m.Moved = m.Moved && s.Decision.MayMove(i)
	return err
}

// applyMember writes a node and reports whether the API server took it.
func (r *Reconciler) applyMember(ctx context.Context, s *scope, m *fleet.Member, want fleet.Child) (applied bool, err error) {
	before := m.Live
	err = r.applyChild(ctx, s, m, want)
	switch {
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		// Trying again changes nothing; the user has to.
		m.Refused = err.Error()
		return false, nil
	case apierrors.IsConflict(err):
		// The node is no longer as it was when this was decided.
		s.comeBackIn(loop.StaleInterval)
		return false, nil
	case err != nil:
		return false, fmt.Errorf("applying SeiNode %s: %w", want.Name, err)
	}
	return true, r.emitRepair(s, m.Target.Name, before)
}

// emitRepair announces nodes that somebody had deleted or edited.
func (r *Reconciler) emitRepair(s *scope, name string, before *v1alpha1.SeiNode) error {
	if before == nil {
		if slices.Contains(s.before().Status.IncumbentNodes, name) {
			s.tell(events.New(events.NodeRecreated, "%s had been deleted and was recreated", name).About(events.Node(s.snd, name)))
		}
		return nil
	}
	edited, err := fleet.Edited(before)
	if edited {
		s.tell(events.New(events.NodeRestored, "the spec of %s was edited directly and has been reverted; change the fleet's template instead", name).
			About(events.Node(s.snd, name)))
	}
	return err
}

// applyChild writes the node whole. What somebody else added beyond that is not ours
// to apply, so it is taken out by a patch of its own.
func (r *Reconciler) applyChild(ctx context.Context, s *scope, m *fleet.Member, want fleet.Child) error {
	obj, err := want.Object(s.snd)
	if err != nil {
		return err
	}
	if m.Live != nil {
		// Only the very state that was judged: a node that was down then and is in
		// sync by now would be taken down beyond the budget.
		obj.SetUID(m.Live.UID)
		obj.SetResourceVersion(m.Live.ResourceVersion)
	}
	apply := func(obj *unstructured.Unstructured) error {
		return r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(obj),
			client.FieldOwner(v1alpha1.FieldOwnerSeiNodeDeployment), client.ForceOwnership)
	}
	err = apply(obj)
	if leftNull(err) && m.Live != nil {
		if err := r.takeOutExtras(ctx, m, want, obj); err != nil {
			return err
		}
		obj.SetResourceVersion(m.Live.GetResourceVersion())
		err = apply(obj)
	}
	if err != nil {
		return err
	}
	if m.Live, err = decode(obj); err != nil {
		return err
	}
	r.Writes.Wrote(m.Live)
	same, err := want.SameSpec(&m.Live.Spec)
	if err != nil || same {
		return err
	}
	return r.takeOutExtras(ctx, m, want, obj)
}

// leftNull reports whether an apply was refused because it takes the last field out of an object, for
// example the snapshot out of fullNode: the API server makes null of the object
// (kubernetes/kubernetes#117447). Of a patch it does not.
func leftNull(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(err.Error(), `must be of type object: "null"`)
}

// takeOutExtras makes the spec of a node the wanted one, with the metadata of an object that was made
// from it: what the fleet has given the node and what it says to have given belong together.
func (r *Reconciler) takeOutExtras(ctx context.Context, m *fleet.Member, want fleet.Child, obj client.Object) error {
	node := m.Live.DeepCopy()
	node.Spec = *want.Spec.DeepCopy()
	for key, value := range obj.GetAnnotations() {
		metav1.SetMetaDataAnnotation(&node.ObjectMeta, key, value)
	}
	patch := client.MergeFromWithOptions(m.Live, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, node, patch, client.FieldOwner(v1alpha1.FieldOwnerSeiNodeDeployment)); err != nil {
		return err
	}
	m.Live = node
	r.Writes.Wrote(node)
	return nil
}

func decode(obj *unstructured.Unstructured) (*v1alpha1.SeiNode, error) {
	node := &v1alpha1.SeiNode{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, node); err != nil {
		return nil, fmt.Errorf("decoding SeiNode %s: %w", obj.GetName(), err)
	}
	return node, nil
}
