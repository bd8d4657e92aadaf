package e2e

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A validator and a full node come up from nothing, although the operator is killed in the middle of both (D2). The full
// node finds the validator by its labels.
func TestNetwork_OperatorKilledOnTheWay_ComesUp(t *testing.T) {
	s := found(t, "bringup")
	s.create(s.validator("validator"))
	s.create(s.fullNode("full"))
	await(t, time.Minute, "the StatefulSets to be there", func(context.Context) (bool, string, error) {
		err := s.get("full", &appsv1.StatefulSet{})
		if err == nil {
			err = s.get("validator", &appsv1.StatefulSet{})
		}
		return err == nil, "", err
	})
	s.killOperator()
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

// killOperator deletes the operator's pod without a chance to say goodbye.
func (s *scenario) killOperator() {
	s.t.Helper()
	err := s.DeleteAllOf(s.t.Context(), &corev1.Pod{}, client.InNamespace(operatorNamespace),
		client.MatchingLabels{"app.kubernetes.io/name": "sei-operator"}, client.GracePeriodSeconds(0))
	if err != nil {
		s.t.Fatalf("deleting the operator's pod: %v", err)
	}
}
