package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
)

// +kubebuilder:rbac:groups=snapshot.storage.k8s.io,resources=volumesnapshots,verbs=get;list;create;delete

// observeSnapshot looks at the backup that a halted node waits for. At all other times nobody is
// asked, so that it does not matter whether there is such an API, nor when it was installed.
func (r *Reconciler) observeSnapshot(ctx context.Context, s *scope) error {
	key := client.ObjectKeyFromObject(s.node)
	upgrade := s.snapshotUpgrade()
	if upgrade == "" {
		r.refusedSnapshots.Delete(key)
		return nil
	}
	v := &s.volumeSnapshot
	v.Upgrade, v.Name = upgrade, render.UpgradeSnapshotName(s.node, upgrade)
	if why, refused := r.refusedSnapshots.Load(key); refused {
		v.Refused = why.(string)
		return nil
	}
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(render.VolumeSnapshotKind)
	err := r.Live.Get(ctx, types.NamespacedName{Namespace: s.node.Namespace, Name: v.Name}, found)
	switch {
	case meta.IsNoMatchError(err):
		v.NoAPI = true
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("reading VolumeSnapshot %s: %w", v.Name, err)
	default:
		s.takenSnapshot = found
		v.Exists, v.Made = true, found.GetCreationTimestamp().Time
		v.Foreign = found.GetLabels()[v1alpha1.LabelNode] != s.node.Name
		cut, _, _ := unstructured.NestedString(found.Object, "status", "creationTime")
		v.Cut = cut != ""
		v.Error, _, _ = unstructured.NestedString(found.Object, "status", "error", "message")
	}
	return nil
}

// snapshotUpgrade is the upgrade before which the node's volume is backed up now; empty when none is,
// or the node has moved already.
func (s *scope) snapshotUpgrade() string {
	choice, before := domain.EffectiveImage(s.upgradeInput()), s.node.Status.Upgrade
	if !choice.Halted || choice.Entry != choice.Scheduled.Name || before != nil && before.Entry == choice.Entry || s.observed.Claim == nil || s.node.Spec.Paused {
		return ""
	}
	for _, entry := range s.node.Spec.Upgrades {
		if entry.Name == choice.Entry && ptr.Deref(entry.SnapshotBefore, s.input.Platform.VolumeSnapshots.BeforeUpgrades) {
			return entry.Name
		}
	}
	return ""
}

// syncSnapshot takes the backup, or removes what is not needed any more. Only that it cannot be taken
// holds up anything, and not for long.
func (r *Reconciler) syncSnapshot(ctx context.Context, s *scope) error {
	switch s.snapshotDecision.Action {
	case domain.SnapshotTake:
		return r.takeSnapshot(ctx, s)
	case domain.SnapshotDrop:
		r.deleteSnapshot(ctx, s.takenSnapshot)
	case domain.SnapshotPrune:
		r.pruneSnapshots(ctx, s)
	case domain.SnapshotNothing:
	}
	return nil
}

func (r *Reconciler) takeSnapshot(ctx context.Context, s *scope) error {
	obj := render.UpgradeSnapshot(s.input, s.volumeSnapshot.Upgrade)
	err := r.Client.Create(ctx, obj, client.FieldOwner(v1alpha1.FieldOwnerSeiNode))
	switch {
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		// Trying again changes nothing; the next pass continues without.
		r.refusedSnapshots.Store(client.ObjectKeyFromObject(s.node), err.Error())
		return nil
	case client.IgnoreAlreadyExists(err) != nil:
		return fmt.Errorf("creating VolumeSnapshot %s: %w", obj.GetName(), err)
	}
	return nil
}

// pruneSnapshots keeps the newest backups of a node, the one that was just taken among them.
func (r *Reconciler) pruneSnapshots(ctx context.Context, s *scope) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(render.VolumeSnapshotKind.GroupVersion().WithKind(render.VolumeSnapshotKind.Kind + "List"))
	err := r.Live.List(ctx, list, client.InNamespace(s.node.Namespace), client.MatchingLabels(render.UpgradeSnapshotLabels(s.node)))
	if err != nil {
		log.FromContext(ctx).Error(err, "listing VolumeSnapshots")
		return
	}
	older := slices.DeleteFunc(list.Items, func(o unstructured.Unstructured) bool { return o.GetName() == s.volumeSnapshot.Name })
	slices.SortFunc(older, func(a, b unstructured.Unstructured) int {
		return cmp.Or(b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time), cmp.Compare(a.GetName(), b.GetName()))
	})
	for i := int(s.input.Platform.VolumeSnapshots.Keep) - 1; i < len(older); i++ {
		r.deleteSnapshot(ctx, &older[i])
	}
}

func (r *Reconciler) deleteSnapshot(ctx context.Context, obj *unstructured.Unstructured) {
	err := r.Client.Delete(ctx, obj, client.Preconditions{UID: new(obj.GetUID())})
	if client.IgnoreNotFound(err) != nil {
		log.FromContext(ctx).Error(err, "deleting a VolumeSnapshot", "name", obj.GetName())
	}
}
