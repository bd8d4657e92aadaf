package supervise

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

// reaper collects every child's exit status. The first process of a namespace inherits all orphans (each
// container's shim is one), so it must wait for any child; exec's own Wait would then race with it.
type reaper struct {
	mu      sync.Mutex
	waiting map[int]chan syscall.WaitStatus
}

func newReaper() *reaper {
	r := &reaper{waiting: map[int]chan syscall.WaitStatus{}}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCHLD)
	go func() {
		for range signals {
			r.collect()
		}
	}()
	return r
}

// run starts the command and returns what became of it.
func (r *reaper) run(cmd *exec.Cmd) (string, error) {
	done := make(chan syscall.WaitStatus, 1)
	// The lock is held while starting, so a child that ends at once is not collected before it is known.
	r.mu.Lock()
	err := cmd.Start()
	if err == nil {
		r.waiting[cmd.Process.Pid] = done
	}
	r.mu.Unlock()
	if err != nil {
		return "", fmt.Errorf("starting %s: %w", cmd.Args[0], err)
	}
	status := <-done
	_ = cmd.Process.Release()
	if status.Signaled() {
		return "signal " + status.Signal().String(), nil
	}
	return fmt.Sprintf("exit code %d", status.ExitStatus()), nil
}

// collect takes all children that have ended; one signal may stand for several.
func (r *reaper) collect() {
	for {
		r.mu.Lock()
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		done := r.waiting[pid]
		delete(r.waiting, pid)
		r.mu.Unlock()
		if err != nil || pid <= 0 {
			return
		}
		if done != nil {
			done <- status
		}
	}
}
