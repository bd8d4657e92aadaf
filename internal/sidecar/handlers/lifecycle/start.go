package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// awaitStart waits until the node answers, for as long as it makes progress. A node that
// opens no RPC has started when it has lived for a while.
func (t *Tasks) awaitStart(ctx context.Context, task engine.Task) (serving bool, err error) {
	timing := t.Timing.withDefaults()
	watch := startWatch{Tasks: t, timing: timing, progressAt: time.Now()}
	opens, err := t.OpensRPC()
	if err != nil {
		return false, err
	}
	for {
		if t.serving(ctx) {
			return true, nil
		}
		r, _, err := t.visible()
		if err != nil {
			return false, err
		}
		if r != nil && !opens && t.youth(r) >= timing.Alive {
			return false, nil
		}
		if err := watch.judge(r); err != nil {
			return false, err
		}
		if r != nil {
			task.Progress(api.Progress{Message: fmt.Sprintf("seid is running (process %d) but does not answer yet", r.pid)})
		}
		if err := pause(ctx, jittered(timing.Poll)); err != nil {
			return false, err
		}
	}
}

// youth is how long ago a process was started.
func (t *Tasks) youth(r *running) time.Duration {
	if r.started.IsZero() {
		return 0
	}
	return time.Since(r.started)
}

// busy is the share of a CPU from which on a process counts as one that does something;
// one that hangs still keeps time.
const busy = 0.05

// startWatch judges whether a node that does not answer yet makes progress.
type startWatch struct {
	*Tasks
	timing Timing
	// starts is the number of starts when the wait began; -1 until it is known.
	first  bool
	starts int
	// closedSince is since when the node waits behind its gate.
	closedSince time.Time

	identity   string
	cpu        time.Duration
	cpuAt      time.Time
	noted      time.Time // by the gate
	data       time.Time
	progressAt time.Time
}

// judge gives up on a node that cannot start, is crash-looping, or makes no progress.
func (w *startWatch) judge(r *running) error {
	record, err := supervision.Read(string(w.Node.Home))
	if err != nil {
		return err
	}
	if !w.first {
		w.first, w.starts = true, record.Starts
	}
	if err := w.checkGate(record); err != nil {
		return err
	}
	if err := w.checkCrashes(record); err != nil {
		return err
	}
	now := time.Now()
	if w.moved(r, now) {
		w.progressAt = now
	}
	if now.Sub(w.progressAt) < w.timing.Stall {
		return nil
	}
	if r == nil {
		return stalled(fmt.Errorf("seid did not come back within %s", w.timing.Stall))
	}
	return stalled(fmt.Errorf("seid is running (process %d) but does not answer and has made no progress for %s", r.pid, w.timing.Stall))
}

func stalled(err error) error {
	return api.Retryable(api.CodeUnavailable, err).WithHint("look at the log of the seid container; stop-seid ends a process that hangs")
}

// checkGate gives up on a node that the gate holds back: nothing here can open it.
func (w *startWatch) checkGate(record supervision.Record) error {
	why := record.Waiting + record.Refusal
	if record.State != api.SeidWaiting || why == "" {
		w.closedSince = time.Time{}
		return nil
	}
	if w.closedSince.IsZero() {
		w.closedSince = time.Now()
	}
	if time.Since(w.closedSince) < w.timing.Closed {
		return nil
	}
	return api.Retryable(api.CodePrecondition, errors.New("seid is waiting for the start gate to open: "+why)).WithHint("run mark-ready")
}

// maxCrashes is how many starts may fail before it is no use to wait for the next.
const maxCrashes = 3

func (w *startWatch) checkCrashes(record supervision.Record) error {
	exit := record.LastExit
	if record.State == api.SeidRunning || exit == nil || record.Starts-w.starts < maxCrashes {
		return nil
	}
	return api.Retryable(api.CodeUnavailable, fmt.Errorf("seid is crash-looping: %d starts, last exit code %d (%s): %s",
		record.Starts-w.starts, exit.Code, exit.Reason, exit.Message)).WithHint("look at the log of the seid container")
}

// moved reports whether anything has happened: another process, time on a CPU or output, which the
// gate notes, or a change of the data.
func (w *startWatch) moved(r *running, now time.Time) bool {
	moved := false
	if noted := supervision.LastProgress(string(w.Node.Home)); noted.After(w.noted) {
		moved, w.noted = !w.noted.IsZero(), noted
	}
	if data := newest(w.Node.Home.Data()); data.After(w.data) {
		moved, w.data = moved || !w.data.IsZero(), data
	}
	if r == nil || r.identity != w.identity {
		changed := r != nil
		w.identity, w.cpu, w.cpuAt = "", 0, now
		if changed {
			w.identity = r.identity
		}
		return moved || changed
	}
	window := min(30*time.Second, w.timing.Stall/4)
	if r.seen == nil || now.Sub(w.cpuAt) < window {
		return moved
	}
	cpu := r.seen.CPUTime()
	moved = moved || float64(cpu-w.cpu) >= busy*float64(now.Sub(w.cpuAt))
	w.cpu, w.cpuAt = cpu, now
	return moved
}

// newest is when an entry of a directory was changed last.
func newest(dir string) time.Time {
	var last time.Time
	entries, err := os.ReadDir(dir)
	if err != nil {
		return last
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}
