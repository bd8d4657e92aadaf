package node

import (
	"testing"
)

// The figure of API writes per node is printed, and bounded: at most 10 with events.
func TestFullNode_FromNothingToInSync_WritesLittleAndThenNothing(t *testing.T) {
	w := newOperatedWorld(t)
	mark := w.recorder.Mark()
	w.bringUp(fullNode("full"))
	writes := w.recorder.Since(mark).Writes().In(w.ns)
	t.Logf("API requests from creation to Running and in sync:\n%s", w.recorder.Since(mark).In(w.ns).Table())
	if len(writes) > 10 {
		t.Errorf("%d writes, want at most 10", len(writes))
	}
	if reads := w.recorder.Since(mark).Reads().In(w.ns); len(reads) > 0 {
		t.Errorf("%d reads that the cache could have answered:\n%s", len(reads), reads.Table())
	}
	if conflicts := writes.Answered(409); len(conflicts) > 0 {
		t.Errorf("conflicts:\n%s", conflicts.Table())
	}
	seen := map[string]int{}
	for _, task := range w.sidecars.Submissions(w.key("full")) {
		seen[string(task)]++
	}
	for task, times := range seen {
		if times != 1 {
			t.Errorf("%s was posted %d times", task, times)
		}
	}
}
