package node

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// What is asked of sidecars.

// B3: while a node is brought up its sidecar is asked for its document and given the plan's tasks.
// Nobody asks whether its gate is open, and nobody asks before its container runs.
func TestB3_Initializing_OnlyTheDocumentAndThePlansTasksAreAsked(t *testing.T) {
	w := newOperatedWorld(t)
	held := w.Pods.Rule(podMatch(w.NS, "n-0", "sidecar"), holdContainer())
	remove := w.Sidecars.Program(w.Key("n"), api.ConfigureGenesis, sidecarsim.Outcome{Hang: true})
	w.Create(fullNode("n"))
	w.awaitPod("n-0", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	if got := w.Sidecars.Requests(w.Key("n")); len(got) != 0 {
		t.Errorf("asked before it runs: %+v", got)
	}
	held()
	w.Eventually("the genesis task", func() bool { return count(w.Sidecars.Submissions(w.Key("n")), api.ConfigureGenesis) == 1 })
	if n := w.node("n"); n.Status.Phase != v1alpha1.NodeInitializing {
		t.Fatalf("phase %s, want %v", n.Status.Phase, v1alpha1.NodeInitializing)
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{"look": "again"} })
	looks := len(w.Sidecars.Requests(w.Key("n")))
	w.Eventually("another look", func() bool { return len(w.Sidecars.Requests(w.Key("n"))) > looks })
	for _, r := range w.Sidecars.Requests(w.Key("n")) {
		document := r.Method == http.MethodGet && r.Path == api.PathNode
		if task := strings.HasPrefix(r.Path, "/v0/tasks"); !document && !task {
			t.Errorf("an initializing node was asked %s %s", r.Method, r.Path)
		}
	}
	remove()
}

// A sidecar of an older level has no document. What it cannot tell the operator remembers, and no
// gate of it is opened on files that were not validated.
func TestOlderSidecar_WholeLifeOfANode(t *testing.T) {
	w := newOlderWorld(t)
	w.Sidecars.SetLevel(w.Key("n"), api.LevelNode-1)
	w.bringUp(fullNode("n"))
	submitted := w.Sidecars.Submissions(w.Key("n"))
	for _, task := range []api.TaskType{api.ConfigureGenesis, api.ConfigApply, api.ConfigValidate, api.MarkReady} {
		if count(submitted, task) != 1 {
			t.Errorf("%s was submitted %d times in %v", task, count(submitted, task), submitted)
		}
	}
	w.override("n", "evm.http_port", "8547")
	w.await("n", settled)
	w.losePod("n")
	w.await("n", settled)
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("n", settled)
	opened := false
	for _, task := range w.Sidecars.Submissions(w.Key("n")) {
		switch task {
		case api.MarkReady:
			if opened {
				t.Error("the gate was opened without a validation")
			}
			opened = true
		case api.ConfigValidate:
			opened = false
		}
	}
	w.sound()
}
