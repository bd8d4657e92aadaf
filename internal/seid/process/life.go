package process

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit in which the kernel tells times to programs, on every
// architecture that Linux runs on today.
const ticksPerSecond = 100

// The places of fields in a stat line, counted from the end of the command.
const (
	fieldState   = 0
	fieldUser    = 11
	fieldSystem  = 12
	fieldStarted = 19
)

// At is the process with a number, whatever it runs; nil when there is none.
func (t Table) At(pid int) *Node {
	root := cmp.Or(t.Root, DefaultRoot)
	started, alive := startTime(root, pid)
	if !alive {
		return nil
	}
	return &Node{PID: pid, startedAt: started, root: root}
}

// StartTicks is when the process started, in clock ticks since the machine did.
func (n *Node) StartTicks() string { return n.startedAt }

// CPUTime is the time that the process has spent on a CPU; 0 when it has ended.
func (n *Node) CPUTime() time.Duration {
	fields, alive := stat(n.root, n.PID)
	if !alive || fields[fieldStarted] != n.startedAt {
		return 0
	}
	user, _ := strconv.ParseInt(fields[fieldUser], 10, 64)
	system, _ := strconv.ParseInt(fields[fieldSystem], 10, 64)
	return time.Duration(user+system) * time.Second / ticksPerSecond
}

// Age is for how long the process has been running, exact to a few hundredths of a second.
func (n *Node) Age() (time.Duration, bool) {
	uptime, err := read(n.root, "uptime")
	if err != nil {
		return 0, false
	}
	first, _, _ := bytes.Cut(uptime, []byte(" "))
	up, err := strconv.ParseFloat(string(first), 64)
	if err != nil {
		return 0, false
	}
	started, err := strconv.ParseInt(n.startedAt, 10, 64)
	if err != nil {
		return 0, false
	}
	return time.Duration(up*float64(time.Second)) - time.Duration(started)*time.Second/ticksPerSecond, true
}

// BootID tells one run of the machine from every other; empty when it is not known.
func BootID() string {
	data, err := os.ReadFile(filepath.Join(DefaultRoot, "sys", "kernel", "random", "boot_id"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// stat gives the fields of a process's stat line after the command, which stands in
// parentheses and may hold anything. A zombie is not alive: it has ended and waits for
// its parent to notice.
func stat(root string, pid int) (fields []string, alive bool) {
	line, err := read(filepath.Join(root, strconv.Itoa(pid)), "stat")
	if err != nil {
		return nil, false
	}
	_, rest, found := bytes.Cut(line[max(bytes.LastIndexByte(line, ')'), 0):], []byte(") "))
	fields = strings.Fields(string(rest))
	if !found || len(fields) <= fieldStarted || fields[fieldState] == "Z" || fields[fieldState] == "X" {
		return nil, false
	}
	return fields, true
}
