package gate

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// Who waits for seid to start cannot see its process, and waits for as long as the gate notes
// progress.
//
// The share of a CPU is measured by the gate's clock. Here it moves by a step whenever it is read: no
// machine is too slow to use that share of a millisecond, and none fast enough to use that of an hour.
func TestRun_ProgressOfAProcessThatSaysNothing_IsTheCPUThatItUses(t *testing.T) {
	for name, tc := range map[string]struct {
		loop  string
		step  time.Duration
		noted bool
	}{
		"busy":  {":", time.Millisecond, true},
		"hangs": {"sleep 0.02", time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := gateAt(t, opened)
			seen, began := observe(&g), time.Now()
			g.Now = func() time.Time { return began.Add(time.Duration(seen.clock.Add(1)) * tc.step) }
			g.NoteEvery = time.Nanosecond
			ready := filepath.Join(t.TempDir(), "ready")
			done := make(chan error, 1)
			go func() {
				done <- g.Run(t.Context(), []string{"sh", "-c", "touch " + ready + "; while [ -e " + ready + " ]; do " + tc.loop + "; done"})
			}()
			awaitFile(t, ready)
			noted := func() bool { return !supervision.LastProgress(g.Home).IsZero() }
			if tc.noted {
				await(t, "progress is noted", done, noted)
			} else if seen.awaitLook(t, done); noted() {
				t.Errorf("progress was noted at %s, want none of a process that hangs", supervision.LastProgress(g.Home))
			}
			if err := os.Remove(ready); err != nil {
				t.Fatal(err)
			}
			if got := codeOf(t, <-done); got != 0 {
				t.Errorf("exit code %d, want 0", got)
			}
		})
	}
}
