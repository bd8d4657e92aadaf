package envtest_test

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func isForbidden(err error) bool { return apierrors.IsForbidden(err) }

// readPIDs reads the line "pids 1 2 3".
func readPIDs(t *testing.T, out io.Reader) []int {
	t.Helper()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		list, ok := strings.CutPrefix(lines.Text(), "pids ")
		if !ok {
			continue
		}
		var pids []int
		for field := range strings.FieldsSeq(list) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		return pids
	}
	t.Fatal("the process named no pids")
	return nil
}

// pidfd is a handle on a process that tells when it has ended.
type pidfd struct{ fd, pid int }

func openPID(t *testing.T, pid int) *pidfd {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("process %d: %v", pid, err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return &pidfd{fd: fd, pid: pid}
}

func (p *pidfd) awaitEnd(t *testing.T) {
	t.Helper()
	poll := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, int((10 * time.Second).Milliseconds()))
	if err != nil || n != 1 {
		t.Errorf("process %d outlives the test that started it (%v)", p.pid, err)
	}
}
