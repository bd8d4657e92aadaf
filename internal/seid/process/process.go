// Package process looks at processes of the container it runs in: the gate at its child, and a
// sidecar at the node in pods of older operators, whose containers share their process namespace
// and whose gate has become the node.
//
// It looks and signals; how long to wait and what to do afterwards is decided
// elsewhere.
package process

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// Table is a process table.
type Table struct {
	// Root is the directory that shows the processes; empty means that of the kernel.
	Root string
	// Home, when set, leaves out nodes that were started with another --home.
	Home string
}

// Node is a running node.
type Node struct {
	PID int
	// startedAt, in clock ticks, tells this process from a later one with the same PID.
	startedAt uint64
	proc      procfs.Proc
}

// ErrNotRunning is returned by Find when there is no node.
var ErrNotRunning = errors.New("no running seid found")

func (t Table) open() (procfs.FS, error) {
	return procfs.NewFS(cmp.Or(t.Root, procfs.DefaultMountPoint))
}

// Find returns the node: the process whose command is seid and whose first
// argument is start. That leaves out `seid init`, `seid tx` and wrappers that
// have not yet become seid.
func (t Table) Find() (*Node, error) {
	table, err := t.open()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	all, err := table.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	for _, p := range all {
		isNode, err := isNode(p, t.Home)
		if err != nil {
			return nil, fmt.Errorf("looking at process %d: %w", p.PID, err)
		}
		if !isNode {
			continue
		}
		if node := nodeOf(p); node != nil {
			return node, nil
		}
	}
	return nil, ErrNotRunning
}

// At is the process with a number, whatever it runs; nil when there is none.
func (t Table) At(pid int) *Node {
	table, err := t.open()
	if err != nil {
		return nil
	}
	p, err := table.Proc(pid)
	if err != nil {
		return nil
	}
	return nodeOf(p)
}

// nodeOf is a process that runs; nil for one that has ended.
func nodeOf(p procfs.Proc) *Node {
	stat, alive := living(p)
	if !alive {
		return nil
	}
	return &Node{PID: p.PID, startedAt: stat.Starttime, proc: p}
}

// living is what the kernel says of a process. A zombie is not alive: it has ended and waits for its
// parent to notice.
func living(p procfs.Proc) (stat procfs.ProcStat, alive bool) {
	stat, err := p.Stat()
	return stat, err == nil && stat.State != "Z" && stat.State != "X"
}

// Identity tells this process from every other since the machine started.
func (n *Node) Identity() string { return strconv.Itoa(n.PID) + "@" + n.StartTicks() }

// Alive reports whether this very process still runs.
func (n *Node) Alive() bool {
	stat, alive := living(n.proc)
	return alive && stat.Starttime == n.startedAt
}

// Signal sends a signal to the node, unless it has ended meanwhile.
func (n *Node) Signal(sig syscall.Signal) error {
	if !n.Alive() {
		return ErrNotRunning
	}
	err := syscall.Kill(n.PID, sig)
	if errors.Is(err, syscall.ESRCH) {
		return ErrNotRunning
	}
	if err != nil {
		return fmt.Errorf("sending %s to process %d: %w", sig, n.PID, err)
	}
	return nil
}

func isNode(p procfs.Proc, home string) (bool, error) {
	comm, err := p.Comm()
	if gone(err) || err == nil && comm != seid.BinaryName {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	argv, err := p.CmdLine()
	if gone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	isStart := len(argv) > 1 && filepath.Base(argv[0]) == seid.BinaryName && argv[1] == "start"
	return isStart && servesHome(argv[2:], home), nil
}

// servesHome reports whether the arguments name home, or no home at all.
func servesHome(args []string, home string) bool {
	for i, arg := range args {
		value, ok := strings.CutPrefix(arg, "--home=")
		if arg == "--home" && i+1 < len(args) {
			value, ok = args[i+1], true
		}
		if ok {
			return home == "" || filepath.Clean(value) == filepath.Clean(home)
		}
	}
	return true
}

// gone recognises a process that ended while it was looked at.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}
