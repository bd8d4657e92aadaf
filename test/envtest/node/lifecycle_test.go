package node

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
)

// The figure of API writes per node is printed, and bounded: at most 9 with events.
func TestFullNode_FromNothingToInSync_WritesLittleAndThenNothing(t *testing.T) {
	w := newOperatedWorld(t)
	mark, began := w.Recorder.Mark(), time.Now()
	w.bringUp(fullNode("full"))
	allowed := w.allowedWrites("full", 9, began)
	writes := w.Recorder.Since(mark).Writes().In(w.NS).Where(notTheAuthority)
	t.Logf("API requests from creation to Running and in sync:\n%s", w.Recorder.Since(mark).In(w.NS).Table())
	if len(writes) > allowed {
		t.Errorf("%d writes, want at most %d", len(writes), allowed)
	}
	if reads := w.Recorder.Since(mark).Reads().In(w.NS).Where(notTheAuthority); len(reads) > 0 {
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
	w.awaitEvent(events.PhaseChanged) // it may come after the status that it reports
	mark, began := w.Recorder.Mark(), time.Now()
	w.edit("full", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("full", settled)
	allowed := w.allowedWrites("full", 7, began)
	requests := w.Recorder.Since(mark).In(w.NS)
	t.Logf("API requests of an image change:\n%s", requests.Table())
	writes := requests.Writes()
	if len(writes) > allowed {
		t.Errorf("%d writes, want at most %d", len(writes), allowed)
	}
	if conflicts := writes.Answered(409); len(conflicts) > 0 {
		t.Errorf("conflicts:\n%s", conflicts.Table())
	}
	if reads := requests.Reads(); len(reads) > 0 {
		t.Errorf("%d reads that the cache could have answered:\n%s", len(reads), reads.Table())
	}
}

// allowedWrites is how many writes a node may cost since a moment: so many as it costs when all goes
// quickly, and what only a slow machine shows on the way. A task of the sidecar that outlives its pass
// is noted in the plan, and a wait of more than three seconds is told.
func (w nodes) allowedWrites(name string, quickly int, since time.Time) int {
	asked := map[string]int{}
	for _, r := range w.Sidecars.Requests(w.Key(name)) {
		if path, _, _ := strings.Cut(r.Path, "?"); r.Method == http.MethodGet && strings.HasPrefix(path, "/v0/tasks/") && r.Time.After(since) {
			asked[path]++
		}
	}
	allowed := quickly + int(time.Since(since)/(3*time.Second))
	for _, times := range asked {
		if times > 2 { // looked up before it was submitted, and waited for once
			allowed++
		}
	}
	return allowed
}
