package deployment

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/internal/task/ceremony"
)

// observeGenesis finds what the namespace knows of the chain's genesis.
func (r *Reconciler) observeGenesis(ctx context.Context, s *scope) error {
	if s.snd.Spec.Genesis == nil {
		return nil
	}
	list := &corev1.ConfigMapList{}
	err := r.Client.List(ctx, list, client.InNamespace(s.snd.Namespace), client.MatchingLabels{v1alpha1.LabelGenesis: s.snd.Spec.Genesis.ChainID})
	if err != nil {
		return fmt.Errorf("looking for the genesis of %s: %w", s.snd.Spec.Genesis.ChainID, err)
	}
	if s.Observed.Genesis, err = r.withOwnGenesis(ctx, s.snd, list.Items); err != nil {
		return err
	}
	fleets := &v1alpha1.SeiNodeDeploymentList{}
	if err := r.Client.List(ctx, fleets, client.InNamespace(s.snd.Namespace)); err != nil {
		return fmt.Errorf("looking for the founders of %s: %w", s.snd.Spec.Genesis.ChainID, err)
	}
	for i := range fleets.Items {
		if g := fleets.Items[i].Spec.Genesis; g != nil && g.ChainID == s.snd.Spec.Genesis.ChainID {
			fleet.TakeOver(&fleets.Items[i])
			s.Observed.Founders = append(s.Observed.Founders, fleets.Items[i])
		}
	}
	return nil
}

// withOwnGenesis adds the ConfigMap of a finished ceremony that the cache does not show. One that is lost is restored from
// a node, and has to be lost: the cache may be late.
func (r *Reconciler) withOwnGenesis(ctx context.Context, snd *v1alpha1.SeiNodeDeployment, seen []corev1.ConfigMap) ([]corev1.ConfigMap, error) {
	name := fleet.GenesisName(snd.Name)
	if !fleet.ChainBegun(snd) || slices.ContainsFunc(seen, func(m corev1.ConfigMap) bool { return m.Name == name }) {
		return seen, nil
	}
	own := &corev1.ConfigMap{}
	switch err := r.Live.Get(ctx, client.ObjectKey{Namespace: snd.Namespace, Name: name}, own); {
	case apierrors.IsNotFound(err):
		return seen, nil
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s from the API server: %w", name, err)
	}
	return append(seen, *own), nil
}

// syncCeremony stores a plan that is due, or runs the one that is under way. A new plan
// is only stored; the next pass begins it, so that every side effect has been announced
// in status.
func (r *Reconciler) syncCeremony(ctx context.Context, s *scope) error {
	status := &s.snd.Status
	switch s.Decision.Ceremony.State {
	case fleet.CeremonyDue:
		status.Plan = fleet.NewCeremony(s.snd, r.Platform, s.Decision.Ceremony.Reason, r.Clock.Now())
		status.RetriedFor = s.snd.Annotations[v1alpha1.AnnotationRetry]
		s.again = true
	case fleet.CeremonyRunning:
		return r.advanceCeremony(ctx, s)
	case fleet.CeremonyPutOff:
		s.comeBackIn(s.Decision.Ceremony.RetryIn)
	case fleet.CeremonyDone:
		return r.adoptGenesis(ctx, s)
	case fleet.CeremonyBlocked, fleet.CeremonyConflict:
		if status.Plan != nil && status.Plan.Phase == v1alpha1.PlanActive {
			status.Plan = nil // it was begun before what is in its way
		}
	case fleet.CeremonyNone:
	}
	return nil
}

func (r *Reconciler) advanceCeremony(ctx context.Context, s *scope) error {
	members, err := r.ceremonyMembers(ctx, s)
	if err != nil {
		return err
	}
	active := s.snd.Status.Plan
	others, err := r.otherNodes(ctx, s)
	if err != nil {
		return err
	}
	facts := &ceremony.Facts{}
	fleet.BoundCeremony(s.snd, active, r.Clock.Now())
	s.progress = r.executor.Advance(ctx, active, &ceremony.Env{
		Client: r.Client, Live: r.Live, Clock: r.Clock, Fleet: s.snd, Plan: active, Members: members, Others: others,
		Bucket: r.Platform.Buckets.Genesis, Facts: facts,
	})
	s.comeBackIn(s.progress.RequeueAfter)
	s.finished = fleet.EndPlan(&s.snd.Status, r.Clock.Now())
	switch active.Phase {
	case v1alpha1.PlanComplete:
		s.warnings = facts.Warnings
		s.noteGenesis(facts.Stored)
		if bucket := r.Platform.Buckets.Genesis; bucket != "" && plan.Find(active, fleet.TaskPublishGenesis) != nil {
			s.snd.Status.GenesisS3URI = fleet.GenesisAddress(bucket, s.snd.Spec.Genesis.ChainID)
		}
	case v1alpha1.PlanFailed:
		s.again = true
	case v1alpha1.PlanActive:
	}
	return nil
}

// holdCeremony is what is done about the genesis of a fleet that is paused: the clock of its
// ceremony stands, and the owner of the ConfigMap follows the deletion policy as that of nodes does.
func (r *Reconciler) holdCeremony(ctx context.Context, s *scope) error {
	switch s.Decision.Ceremony.State {
	case fleet.CeremonyRunning:
		fleet.SuspendCeremony(s.snd.Status.Plan)
	case fleet.CeremonyDone:
		return r.adoptGenesis(ctx, s)
	default:
	}
	return nil
}

// noteGenesis latches the end of the ceremony.
func (s *scope) noteGenesis(stored *corev1.ConfigMap) {
	if stored == nil {
		return
	}
	s.snd.Status.GenesisConfigMap = stored.Name
	if s.snd.Status.GenesisHash == "" {
		s.snd.Status.GenesisHash = stored.Annotations[v1alpha1.AnnotationGenesisHash]
	}
}

// adoptGenesis takes over what an earlier fleet of this name left behind.
func (r *Reconciler) adoptGenesis(ctx context.Context, s *scope) error {
	found := s.Decision.Ceremony.Found
	s.noteGenesis(found)
	if last := s.snd.Status.LastPlan; last != nil && last.Outcome == v1alpha1.OutcomeFailed {
		s.snd.Status.LastPlan = nil // it failed before the genesis was there after all
	}
	adopted := fleet.AdoptedGenesis(s.snd, found)
	if equality.Semantic.DeepEqual(adopted.ObjectMeta, found.ObjectMeta) {
		return nil
	}
	if err := r.Client.Patch(ctx, adopted, client.MergeFromWithOptions(found, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("adopting ConfigMap %s: %w", found.Name, err)
	}
	return nil
}

// otherNodes are the nodes of the chain beyond the fleet's own, for a plan that asks any node.
func (r *Reconciler) otherNodes(ctx context.Context, s *scope) ([]ceremony.Member, error) {
	if plan.Find(s.snd.Status.Plan, fleet.TaskRestoreGenesis) == nil {
		return nil, nil
	}
	list := &v1alpha1.SeiNodeList{}
	if err := r.Client.List(ctx, list, client.InNamespace(s.snd.Namespace)); err != nil {
		return nil, fmt.Errorf("looking for nodes of %s: %w", s.snd.Spec.Genesis.ChainID, err)
	}
	var others []ceremony.Member
	for i := range list.Items {
		node := &list.Items[i]
		if node.Spec.ChainID != s.snd.Spec.Genesis.ChainID || node.DeletionTimestamp != nil || fleet.Owns(s.snd, node) {
			continue
		}
		dialled, err := r.sidecarOf(ctx, node)
		if err != nil {
			return nil, err
		}
		if dialled != nil {
			others = append(others, ceremony.Member{Name: node.Name, Node: node, Sidecar: dialled})
		}
	}
	return others, nil
}

// ceremonyMembers are the validators with the sidecars of their pods.
func (r *Reconciler) ceremonyMembers(ctx context.Context, s *scope) ([]ceremony.Member, error) {
	members := make([]ceremony.Member, 0, len(s.Result.Members))
	for _, m := range s.Result.Members {
		member := ceremony.Member{Name: m.Target.Name}
		if m.Live != nil && m.Foreign == "" && m.Live.DeletionTimestamp == nil {
			member.Node = m.Live
			var err error
			if member.Sidecar, err = r.sidecarOf(ctx, m.Live); err != nil {
				return nil, err
			}
		}
		members = append(members, member)
	}
	return members, nil
}

// sidecarOf is the sidecar of a node's own pod; nil while that does not run.
func (r *Reconciler) sidecarOf(ctx context.Context, node *v1alpha1.SeiNode) (sidecar.Sidecar, error) {
	objects, err := r.podObjects(ctx, node)
	if err != nil {
		return nil, err
	}
	return objects.Dial(r.Sidecars, node), nil
}

// ownPod is the pod that the node's own StatefulSet made; nil when there is none. Any other pod of
// that name is another owner's.
func (r *Reconciler) ownPod(ctx context.Context, node *v1alpha1.SeiNode) (*corev1.Pod, error) {
	objects, err := r.podObjects(ctx, node)
	if err != nil || !objects.IsNodesPod(node, objects.Pod) {
		return nil, err
	}
	return objects.Pod, nil
}

// podObjects are the pod with the name of a node's pod, and the StatefulSet that shows whose it is.
func (r *Reconciler) podObjects(ctx context.Context, node *v1alpha1.SeiNode) (o task.Objects, err error) {
	if o.Pod, err = loop.Find(ctx, r.Client, node.Namespace, render.PodName(node), &corev1.Pod{}); err != nil {
		return o, err
	}
	o.StatefulSet, err = loop.Find(ctx, r.Client, node.Namespace, node.Name, &appsv1.StatefulSet{})
	return o, err
}
