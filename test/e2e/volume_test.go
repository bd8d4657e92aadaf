package e2e

import (
	"context"
	"regexp"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

// A volume that is kept outlives its node, a new node that imports it continues where the old one ended, and
// that volume is nobody's to delete. A volume that is not kept goes with its node.
func TestVolume_KeptAndImported_HasItsData(t *testing.T) {
	s := join(t, "volume")
	kept := s.fullNode("old")
	kept.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeRetain}
	s.create(kept)
	identity := s.awaitInSync("old").Status.NodeID
	s.awaitHeight("old", 5)
	height := s.height("old")
	claim := s.claim("data-old")

	s.deleteNode("old")
	if again := s.claim("data-old"); again.UID != claim.UID || again.DeletionTimestamp != nil {
		t.Errorf("the kept claim is %s (deleted %v), was %s", again.UID, again.DeletionTimestamp, claim.UID)
	}

	imported := s.fullNode("heir")
	imported.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: "data-old"}}
	s.create(imported)
	heir := s.awaitInSync("heir")
	s.awaitHeight("heir", height+2)
	// The identity is on the volume too: a home that had been recreated would have another.
	if got := heir.Status.NodeID; got == "" || got != identity {
		t.Errorf("the heir's node id is %q, want the old one %q", got, identity)
	}
	if began := s.beganAt("heir"); began < height {
		t.Errorf("the heir began at height %d, the old node had ended at %d or later", began, height)
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

var handshake = regexp.MustCompile(`ABCI Handshake App Info.* height=(\d+)`)

// beganAt is the height of the state that seid found when it started.
func (s *scenario) beganAt(node string) int64 {
	s.t.Helper()
	log, err := s.log(s.t.Context(), s.pod(node), render.ContainerSeid, false)
	if err != nil {
		s.t.Fatal(err)
	}
	found := handshake.FindSubmatch(log)
	if found == nil {
		s.t.Fatalf("the log of %s does not say at which height it began", node)
	}
	height, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return height
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
