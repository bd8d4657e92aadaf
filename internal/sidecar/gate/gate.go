// Package gate is the parent of the chain process. It holds seid back until the sidecar
// beside it says go and the key and the configuration are those that were agreed to, starts
// it, passes on what it writes, asks it to end at most once, and records its life on the
// volume. It must work in an image without a shell, and it is always there: no more enters
// than that needs.
package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

const (
	pollEvery    = 250 * time.Millisecond
	probeTimeout = 2 * time.Second
	// orderEvery is how often the gate looks for an order to end seid.
	orderEvery = 250 * time.Millisecond
	// noteEvery is how often progress is noted for those who wait for it.
	noteEvery = 10 * time.Second
	// drainOutput is how long what a process left in its pipes is waited for.
	drainOutput = 2 * time.Second
)

// Gate is a closed gate.
type Gate struct {
	// Sidecar is the address of the sidecar, such as http://127.0.0.1:7777.
	Sidecar string
	// Home is the node's home; without one nothing is recorded and no key is compared.
	Home string
	Log  *slog.Logger
	// Stdout and Stderr get what the command writes.
	Stdout, Stderr io.Writer
	// Rules are asked before seid is started.
	Rules Rules
	// WhileWaiting, when set, is called on every poll while seid does not run.
	WhileWaiting func(context.Context)
	// Running, when set, is called once seid runs: from then on the gate does next to nothing.
	Running func()
	// NoteEvery is how often progress of seid is noted; 0 means every 10 seconds.
	NoteEvery time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Rules is what the gate has to know of the configuration on disk. A nil function is not
// asked.
type Rules struct {
	// ConfigHash names the configuration on disk.
	ConfigHash func() (string, error)
	// MayStart says why seid must not start on it.
	MayStart func(context.Context) error
	// Environment is what seid gets beside the gate's own. It may take a while: it is asked for before
	// the record says that seid is about to be started.
	Environment func(context.Context) []string
	// Starting is called right before seid is started.
	Starting func() error
}

// ExitError is a command that ended with a code other than the one that is fine.
type ExitError struct{ Code int }

// Error implements error.
func (e *ExitError) Error() string { return fmt.Sprintf("the command ended with exit code %d", e.Code) }

// Run waits until the gate is open and runs argv as a child. It returns nil when the child
// ends with 0, and an ExitError with its code otherwise.
//
// With okExit it is a Job that waits for seid's halt height: these codes are success too,
// and nothing is when somebody asked seid to end. At its halt height seid sends itself
// SIGINT and SIGTERM and ends with 0, 130 or 143; asked from outside it ends the same way,
// and is not done.
func (g Gate) Run(ctx context.Context, argv []string, okExit ...int) error {
	// A misspelt command is found out now, not when the gate opens in an hour.
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("looking for the command to run: %w", err)
	}
	// From here on no signal is lost between waiting and running.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)

	j := &journal{Gate: g}
	release, err := j.open(ctx)
	if err != nil {
		return err
	}
	defer release()
	// The child dies with the thread that started it, so the thread is kept.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	child, err := g.launch(ctx, signals, path, argv, j)
	if err != nil {
		return err
	}
	return judge(child.watch(signals), okExit)
}

// launch waits until seid may start and starts it. It waits again when what was agreed to has changed
// before seid was started.
func (g Gate) launch(ctx context.Context, signals <-chan os.Signal, path string, argv []string, j *journal) (*child, error) {
	for {
		if err := g.wait(ctx, j); err != nil {
			return nil, err
		}
		select {
		case s := <-signals:
			return nil, fmt.Errorf("waiting at the gate: %s", s)
		default:
		}
		child, err := g.start(ctx, path, argv, j)
		if !errors.Is(err, errChanged) {
			return child, err
		}
		g.Log.Info("waiting at the gate", "reason", err.Error())
		j.update(judged(j.record, verdict{waiting: err.Error()}))
	}
}

func (g Gate) now() time.Time {
	if g.Now != nil {
		return g.Now()
	}
	return time.Now()
}

// journal keeps the record on the volume. What cannot be written is logged: a record is
// not worth a node that does not run.
type journal struct {
	Gate
	record supervision.Record
	// agreed is what seid was let through with, and environment what it gets beside the gate's own.
	agreed      basis
	environment []string
}

// open takes the home over from the gate before: it waits until that one and its process
// are gone, for two processes on one home would damage it. It also waits while the lock cannot be
// taken: without it there is no record, and so nothing that keys and orders to end are compared with.
func (j *journal) open(ctx context.Context) (release func(), err error) {
	if j.Home == "" {
		return func() {}, nil
	}
	tick := time.NewTicker(orderEvery)
	defer tick.Stop()
	for said := ""; ; {
		if release, err = supervision.Watch(j.Home); err == nil {
			break
		}
		if reason := j.whyNotWatched(err); reason != said {
			j.Log.Info("waiting at the gate", "reason", reason)
			said = reason
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the gate's lock: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
	if err := j.takeOver(ctx, tick); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// whyNotWatched says why the lock is not taken, and what to do unless it takes care of itself.
func (j *journal) whyNotWatched(err error) string {
	if errors.Is(err, supervision.ErrWatched) {
		return err.Error()
	}
	return fmt.Sprintf("seid is not started: %v; without this lock a second seid could use the home, and no key is compared; "+
		"make %s a directory that user %d can write, on a volume with free space that supports file locks",
		err, supervision.Path(j.Home, ""), os.Getuid())
}

func (j *journal) takeOver(ctx context.Context, tick *time.Ticker) error {
	before, err := supervision.Read(j.Home)
	if err != nil {
		j.Log.Error("the record of the last process cannot be read", "error", err)
	}
	for said := false; before.Process() != nil; said = true {
		if !said {
			j.Log.Info("waiting at the gate", "reason", "the process of the gate before has not ended", "pid", before.PID)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the process before: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
	if before.State == api.SeidRunning {
		before = before.Lost(j.now().UTC())
	}
	j.record = supervision.Record{State: api.SeidWaiting, Since: j.now().UTC(), Starts: before.Starts, LastExit: before.LastExit}
	j.save()
	if err := supervision.Reserve(j.Home); err != nil {
		j.Log.Warn("the end of seid may not be recorded when the disk is full", "error", err)
	}
	return nil
}

func (j *journal) save() {
	if j.Home == "" {
		return
	}
	if err := supervision.Write(j.Home, j.record); err != nil {
		j.Log.Error("recording the process", "error", err)
	}
}
