package sidecar_test

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/crashtest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

// pod stands in for the kubelet: it starts the node behind the sidecar's gate and
// starts it again whenever it ends, unless it is told not to.
type pod struct {
	t      testing.TB
	stop   context.CancelFunc
	gone   chan struct{}
	starts chan int // the gate's process id at every start
	exits  chan int // the exit code of every end
	once   sync.Once
}

// start opens the gate and runs the node. args are added to `seid start`.
func (n *node) start(args ...string) {
	n.t.Helper()
	n.run(podSpec{restart: true, args: args})
	do[any](n, api.MarkReady, nil)
}

// podSpec is how a node is run.
type podSpec struct {
	// restart starts the node again whenever it ends.
	restart bool
	// gate and args are added to `sidecar gate` and `seid start`.
	gate, args []string
	// seid stands in for the chain binary.
	seid string
	// env is added to the node's environment.
	env []string
}

// run starts the pod without opening the gate.
func (n *node) run(spec podSpec) {
	n.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &pod{t: n.t, stop: cancel, gone: make(chan struct{}), starts: make(chan int, 100), exits: make(chan int, 100)}
	n.pod = p
	log, err := os.OpenFile(filepath.Join(filepath.Dir(n.home), n.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		n.t.Fatal(err)
	}
	command := slices.Concat([]string{"gate", "--port", strconv.Itoa(n.port)}, spec.gate,
		[]string{"--", cmp.Or(spec.seid, handlertest.SeidPath(n.t)), "start", "--home", n.home}, spec.args)
	binary := crashtest.Binary(n.t)
	go func() {
		defer close(p.gone)
		defer func() { _ = log.Close() }()
		// The child dies with the thread that started it, so the thread is kept.
		runtime.LockOSThread()
		for ctx.Err() == nil {
			p.life(ctx, binary, command, append([]string{"HOME=" + n.home}, spec.env...), log)
			if !spec.restart {
				return
			}
		}
	}()
	n.t.Cleanup(func() {
		p.kill()
		if n.t.Failed() {
			n.t.Logf("end of the log of %s:\n%s", n.name, tail(log.Name()))
		}
	})
}

// life is one life of the container.
func (p *pod) life(ctx context.Context, binary string, command, env []string, log *os.File) {
	cmd := exec.CommandContext(ctx, binary, command...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, env...)
	cmd.Stdout, cmd.Stderr = log, log
	// The end of a container is the end of all that is in it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		p.t.Errorf("starting the node: %v", err)
		return
	}
	p.starts <- cmd.Process.Pid
	_ = cmd.Wait() // how it ended is in ProcessState
	p.exits <- exitCode(cmd.ProcessState)
}

// exitCode is what Kubernetes shows: 128 and the signal for a process that died
// of one.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// kill ends the pod for good.
func (p *pod) kill() {
	p.once.Do(func() {
		p.stop()
		<-p.gone
	})
}

func tail(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	const enough = 6000
	return string(data[max(0, len(data)-enough):])
}
