package node

import (
	"testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// The figure of API writes per node is printed, and bounded: at most 10 with events.
func TestFullNode_FromNothingToInSync_WritesLittleAndThenNothing(t *testing.T) {
	w := newOperatedWorld(t)
	mark := w.Recorder.Mark()
	w.bringUp(fullNode("full"))
	writes := w.Recorder.Since(mark).Writes().In(w.NS)
	t.Logf("API requests from creation to Running and in sync:\n%s", w.Recorder.Since(mark).In(w.NS).Table())
	if len(writes) > 10 {
		t.Errorf("%d writes, want at most 10", len(writes))
	}
	if reads := w.Recorder.Since(mark).Reads().In(w.NS); len(reads) > 0 {
		t.Errorf("%d reads that the cache could have answered:\n%s", len(reads), reads.Table())
	}
	if conflicts := writes.Answered(409); len(conflicts) > 0 {
		t.Errorf("conflicts:\n%s", conflicts.Table())
	}
	seen := map[string]int{}
	for _, task := range w.Sidecars.Submissions(w.Key("full")) {
		seen[string(task)]++
	}
	for task, times := range seen {
		if times != 1 {
			t.Errorf("%s was posted %d times", task, times)
		}
	}
}

func TestImageChange_WritesLittleAndReadsNothing(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("full"))
	mark := w.Recorder.Mark()
	w.edit("full", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("full", settled)
	requests := w.Recorder.Since(mark).In(w.NS)
	t.Logf("API requests of an image change:\n%s", requests.Table())
	if writes := requests.Writes(); len(writes) > 10 {
		t.Errorf("%d writes, want at most 10", len(writes))
	}
	if reads := requests.Reads(); len(reads) > 0 {
		t.Errorf("%d reads that the cache could have answered:\n%s", len(reads), reads.Table())
	}
}
