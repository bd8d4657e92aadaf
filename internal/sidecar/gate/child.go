package gate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// child is the running chain process.
type child struct {
	*journal
	cmd     *exec.Cmd
	output  *output
	started time.Time
	// asked: somebody wanted it to end.
	asked bool
	// seen is the process as the kernel shows it, checked when its progress was looked at last, and
	// cpu what it had used by then.
	seen    *process.Node
	checked time.Time
	cpu     time.Duration
}

// end is how a child ended.
type end struct {
	code   int
	signal syscall.Signal // 0 when it ended by itself
	asked  bool
}

func (g Gate) start(ctx context.Context, path string, argv []string, j *journal) (*child, error) {
	record, err := g.beginning(j)
	if err != nil {
		return nil, err
	}
	j.repairPeerStore()
	j.clearInterruptedStateSync(ctx)
	c := &child{journal: j, output: &output{}, started: g.now().UTC()}
	c.cmd = exec.Command(path, argv[1:]...) //nolint:gosec,noctx // running it is what a gate is for, and signals end it
	c.cmd.Args[0] = argv[0]
	c.cmd.Env = withUserHome(withoutSigning(os.Environ()), j.Home)
	c.cmd.Env = append(c.cmd.Env, j.environment...)
	c.cmd.Stdin = os.Stdin
	c.cmd.Stdout, c.cmd.Stderr = c.output.stream(g.Stdout), c.output.stream(g.Stderr)
	c.cmd.WaitDelay = drainOutput
	// A gate that is killed leaves nobody behind whom nobody watches. The signal is the
	// one that seid understands.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	// Nothing comes between this and the start.
	if err := j.unchanged(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("running %s: %w", path, err)
	}
	g.Log.Info("gate is open", "command", argv, "pid", c.cmd.Process.Pid, "configHash", record.ConfigHash, "consensusAddress", record.ConsensusAddress)
	record.State, record.Since, record.Starts = api.SeidRunning, c.started, j.record.Starts+1
	record.PID, record.PIDNamespace = c.cmd.Process.Pid, process.Namespace()
	record.BootID, record.LastExit = process.BootID(), j.record.LastExit
	if c.seen = (process.Table{}).At(record.PID); c.seen != nil {
		record.StartTicks = c.seen.StartTicks()
	}
	j.record = record
	j.save()
	return c, nil
}

// withoutSigning drops variables by which an image would have seid sign otherwise than its files
// say: the gate judges by the files.
func withoutSigning(environment []string) []string {
	return slices.DeleteFunc(environment, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return config.SigningVariable(name)
	})
}

// beginning is the record of what seid is about to be started with.
func (g Gate) beginning(j *journal) (supervision.Record, error) {
	var record supervision.Record
	if j.Home == "" {
		return record, nil
	}
	signs, key, _ := signing(j.Home)
	if signs != api.GateAddressUnknown {
		record.ConsensusAddress = signs
	}
	record.Key = key
	if g.Rules.ConfigHash != nil {
		hash, err := g.Rules.ConfigHash()
		if err != nil {
			return record, fmt.Errorf("reading which configuration seid starts with: %w", err)
		}
		record.ConfigHash = hash
	}
	if g.Rules.Starting != nil {
		if err := g.Rules.Starting(); err != nil {
			// Without it there is no way to tell later what a restart would change; seid runs all the same.
			g.Log.Error("keeping the files that seid starts with", "error", err)
		}
	}
	return record, nil
}

// watch passes signals on, follows orders and returns when the child has ended.
func (c *child) watch(signals <-chan os.Signal) end {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.cmd.Wait() // how it ended is in ProcessState
	}()
	tick := time.NewTicker(orderEvery)
	defer tick.Stop()
	if c.Running != nil {
		c.Running()
	}
	for {
		select {
		case s := <-signals:
			c.pass(s)
		case <-tick.C:
			c.look()
		case <-done:
			return c.ended()
		}
	}
}

// pass passes a signal on. Those that ask seid to end are passed on once.
func (c *child) pass(s os.Signal) {
	sig, _ := s.(syscall.Signal)
	switch sig {
	case syscall.SIGTERM, syscall.SIGINT:
		c.terminate(sig, "the container's end")
	default:
		c.asked = true
		_ = c.cmd.Process.Signal(s) // it may have ended in this moment
	}
}

// terminate asks the child to end unless that was done. It is recorded first: a sidecar
// that starts over must know it.
func (c *child) terminate(sig syscall.Signal, by string) {
	if c.record.TermAt != nil {
		c.Log.Info("seid was asked to end already and is waited for", "by", by, "first", c.record.TermBy)
		return
	}
	now := c.now().UTC()
	c.record.TermAt, c.record.TermBy = &now, by
	c.asked = true
	c.save()
	c.Log.Info("asking seid to end", "by", by, "signal", sig.String())
	_ = c.cmd.Process.Signal(sig) // it may have ended in this moment
}

// look follows orders and tells what has become known meanwhile.
func (c *child) look() {
	if c.Home == "" {
		return
	}
	said := c.output.said()
	if said.upgrade != nil && c.record.Upgrade == nil || !reflect.DeepEqual(said.divergence, c.record.Divergence) {
		c.record.Upgrade, c.record.Divergence = said.upgrade, said.divergence
		c.save()
	}
	c.noteProgress()
	order, err := supervision.ReadOrder(c.Home)
	if err != nil {
		c.Log.Error("reading an order", "error", err)
		return
	}
	if order.Target != "" && order.Target == c.record.Identity() && c.record.TermAt == nil {
		c.terminate(syscall.SIGTERM, order.By)
	}
}

// noteProgress tells those who wait for seid to start whether it does something. They cannot see
// its process.
func (c *child) noteProgress() {
	now := c.now()
	if now.Sub(c.checked) < cmp.Or(c.NoteEvery, noteEvery) {
		return
	}
	wrote, worked := c.output.last().After(c.checked), c.worked(now)
	c.checked = now
	if !wrote && !worked {
		return
	}
	if err := supervision.NoteProgress(c.Home, now); err != nil {
		c.Log.Debug("noting progress", "error", err)
	}
}

// busy is the share of a CPU from which on a process counts as one that does something;
// one that hangs still keeps time.
const busy = 0.05

// worked reports whether the process has used its CPU since it was looked at last.
func (c *child) worked(now time.Time) bool {
	if c.seen == nil {
		return false
	}
	before := c.cpu
	c.cpu = c.seen.CPUTime()
	return float64(c.cpu-before) >= busy*float64(now.Sub(c.checked))
}

func (c *child) ended() end {
	e := end{code: c.cmd.ProcessState.ExitCode(), asked: c.asked}
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal, e.code = status.Signal(), 128+int(status.Signal())
	}
	exit := c.explain(e)
	c.Log.Info("seid has ended", "code", e.code, "reason", exit.Reason, "signal", exit.Signal, "message", exit.Message)
	c.record = c.record.Exited(exit)
	c.save()
	return e
}
