// Package crashtest runs the real sidecar binary as a child process, kills it
// and starts it again, so that tests can see what survives. It is for tests
// only; nothing of the product imports it.
package crashtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// startTimeout bounds the wait for a sidecar to listen.
const startTimeout = 30 * time.Second

// Sidecar is a sidecar process over a home. Its methods fail the test on any
// error that a living sidecar does not give.
type Sidecar struct {
	t    testing.TB
	home string
	env  []string
	pool *client.Pool

	process *process
	log     logBuffer
}

// process is one life of the sidecar.
type process struct {
	cmd     *exec.Cmd
	address string
	exited  chan struct{} // closed when it is gone and its output was read
}

// Start runs the sidecar over home with a chain id, no authentication and a free
// port; env adds to that and overrides it. The sidecar is killed when the test
// ends.
func Start(tb testing.TB, home string, env ...string) *Sidecar {
	tb.Helper()
	env = slices.Concat([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SEI_HOME=" + home, "SEI_CHAIN_ID=crash-1",
		"SEI_SIDECAR_PORT=0", "SEI_SIDECAR_AUTHN_MODE=unauthenticated",
	}, env)
	s := &Sidecar{t: tb, home: home, env: env, pool: client.NewPool(client.Options{})}
	tb.Cleanup(func() {
		s.Kill()
		s.pool.CloseIdle()
		if tb.Failed() {
			tb.Logf("log of the sidecar:\n%s", s.Log())
		}
	})
	s.Restart()
	return s
}

// Restart starts the sidecar, which must not be running, over the same home. It
// returns when the sidecar listens.
func (s *Sidecar) Restart() {
	s.t.Helper()
	if s.process != nil {
		s.t.Fatal("the sidecar is running already")
	}
	cmd := exec.Command(Binary(s.t), "serve")
	cmd.Env = s.env
	cmd.Dir = s.home
	// A group of its own, so that a kill takes its children along as the end of
	// a container does.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	p := &process{cmd: cmd, exited: make(chan struct{})}
	s.process = p
	listening := make(chan string, 1)
	go func() {
		defer close(p.exited)
		s.log.follow(stderr, listening)
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
	}()
	select {
	case p.address = <-listening:
	case <-p.exited:
		s.process = nil
		s.t.Fatalf("the sidecar ended at once: %v\n%s", cmd.ProcessState, s.Log())
	case <-time.After(startTimeout):
		s.t.Fatalf("the sidecar does not listen:\n%s", s.Log())
	}
}

// Kill ends the sidecar and its children with SIGKILL and waits until they are
// gone. It does nothing when the sidecar is not running.
func (s *Sidecar) Kill() {
	if s.process == nil {
		return
	}
	_ = syscall.Kill(-s.process.cmd.Process.Pid, syscall.SIGKILL) // it may have ended by itself
	<-s.process.exited
	s.process = nil
}

// Terminate ends the sidecar with SIGTERM and returns its exit code.
func (s *Sidecar) Terminate() int {
	s.t.Helper()
	if err := s.process.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	<-s.process.exited
	code := s.process.cmd.ProcessState.ExitCode()
	s.process = nil
	return code
}

// Pid is the process id of the running sidecar.
func (s *Sidecar) Pid() int { return s.process.cmd.Process.Pid }

// URL is where the running sidecar listens. It changes with every restart.
func (s *Sidecar) URL() string { return "http://" + s.process.address }

// Client talks to the running sidecar.
func (s *Sidecar) Client() client.Sidecar {
	return s.pool.Sidecar(client.Target{Address: s.process.address})
}

// Log is what all lives of the sidecar have written.
func (s *Sidecar) Log() string { return s.log.String() }

// Submit stores a task; params may be nil. An empty id asks for a new one.
func (s *Sidecar) Submit(t api.TaskType, id string, params any) string {
	s.t.Helper()
	got, err := s.Client().Submit(s.t.Context(), s.request(t, id, params))
	if err != nil {
		s.t.Fatalf("submitting %s: %v", t, err)
	}
	return got
}

// Await returns a task when it has ended.
func (s *Sidecar) Await(id string) api.TaskResult {
	s.t.Helper()
	for s.t.Context().Err() == nil {
		task, err := s.Client().Get(s.t.Context(), id, 20*time.Second)
		if err != nil {
			s.t.Fatalf("waiting for task %s: %v", id, err)
		}
		if task.Status.Terminal() {
			return task
		}
	}
	s.t.Fatalf("waiting for task %s: %v", id, context.Cause(s.t.Context()))
	return api.TaskResult{}
}

// Run submits a task and returns its end.
func (s *Sidecar) Run(t api.TaskType, params any) api.TaskResult {
	s.t.Helper()
	return s.Await(s.Submit(t, "", params))
}

func (s *Sidecar) request(t api.TaskType, id string, params any) api.TaskRequest {
	s.t.Helper()
	req := api.TaskRequest{ID: id, Type: t}
	if params != nil {
		raw, err := json.Marshal(params)
		if err != nil {
			s.t.Fatal(err)
		}
		req.Params = raw
	}
	return req
}

// logBuffer keeps what the sidecar writes.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// follow reads until the writer is gone and passes on the address that the
// sidecar says it listens on.
func (l *logBuffer) follow(r io.Reader, listening chan<- string) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		l.mu.Lock()
		l.buf.WriteString(line)
		l.mu.Unlock()
		var entry struct{ Msg, Address string }
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" {
			listening <- entry.Address
		}
		if err != nil {
			return
		}
	}
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// gone reports whether err is what a caller sees of a killed sidecar.
func gone(err error) bool { return errors.Is(err, client.ErrUnreachable) }
