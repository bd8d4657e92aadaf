package e2e

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// C2, C4: the operator keeps its StatefulSet, whatever hands do to it, and scales it by spec.paused alone.
func TestStatefulSet_ChangedByHand_IsPutBack(t *testing.T) {
	s := join(t, "ownership")
	s.create(s.fullNode("v"))
	first := s.awaitInSync("v")
	height := s.height("v")

	t.Log("paused")
	s.edit("v", func(n *v1alpha1.SeiNode) { n.Spec.Paused = true })
	s.awaitReason("v", v1alpha1.ReasonPaused)
	s.awaitNoPod("v")
	t.Log("resumed")
	s.edit("v", func(n *v1alpha1.SeiNode) { n.Spec.Paused = false })
	s.awaitInSync("v")
	s.awaitHeight("v", height+2)

	t.Log("replicas set to 0 by hand")
	set := &appsv1.StatefulSet{}
	s.mustGet("v", set)
	before := set.DeepCopy()
	set.Spec.Replicas = ptr.To[int32](0)
	if err := s.Patch(t.Context(), set, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	s.awaitReplicas("v", 1)
	s.awaitInSync("v")
	s.awaitBlocks("v", 2)

	t.Log("StatefulSet deleted by hand")
	s.mustGet("v", set)
	if err := s.Delete(t.Context(), set, client.PropagationPolicy("Foreground")); err != nil {
		t.Fatal(err)
	}
	await(t, inSyncTimeout, "another StatefulSet", func(context.Context) (bool, string, error) {
		now := &appsv1.StatefulSet{}
		err := s.get("v", now)
		return now.UID != "" && now.UID != set.UID, string(now.UID), err
	})
	last := s.awaitInSync("v")
	s.mustGet("v", set)
	if last.Status.StatefulSet == nil || last.Status.StatefulSet.UID != set.UID || first.Status.StatefulSet.UID == set.UID {
		t.Errorf("the status names StatefulSet %+v, the cluster has %s", last.Status.StatefulSet, set.UID)
	}
	s.awaitBlocks("v", 2)
}

func (s *scenario) awaitNoPod(node string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, "the pod of "+node+" to be gone", func(context.Context) (bool, string, error) {
		err := s.get(node+"-0", &corev1.Pod{})
		if apierrors.IsNotFound(err) {
			return true, "", nil
		}
		return false, "still there", err
	})
}

func (s *scenario) awaitReplicas(node string, replicas int32) {
	s.t.Helper()
	await(s.t, inSyncTimeout, "the replicas to be put back", func(context.Context) (bool, string, error) {
		set := &appsv1.StatefulSet{}
		err := s.get(node, set)
		return ptr.Deref(set.Spec.Replicas, -1) == replicas, "", err
	})
}
