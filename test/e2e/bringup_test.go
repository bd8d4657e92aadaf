package e2e

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// A validator and a full node come up from nothing, although the operator is killed in the middle of both (D2). The full
// node finds the validator by its labels.
func TestNetwork_OperatorKilledOnTheWay_ComesUp(t *testing.T) {
	s := found(t, "bringup")
	s.killOperatorAfter(func() {
		s.create(s.validator("validator"))
		s.create(s.fullNode("full"))
		await(t, inSyncTimeout, "the StatefulSets to be there", func(context.Context) (bool, string, error) {
			err := s.get("full", &appsv1.StatefulSet{})
			if err == nil {
				err = s.get("validator", &appsv1.StatefulSet{})
			}
			return err == nil, "", err
		})
		if node := s.seiNode("full"); node.Status.Phase == v1alpha1.NodeRunning {
			t.Error("the full node is up already: there is no middle left to kill the operator in")
		}
	})
	validator := s.awaitInSync("validator")
	full := s.awaitInSync("full")

	if validator.Status.CurrentImage != imageSeid || validator.Status.CurrentSidecarImage != imageSidecar {
		t.Errorf("the validator runs %s with %s", validator.Status.CurrentImage, validator.Status.CurrentSidecarImage)
	}
	if full.Status.NodeID == "" || full.Status.NodeID == validator.Status.NodeID {
		t.Errorf("node ids %q and %q", validator.Status.NodeID, full.Status.NodeID)
	}
	s.awaitPeers("full", 1)
	s.awaitBlocks("full", 3)
	if pod := s.pod("validator"); restarts(pod, "seid") != 0 || restarts(pod, "sidecar") != 0 {
		t.Errorf("containers of the validator were started more than once: %+v", pod.Status.ContainerStatuses)
	}
}

// killOperatorAfter lets something begin, deletes the operator's pod without a chance to say goodbye, and waits until
// there is another one.
func (s *scenario) killOperatorAfter(begin func()) {
	s.t.Helper()
	s.undisturbed.Lock()
	defer s.undisturbed.Unlock()
	begin()
	killed := s.operatorPod()
	if killed == nil {
		s.t.Fatal("there is no operator to kill")
	}
	if err := s.Delete(s.t.Context(), killed, client.GracePeriodSeconds(0)); err != nil {
		s.t.Fatalf("deleting the operator's pod: %v", err)
	}
	await(s.t, inSyncTimeout, "another operator", func(context.Context) (bool, string, error) {
		now := s.operatorPod()
		return now != nil && now.UID != killed.UID, "", nil
	})
}

// operatorPod is the operator's pod that is ready; nil when there is none.
func (s *scenario) operatorPod() *corev1.Pod {
	s.t.Helper()
	pods := &corev1.PodList{}
	err := s.List(s.t.Context(), pods, client.InNamespace(operatorNamespace), client.MatchingLabels{"app.kubernetes.io/name": "sei-operator"})
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range pods.Items {
		for _, c := range pods.Items[i].Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && pods.Items[i].DeletionTimestamp == nil {
				return &pods.Items[i]
			}
		}
	}
	return nil
}

// seiNode is the node as it is now.
func (s *scenario) seiNode(name string) *v1alpha1.SeiNode {
	s.t.Helper()
	node := &v1alpha1.SeiNode{}
	s.mustGet(name, node)
	return node
}
