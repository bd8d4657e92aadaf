package task

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
)

// ensureDataPVC makes the node's claim, takes up the one an earlier node of this
// name left behind, or checks the one that is imported.
func ensureDataPVC(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	if env.Node.Spec.ImportedClaim() != "" {
		return checkImportedClaim(ctx, env)
	}
	claim := env.Observed.Claim
	if claim != nil {
		switch {
		case claim.DeletionTimestamp != nil:
			return plan.Wait(v1alpha1.ReasonPVCNotReady, fmt.Sprintf("PersistentVolumeClaim %s is being deleted; waiting until it is gone", claim.Name), 0)
		case !ClaimIsOurs(env.Node, claim):
			return plan.Wait(v1alpha1.ReasonPVCInvalid, fmt.Sprintf(
				"PersistentVolumeClaim %s exists and belongs to something else: set spec.dataVolume.import.pvcName to take it over, or delete it",
				claim.Name), someTime)
		}
	}
	return SyncClaim(ctx, env)
}

// ClaimIsOurs reports whether a claim was made for this node, or for an earlier node
// of the same name that left it behind.
func ClaimIsOurs(node *v1alpha1.SeiNode, claim *corev1.PersistentVolumeClaim) bool {
	if owner := metav1.GetControllerOf(claim); owner != nil {
		return owner.UID == node.UID
	}
	return claim.Labels[v1alpha1.LabelNode] == node.Name
}

// SyncClaim applies the node's own claim: it makes it, and it makes it larger when
// the spec asks for more. A refusal to grow is reported and does not stop the node.
func SyncClaim(ctx context.Context, env *Env) plan.Outcome {
	if live := env.Observed.Claim; live != nil && env.InShape.known(env.Node, live) {
		return plan.Done("")
	}
	want := render.DataClaim(env.Render)
	if live := env.Observed.Claim; live != nil {
		// All but the size is fixed once the claim is there.
		if live.Spec.StorageClassName != nil {
			want.Spec.WithStorageClassName(*live.Spec.StorageClassName)
		}
		if have := live.Spec.Resources.Requests.Storage(); have.Cmp(*want.Spec.Resources.Requests.Storage()) > 0 {
			(*want.Spec.Resources.Requests)[corev1.ResourceStorage] = *have
		}
		if ok, _ := render.Covers(want, live); ok && !metav1.IsControlledBy(live, env.Node) {
			env.InShape.note(env.Node, live)
			return plan.Done("")
		}
	}
	err := env.Client.Apply(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNode), client.ForceOwnership)
	if err != nil && env.Observed.Claim != nil && (apierrors.IsForbidden(err) || apierrors.IsInvalid(err)) {
		env.Facts.VolumeProblem = fmt.Sprintf("spec.dataVolume.size: the volume cannot grow: %v", err)
		return plan.Done("")
	}
	if err != nil {
		return APIOutcome(fmt.Sprintf("applying PersistentVolumeClaim %s", *want.Name), err)
	}
	claim, err := render.Convert[corev1.PersistentVolumeClaim](want)
	if err != nil {
		return plan.Terminal(ReasonRefused, err)
	}
	env.Observed.Claim = claim
	env.Wrote(claim)
	return plan.Done("")
}

// checkImportedClaim decides whether a claim that somebody else made can be used.
func checkImportedClaim(ctx context.Context, env *Env) plan.Outcome {
	name, claim := env.Node.Spec.ImportedClaim(), env.Observed.Claim
	notReady := func(format string, args ...any) plan.Outcome {
		return plan.Wait(v1alpha1.ReasonPVCNotReady, fmt.Sprintf("PersistentVolumeClaim %s ", name)+fmt.Sprintf(format, args...), someTime)
	}
	invalid := func(format string, args ...any) plan.Outcome {
		return plan.Wait(v1alpha1.ReasonPVCInvalid, fmt.Sprintf("PersistentVolumeClaim %s ", name)+fmt.Sprintf(format, args...), someTime)
	}
	switch {
	case claim == nil:
		return notReady("does not exist in namespace %s: create it, or correct spec.dataVolume.import.pvcName", env.Node.Namespace)
	case claim.DeletionTimestamp != nil:
		return notReady("is being deleted")
	case claim.Status.Phase == corev1.ClaimLost:
		return invalid("has lost its volume")
	case !slices.ContainsFunc(claim.Spec.AccessModes, writesOnce):
		return invalid("is %v: a node needs ReadWriteOnce or ReadWriteOncePod", claim.Spec.AccessModes)
	case claim.Spec.VolumeMode != nil && *claim.Spec.VolumeMode != corev1.PersistentVolumeFilesystem:
		return invalid("has volume mode %s: a node needs Filesystem", *claim.Spec.VolumeMode)
	case claim.Status.Phase != corev1.ClaimBound || claim.Spec.VolumeName == "":
		return notReady("is not bound yet")
	}
	if owner := metav1.GetControllerOf(claim); owner != nil && owner.UID != env.Node.UID {
		return invalid("is controlled by %s %s: no two nodes may share a volume", owner.Kind, owner.Name)
	}
	if user, err := claimUser(ctx, env, name); err != nil {
		return APIOutcome("looking for users of PersistentVolumeClaim "+name, err)
	} else if user != "" {
		return invalid("is in use by %s: no two nodes may share a volume", user)
	}
	need := render.DataSize(env.Render)
	if have := claim.Status.Capacity.Storage(); have.Cmp(need) < 0 {
		return invalid("has %s and a node of this mode needs %s: use a larger volume, or lower the size in the operator's configuration", have, &need)
	}
	return checkVolume(ctx, env, claim, notReady, invalid)
}

func checkVolume(ctx context.Context, env *Env, claim *corev1.PersistentVolumeClaim, notReady, invalid func(string, ...any) plan.Outcome) plan.Outcome {
	volume := &corev1.PersistentVolume{}
	err := env.Live.Get(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, volume)
	switch {
	case apierrors.IsNotFound(err):
		return notReady("is bound to PersistentVolume %s, which does not exist", claim.Spec.VolumeName)
	case apierrors.IsForbidden(err):
		// An operator that is bound to some namespaces reads nothing that is in none. A claim whose
		// volume has failed shows in the pod then.
		return plan.Done("PersistentVolume " + claim.Spec.VolumeName + " was not checked: the operator may not read it")
	case err != nil:
		return APIOutcome("reading PersistentVolume "+claim.Spec.VolumeName, err)
	case volume.Status.Phase == corev1.VolumeFailed:
		return invalid("is bound to PersistentVolume %s, which has failed", volume.Name)
	}
	return plan.Done("")
}

func writesOnce(mode corev1.PersistentVolumeAccessMode) bool {
	return mode == corev1.ReadWriteOnce || mode == corev1.ReadWriteOncePod
}
