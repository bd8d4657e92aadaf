package trial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

const (
	// DefaultTimeout is how long seid may take to start. It takes a second or two; a wrapper
	// around it, or a container with little CPU, can take a minute, and must not be mistaken
	// for a configuration on which seid hangs: the node would never start.
	DefaultTimeout = 2 * time.Minute
	lookEvery      = 25 * time.Millisecond
	// needed is what a trial may write at most.
	needed = 256 << 20
	// attempts is how often a trial is made when somebody took a port that was free.
	attempts = 3
)

// attempt is one trial of a configuration.
type attempt struct {
	home, binary, version string
	files                 config.Files
	timeout               time.Duration
}

// skip is a trial that says nothing of the configuration.
func skip(format string, args ...any) Result {
	return Result{Skipped: "not tried: " + fmt.Sprintf(format, args...)}
}

// run tries the configuration. The error is that of ctx.
func (a attempt) run(ctx context.Context) (Result, error) {
	if free, err := durable.Free(a.home); err == nil && free < needed {
		return skip("%d MiB are free on the volume, a trial start needs %d", free>>20, needed>>20), nil
	}
	from, err := template(ctx, a.home, a.binary, a.version)
	if err != nil {
		return skip("%v", err), context.Cause(ctx)
	}
	scratch := filepath.Join(a.home, "tmp", "trial")
	defer func() { _ = os.RemoveAll(scratch) }() // the next one removes it first
	result := Result{}
	for range attempts {
		var again bool
		if result, again, err = a.once(ctx, from, scratch); err != nil || !again {
			break
		}
	}
	return result, err
}

// once makes one attempt; again means that another may have a better outcome.
func (a attempt) once(ctx context.Context, from, scratch string) (result Result, again bool, err error) {
	trial, err := a.prepare(from, scratch)
	if err != nil {
		return skip("%v", err), false, nil
	}
	limited, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	said, err := start(limited, a.binary, scratch, trial)
	switch {
	case ctx.Err() != nil:
		return Result{}, false, fmt.Errorf("trying the configuration: %w", context.Cause(ctx))
	case err == nil:
		return Result{Tried: true}, false, nil
	case errors.Is(err, context.DeadlineExceeded):
		return Result{Tried: true, unsure: true, Refused: fmt.Sprintf("seid did not start within %s", a.timeout)}, false, nil
	}
	return judge(err, said)
}

// judge tells a refusal from an accident.
func judge(err error, said string) (result Result, again bool, _ error) {
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case errors.Is(err, errEndedByItself):
		return Result{Tried: true, Refused: fmt.Sprintf("%v: %s", err, said)}, false, nil
	case !ended:
		return skip("%v", err), false, nil
	case strings.Contains(said, "address already in use"):
		return skip("%s", said), true, nil
	case strings.Contains(said, "no space left on device"):
		return skip("the volume is full: %s", said), false, nil
	case strings.Contains(said, "cannot allocate memory"), strings.Contains(said, "out of memory"):
		return skip("there is not enough memory: %s", said), false, nil
	}
	status, _ := exit.Sys().(syscall.WaitStatus)
	if status.Signaled() && status.Signal() == syscall.SIGKILL {
		return skip("seid was killed while it started, which is what happens when memory runs out"), false, nil
	}
	if status.Signaled() {
		return Result{Tried: true, Refused: fmt.Sprintf("seid was ended by signal %s: %s", status.Signal(), said)}, false, nil
	}
	return Result{Tried: true, Refused: fmt.Sprintf("seid ended with exit code %d: %s", exit.ExitCode(), said)}, false, nil
}

// prepare makes the scratch home.
func (a attempt) prepare(from, scratch string) (config.Trial, error) {
	if err := os.RemoveAll(scratch); err != nil {
		return config.Trial{}, fmt.Errorf("making the scratch home: %w", err)
	}
	trial, err := config.ForTrial(a.files, config.Scratch{Dir: scratch, Home: a.home, Listen: freeAddress})
	if err != nil {
		return trial, err
	}
	for _, dir := range []string{"config", "data", "tmp", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(scratch, dir), 0o750); err != nil {
			return trial, fmt.Errorf("making the scratch home: %w", err)
		}
	}
	return trial, errors.Join(copyTemplate(from, scratch), config.Write(filepath.Join(scratch, "config"), trial.Files))
}

// freeAddress is one of the loopback interface, of IPv6 where there is no other.
func freeAddress() (string, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		listener, err = net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv6loopback})
	}
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// start runs seid until it is up or has ended, and ends it. It returns nil when it was up,
// the error of ctx when that ended first, and else how seid ended, with its own words.
func start(ctx context.Context, binary, scratch string, trial config.Trial) (said string, err error) {
	heard := &words{}
	cmd := exec.Command(binary, "start", "--home", scratch) //nolint:gosec,noctx // it is what the gate runs too, and ended below
	cmd.Dir = scratch
	cmd.Env = append(os.Environ(), "HOME="+scratch, "TMPDIR="+filepath.Join(scratch, "tmp"))
	cmd.Stdout, cmd.Stderr = heard, heard
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		// The kernel sends the death signal when the thread that started the child ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return "", err
	}
	exited, err := await(ctx, trial, ended)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its children too
	if !exited {
		<-ended
	}
	return heard.String(), err
}

// await looks until seid listens and has stayed alive for as long as it has to. exited tells
// that it has ended by itself.
func await(ctx context.Context, trial config.Trial, ended <-chan error) (exited bool, err error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var settled <-chan time.Time
	for {
		select {
		case err := <-ended:
			if err == nil {
				err = errEndedByItself
			}
			return true, err
		case <-ctx.Done():
			return false, ctx.Err()
		case <-settled:
			return false, nil
		case <-tick.C:
		}
		if settled == nil && trial.Ready != "" && accepts(ctx, trial.Ready) {
			timer := time.NewTimer(trial.Settle)
			defer timer.Stop()
			settled = timer.C
		}
	}
}

var errEndedByItself = errors.New("seid ended by itself without an error")

func accepts(ctx context.Context, address string) bool {
	dialer := net.Dialer{Timeout: lookEvery}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
