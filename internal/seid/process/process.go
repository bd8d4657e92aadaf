// Package process finds the running node among the processes that the sidecar
// can see: the containers of a node's pod share their process namespace.
//
// It looks and signals; how long to wait and what to do afterwards is decided
// elsewhere.
package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// DefaultRoot is where the kernel shows its processes.
const DefaultRoot = "/proc"

// Table is a process table.
type Table struct {
	// Root is the directory that shows the processes; empty means DefaultRoot.
	Root string
	// Home, when set, leaves out nodes that were started with another --home.
	Home string
}

// Node is a running node.
type Node struct {
	PID int
	// startedAt tells this process from a later one with the same PID.
	startedAt string
	root      string
}

// ErrNotRunning is returned by Find when there is no node.
var ErrNotRunning = errors.New("no running seid found")

// Find returns the node: the process whose command is seid and whose first
// argument is start. That leaves out `seid init`, `seid tx` and wrappers that
// have not yet become seid.
func (t Table) Find() (*Node, error) {
	root := t.Root
	if root == "" {
		root = DefaultRoot
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		isNode, err := isNode(filepath.Join(root, e.Name()), t.Home)
		if err != nil {
			return nil, fmt.Errorf("looking at process %d: %w", pid, err)
		}
		if !isNode {
			continue
		}
		started, alive := startTime(root, pid)
		if alive {
			return &Node{PID: pid, startedAt: started, root: root}, nil
		}
	}
	return nil, ErrNotRunning
}

// Identity tells this process from every other since the machine started.
func (n *Node) Identity() string { return strconv.Itoa(n.PID) + "@" + n.startedAt }

// Alive reports whether this very process still runs. A zombie does not: it has
// ended and waits for its parent to notice.
func (n *Node) Alive() bool {
	started, alive := startTime(n.root, n.PID)
	return alive && started == n.startedAt
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

func isNode(dir, home string) (bool, error) {
	comm, err := read(dir, "comm")
	if gone(err) || err == nil && strings.TrimSpace(string(comm)) != seid.BinaryName {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	cmdline, err := read(dir, "cmdline")
	if gone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	argv := bytes.Split(cmdline, []byte{0})
	isStart := len(argv) > 1 && filepath.Base(string(argv[0])) == seid.BinaryName && string(argv[1]) == "start"
	return isStart && servesHome(argv[2:], home), nil
}

// servesHome reports whether the arguments name home, or no home at all.
func servesHome(args [][]byte, home string) bool {
	for i, arg := range args {
		value, ok := strings.CutPrefix(string(arg), "--home=")
		if string(arg) == "--home" && i+1 < len(args) {
			value, ok = string(args[i+1]), true
		}
		if ok {
			return home == "" || filepath.Clean(value) == filepath.Clean(home)
		}
	}
	return true
}

// startTime reads when a process began, in clock ticks.
func startTime(root string, pid int) (ticks string, alive bool) {
	fields, alive := stat(root, pid)
	if !alive {
		return "", false
	}
	return fields[fieldStarted], true
}

func read(dir, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // a process's own directory
}

// gone recognises a process that ended while it was looked at.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}
