package rare

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// Whoever makes the same edit again and again finds one event with a count. It is patched only while the
// status of its object stays as it is.
func TestEvent_ThatRepeats_IsPatched(t *testing.T) {
	w := operated(t)
	createNode(w)
	awaitNode(w)
	w.Eventually("an event to be patched", func() bool {
		addToSelector(w)
		return len(w.Recorder.All().Of("events").Verb("patch").Answered(http.StatusOK)) > 0
	})
}

// addToSelector makes an edit that the operator takes out again, and waits until it has.
func addToSelector(w *world.World) {
	const added = "added"
	world.Edit(w, theNode, &corev1.Service{}, func(s *corev1.Service) { s.Spec.Selector[added] = "by-hand" })
	envtest.WaitFor(w.T, w.Env, w.NS, theNode, func(s *corev1.Service) bool { return s != nil && s.Spec.Selector[added] == "" })
}
