package e2e

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
)

// B1: whatever happens to its pod, a node comes back without a person.
func TestNode_PodOrProcessLost_ComesBack(t *testing.T) {
	s := join(t, "recovery")
	s.create(s.fullNode("v"))
	s.awaitInSync("v")

	for _, c := range []struct {
		what   string
		happen func()
	}{
		{"seid killed", func() { s.kill(s.pod("v"), render.ContainerSeid, "seid", "start") }},
		{"sidecar killed", func() { s.killSidecar("v") }},
		{"pod deleted", func() { s.replacePod("v", s.deletePod) }},
		{"pod evicted, as by a drain", func() { s.replacePod("v", s.evictPod) }},
	} {
		height := s.height("v")
		t.Logf("%s at height %d", c.what, height)
		c.happen()
		s.awaitInSync("v")
		s.awaitHeight("v", height+2)
	}
}

// killSidecar also waits until the operator has opened the gate again. seid runs on meanwhile, so the node's readiness
// tells nothing.
func (s *scenario) killSidecar(name string) {
	s.t.Helper()
	s.kill(s.pod(name), render.ContainerSidecar, "/opt/sei/sidecar", "serve")
	await(s.t, inSyncTimeout, "the operator to open the gate", func(context.Context) (bool, string, error) {
		node := &v1alpha1.SeiNode{}
		err := s.get(name, node)
		last := node.Status.LastPlan
		opened := last != nil && last.Reason == domain.ReasonSidecarNotReady && last.Outcome == v1alpha1.OutcomeComplete
		return opened && node.Status.Plan == nil, describe(node), err
	})
}

// replacePod has the node's pod removed and waits until it is another one.
func (s *scenario) replacePod(node string, remove func(*corev1.Pod) error) {
	s.t.Helper()
	pod := s.pod(node)
	if err := remove(pod); err != nil {
		s.t.Fatalf("removing the pod: %v", err)
	}
	s.awaitOtherPod(node, pod.UID)
}

func (s *scenario) deletePod(pod *corev1.Pod) error { return s.Delete(s.t.Context(), pod) }

func (s *scenario) evictPod(pod *corev1.Pod) error {
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}}
	return s.clients.CoreV1().Pods(pod.Namespace).EvictV1(s.t.Context(), eviction)
}
