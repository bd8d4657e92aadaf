package rare

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// view is what the operator's cache shows of a resource, and does not show for a while.
type view struct {
	resource string
	// before is what happens while the cache is up to date. It ends when the operator watches the resource:
	// nothing may be held back before that.
	before func(*world.World)
	// write has the operator write an object of the resource.
	write func(*world.World)
	// settle waits until the operator has continued, with a cache that is up to date again.
	settle func(*world.World)
}

var views = []view{
	{resource: "services", before: bringUp, write: createNode, settle: awaitNode},
	{resource: "networkpolicies", before: bringUp, write: createNode, settle: awaitNode},
	{resource: "jobs", before: bringUp, write: createBootstrapped, settle: awaitBootstrap},
	{resource: "controllerrevisions", before: bringUp, write: createFleet, settle: awaitFleet},
	{resource: "poddisruptionbudgets", before: bringUp, write: createFleet, settle: awaitFleet},
	// The node's status says that the pod is gone, and is looked at when the next pod comes.
	{resource: "seinodes", before: func(w *world.World) { createNode(w); awaitNode(w) }, write: deletePod, settle: awaitNode},
	// The task's status says what of the node is waited for.
	{resource: "seinodetasks", before: createEarlyTask, write: createNode, settle: awaitTask},
}

// An operator that waits for its cache to show a write asks the API server after some seconds whether the
// write is still there: it may be gone, and nobody would ever tell.
func TestCache_ThatStaysBehindAWrite_HasTheServerAsked(t *testing.T) {
	for _, v := range views {
		t.Run(v.resource, func(t *testing.T) {
			w := operated(t)
			v.before(w)
			from := w.Recorder.Mark()
			w.Watches.Hold(v.resource)
			v.write(w)
			w.Eventually("the API server to be asked for one of the "+v.resource, func() bool {
				return len(w.Recorder.Since(from).Of(v.resource).Verb("get").Answered(http.StatusOK)) > 0
			})
			w.Watches.Release(v.resource)
			v.settle(w)
		})
	}
}

// bringUp has the controllers of nodes and of fleets work.
func bringUp(w *world.World) {
	w.Create(newFleet("before"))
	awaitReady(w, "before")
}

func deletePod(w *world.World) {
	pod := &corev1.Pod{}
	w.Get(theNode+"-0", pod)
	w.Delete(pod)
}
