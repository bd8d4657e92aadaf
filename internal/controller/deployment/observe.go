package deployment

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/render"
)

// observe gathers what the cache knows of the fleet: its nodes, those it should have, whoever owns
// them, and the genesis of its chain.
func (r *Reconciler) observe(ctx context.Context, s *scope) error {
	nodes, err := r.nodes(ctx, s.snd)
	if err != nil {
		return err
	}
	s.keepOrdinals(fleet.ChooseOrdinals(s.snd, nodes))
	if err := r.observeHosts(ctx, s); err != nil {
		return err
	}
	if err := r.observeMembers(ctx, s); err != nil {
		return err
	}
	fleet.AllowEarly(&s.snd.Spec.Template.Spec, s.Observed.Members)
	s.Observed.Surplus = fleet.Surplus(s.snd, nodes)
	return r.observeGenesis(ctx, s)
}

// keepOrdinals settles which nodes the fleet has in this pass: all that follows goes by the status.
func (s *scope) keepOrdinals(ordinals []int32) {
	s.snd.Status.Ordinals, s.Observed.Fleet.Status.Ordinals = ordinals, ordinals
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
	live, err := r.liveMember(ctx, s, m.Target.Name)
	if err != nil || live == nil {
		return m, err
	}
	m.Live = live
	m.Foreign = fleet.MayAdopt(s.snd, v1alpha1.KindSeiNode, live)
	m.Target = m.Target.Retrying(live, s.snd.Status.Plan).KeepingLabels(live)
	if m.Task, err = r.observeTask(ctx, live); err != nil {
		return m, err
	}
	m.Restarted, err = r.observeRestart(ctx, live)
	return m, err
}

// liveMember reads a node; nil if the cache has none. One that the cache does not have yet has not been
// deleted.
func (r *Reconciler) liveMember(ctx context.Context, s *scope, name string) (*v1alpha1.SeiNode, error) {
	live, err := loop.Find(ctx, r.Client, s.snd.Namespace, name, &v1alpha1.SeiNode{})
	if err != nil {
		return nil, err
	}
	var seen client.Object
	if live != nil {
		seen = live
	}
	behind, err := r.Writes.Behind(ctx, &v1alpha1.SeiNode{}, client.ObjectKey{Namespace: s.snd.Namespace, Name: name}, seen)
	s.stale = s.stale || behind
	return live, err
}

// observeRestart finds out which restart a node's pod has seen. Only nodes that were
// asked to restart are looked at.
func (r *Reconciler) observeRestart(ctx context.Context, node *v1alpha1.SeiNode) (string, error) {
	if node.Annotations[v1alpha1.AnnotationRestart] == "" {
		return "", nil
	}
	pod, err := loop.Find(ctx, r.Client, node.Namespace, render.PodName(node), &corev1.Pod{})
	if err != nil || pod == nil || pod.DeletionTimestamp != nil {
		return "", err
	}
	return render.RestartValue(pod.Annotations), nil
}

// nodes are the nodes that the fleet controls, and those that nobody controls and bear its label.
func (r *Reconciler) nodes(ctx context.Context, snd *v1alpha1.SeiNodeDeployment) ([]*v1alpha1.SeiNode, error) {
	list := &v1alpha1.SeiNodeList{}
	if err := r.Client.List(ctx, list, client.InNamespace(snd.Namespace), client.MatchingFields{indexFleet: snd.Name}); err != nil {
		return nil, fmt.Errorf("listing the fleet's nodes: %w", err)
	}
	found := make([]*v1alpha1.SeiNode, 0, len(list.Items))
	for i := range list.Items {
		found = append(found, &list.Items[i])
	}
	return found, nil
}
