package e2e

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// B1: whatever happens to its pod, a node comes back without a person.
func TestNode_PodOrProcessLost_ComesBack(t *testing.T) {
	s := begin(t, "recovery")
	s.create(s.validator("v"))
	s.awaitInSync("v")

	for _, c := range []struct {
		what   string
		happen func()
	}{
		{"seid killed", func() { s.kill(s.pod("v"), "seid", "seid", "start") }},
		{"sidecar killed", func() { s.kill(s.pod("v"), "sidecar", "/opt/sei/sidecar", "serve") }},
		{"pod deleted", func() { s.deletePod("v") }},
	} {
		height := s.height("v")
		t.Logf("%s at height %d", c.what, height)
		c.happen()
		s.awaitInSync("v")
		s.awaitHeight("v", height+2)
	}
}

// deletePod deletes the node's pod and waits until it is another one.
func (s *scenario) deletePod(node string) {
	s.t.Helper()
	pod := s.pod(node)
	if err := s.Delete(s.t.Context(), pod, client.GracePeriodSeconds(5)); err != nil {
		s.t.Fatalf("deleting the pod: %v", err)
	}
	s.awaitOtherPod(node, pod.UID)
}
