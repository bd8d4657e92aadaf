package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// ticksPerSecond is the unit in which the kernel tells times to programs, on every
// architecture that Linux runs on today.
const ticksPerSecond = 100

// StartTicks is when the process started, in clock ticks since the machine did.
func (n *Node) StartTicks() string { return strconv.FormatUint(n.startedAt, 10) }

// CPUTime is the time that the process has spent on a CPU; 0 when it has ended.
func (n *Node) CPUTime() time.Duration {
	stat, alive := living(n.proc)
	if !alive || stat.Starttime != n.startedAt {
		return 0
	}
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

// Age is for how long the process has been running, exact to a few hundredths of a second.
func (n *Node) Age() (time.Duration, bool) {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return 0, false
	}
	started := time.Duration(n.startedAt) * time.Second / ticksPerSecond
	return time.Duration(up.Nano()) - started, true
}

// BootID tells one run of the machine from every other; empty when it is not known.
func BootID() string {
	data, err := os.ReadFile(filepath.Join(procfs.DefaultMountPoint, "sys", "kernel", "random", "boot_id"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// Namespace names the process namespace of this process: a PID means something within it alone.
// Empty when it is not known.
func Namespace() string {
	name, err := os.Readlink(filepath.Join(procfs.DefaultMountPoint, "self", "ns", "pid"))
	if err != nil {
		return ""
	}
	return name
}
