package deployment

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/render"
)

// observe gathers the fleet's nodes from the cache: those it shall have, whoever owns
// them, and those of its own beyond that.
func (r *Reconciler) observe(ctx context.Context, s *scope) error {
	owned, err := r.children(ctx, s.snd)
	if err != nil {
		return err
	}
	if err := r.chooseOrdinals(ctx, s, owned); err != nil {
		return err
	}
	if err := r.observeHosts(ctx, s); err != nil {
		return err
	}
	if err := r.observeMembers(ctx, s); err != nil {
		return err
	}
	s.observeSurplus(owned)
	return r.observeGenesis(ctx, s)
}

// chooseOrdinals settles which nodes the fleet shall have in this pass. A new fleet counts those
// of its own that an earlier one of its name left behind.
func (r *Reconciler) chooseOrdinals(ctx context.Context, s *scope, own []*v1alpha1.SeiNode) error {
	if len(own) == 0 && len(s.snd.Status.Ordinals) == 0 {
		list := &v1alpha1.SeiNodeList{}
		err := r.Client.List(ctx, list, client.InNamespace(s.snd.Namespace), client.MatchingLabels{v1alpha1.LabelDeployment: s.snd.Name})
		if err != nil {
			return fmt.Errorf("listing nodes of an earlier fleet: %w", err)
		}
		for i := range list.Items {
			if fleet.MayAdopt(s.snd, v1alpha1.KindSeiNode, &list.Items[i]) == "" {
				own = append(own, &list.Items[i])
			}
		}
	}
	ordinals := fleet.ChooseOrdinals(s.snd, own)
	s.snd.Status.Ordinals, s.Observed.Fleet.Status.Ordinals = ordinals, ordinals
	return nil
}

func (r *Reconciler) observeMembers(ctx context.Context, s *scope) error {
	for _, ordinal := range fleet.Ordinals(s.snd) {
		m, err := r.observeMember(ctx, s, ordinal)
		if err != nil {
			return err
		}
		s.Observed.Members = append(s.Observed.Members, m)
	}
	return nil
}

func (r *Reconciler) observeMember(ctx context.Context, s *scope, ordinal int) (fleet.Member, error) {
	target, err := r.target(ctx, s, ordinal)
	if err != nil {
		return fleet.Member{}, err
	}
	m := fleet.Member{Target: target}
	live, err := cached(ctx, r.Client, s.snd.Namespace, m.Target.Name, &v1alpha1.SeiNode{})
	if err != nil || live == nil {
		return m, err
	}
	s.stale = s.stale || r.writes.Behind(live, client.ObjectKeyFromObject(live), live)
	m.Live = live
	m.Foreign = fleet.MayAdopt(s.snd, v1alpha1.KindSeiNode, live)
	m.Target = m.Target.Retrying(live, s.snd.Status.Plan)
	m.Restarted, err = r.observeRestart(ctx, live)
	return m, err
}

// observeRestart finds out which restart a node's pod has seen. Only nodes that were
// asked to restart are looked at.
func (r *Reconciler) observeRestart(ctx context.Context, node *v1alpha1.SeiNode) (string, error) {
	if node.Annotations[v1alpha1.AnnotationRestart] == "" {
		return "", nil
	}
	pod, err := cached(ctx, r.Client, node.Namespace, render.PodName(node), &corev1.Pod{})
	if err != nil || pod == nil || pod.DeletionTimestamp != nil {
		return "", err
	}
	return render.RestartValue(pod.Annotations), nil
}

// observeSurplus keeps the nodes that the fleet shall not have any more, highest ordinal first.
func (s *scope) observeSurplus(owned []*v1alpha1.SeiNode) {
	wanted := fleet.Ordinals(s.snd)
	for _, node := range slices.Backward(owned) {
		_, ordinal, ok := fleet.ParseChildName(node.Name)
		if ok && !slices.Contains(wanted, ordinal) && node.DeletionTimestamp == nil {
			s.Observed.Surplus = append(s.Observed.Surplus, node)
		}
	}
}

// children are the nodes that are the fleet's own, by ordinal.
func (r *Reconciler) children(ctx context.Context, snd *v1alpha1.SeiNodeDeployment) ([]*v1alpha1.SeiNode, error) {
	list := &v1alpha1.SeiNodeList{}
	if err := r.Client.List(ctx, list, client.InNamespace(snd.Namespace), client.MatchingFields{indexFleet: snd.Name}); err != nil {
		return nil, fmt.Errorf("listing the fleet's nodes: %w", err)
	}
	var found []*v1alpha1.SeiNode
	for i := range list.Items {
		if fleet.Owns(snd, &list.Items[i]) {
			found = append(found, &list.Items[i])
		}
	}
	slices.SortFunc(found, func(a, b *v1alpha1.SeiNode) int { return cmp.Compare(ordinalOf(a), ordinalOf(b)) })
	return found, nil
}

func ordinalOf(node *v1alpha1.SeiNode) int {
	_, ordinal, _ := fleet.ParseChildName(node.Name)
	return ordinal
}

// cached reads an object from the cache; nil when it is not there.
func cached[T client.Object](ctx context.Context, c client.Reader, namespace, name string, into T) (T, error) {
	var none T
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into)
	switch {
	case apierrors.IsNotFound(err):
		return none, nil
	case err != nil:
		return none, fmt.Errorf("reading %T %s: %w", into, name, err)
	default:
		return into, nil
	}
}
