package e2e

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// drainedLabel is on the pods that the drain is for. A real one takes all; the others here have work to do.
const drainedLabel = "drained"

// B1: a Kubernetes node is drained for maintenance. There is no other, so the nodes say that they have no place, and
// come back when there is one.
func TestNode_KubernetesNodeDrained_SaysSoAndComesBack(t *testing.T) {
	s := join(t, "drain")
	names := []string{"a", "b"}
	for _, name := range names {
		node := s.fullNode(name)
		node.Spec.PodLabels = map[string]v1alpha1.LabelValue{drainedLabel: "yes"}
		s.create(node)
	}
	for _, name := range names {
		s.awaitInSync(name)
	}
	height := s.height("a")
	before := map[string]*corev1.Pod{"a": s.pod("a"), "b": s.pod("b")}

	s.whileDrained(before["a"].Spec.NodeName, func() {
		for _, name := range names {
			s.awaitOtherPod(name, before[name].UID)
			s.awaitUnschedulable(name)
		}
	})
	for _, name := range names {
		s.awaitInSync(name)
		s.awaitHeight(name, height+2)
	}
}

// whileDrained drains a Kubernetes node of the scenario's pods, as kubectl does, and opens it again whatever happens.
func (s *scenario) whileDrained(node string, look func()) {
	s.t.Helper()
	s.undisturbed.Lock()
	defer s.undisturbed.Unlock()
	defer func() {
		if _, err := s.kubectl(context.WithoutCancel(s.t.Context()), nil, "uncordon", node); err != nil {
			s.t.Error(err)
		}
	}()
	_, err := s.kubectl(s.t.Context(), nil, "drain", node, "--pod-selector="+drainedLabel+"=yes", "--delete-emptydir-data", "--timeout=2m")
	if err != nil {
		s.t.Fatal(err)
	}
	look()
}

// awaitUnschedulable waits until the node says that its pod has no place, in words that tell what to look at.
func (s *scenario) awaitUnschedulable(name string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, name+" to say that it has no place", func(context.Context) (bool, string, error) {
		node := &v1alpha1.SeiNode{}
		err := s.get(name, node)
		ready := conditions.Get(node.Status.Conditions, v1alpha1.ConditionReady)
		said := ready != nil && ready.Reason == v1alpha1.ReasonPodPending &&
			strings.Contains(ready.Message, "cannot be scheduled") && strings.Contains(ready.Message, "unschedulable")
		if said {
			s.t.Logf("%s: %s", name, ready.Message)
		}
		return said, describe(node), err
	})
	if pod := s.pod(name); pod.Status.Phase != corev1.PodPending || pod.Spec.NodeName != "" {
		s.t.Errorf("the pod is %s on %q, want it to wait", pod.Status.Phase, pod.Spec.NodeName)
	}
}
