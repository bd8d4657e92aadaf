package e2e

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// A volume that is kept outlives its node, a new node that imports it goes on where the old one ended, and that volume
// is nobody's to delete. A volume that is not kept goes with its node.
func TestVolume_KeptAndImported_HasItsData(t *testing.T) {
	s := begin(t, "volume")
	kept := s.validator("old")
	kept.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeRetain}
	s.create(kept)
	s.awaitInSync("old")
	s.awaitHeight("old", 5)
	height := s.height("old")
	claim := s.claim("data-old")

	s.deleteNode("old")
	if again := s.claim("data-old"); again.UID != claim.UID || again.DeletionTimestamp != nil {
		t.Errorf("the kept claim is %s (deleted %v), was %s", again.UID, again.DeletionTimestamp, claim.UID)
	}

	heir := s.validator("heir")
	heir.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: "data-old"}}
	s.create(heir)
	s.awaitInSync("heir")
	s.awaitHeight("heir", height+2)
	// A chain that had begun anew would have another first block.
	status, err := s.rpc("heir").Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if block, err := s.rpc("heir").Block(t.Context(), height); err != nil || block.Header.Height != height {
		t.Errorf("block %d of the old node is not there (earliest is %d): %v", height, status.SyncInfo.EarliestBlockHeight, err)
	}
	s.deleteNode("heir")
	if again := s.claim("data-old"); again.UID != claim.UID || again.DeletionTimestamp != nil {
		t.Errorf("the imported claim was touched: %+v", again.ObjectMeta)
	}

	s.create(s.fullNode("fleeting"))
	await(t, inSyncTimeout, "the claim of fleeting", func(context.Context) (bool, string, error) {
		found := &corev1.PersistentVolumeClaim{}
		err := s.get("data-fleeting", found)
		return found.Status.Phase == corev1.ClaimBound, string(found.Status.Phase), err
	})
	s.deleteNode("fleeting")
	await(t, inSyncTimeout, "the claim of fleeting to be gone", func(context.Context) (bool, string, error) {
		err := s.get("data-fleeting", &corev1.PersistentVolumeClaim{})
		if apierrors.IsNotFound(err) {
			return true, "", nil
		}
		return false, "still there", err
	})
}

func (s *scenario) claim(name string) *corev1.PersistentVolumeClaim {
	s.t.Helper()
	claim := &corev1.PersistentVolumeClaim{}
	s.mustGet(name, claim)
	return claim
}

// deleteNode deletes a SeiNode and waits until it and its pod are gone.
func (s *scenario) deleteNode(name string) {
	s.t.Helper()
	if err := s.Delete(s.t.Context(), &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}}); err != nil {
		s.t.Fatalf("deleting %s: %v", name, err)
	}
	await(s.t, inSyncTimeout, name+" to be gone", func(context.Context) (bool, string, error) {
		err := s.get(name, &v1alpha1.SeiNode{})
		if apierrors.IsNotFound(err) {
			return true, "", nil
		}
		return false, "still there", err
	})
	s.awaitNoPod(name)
}
