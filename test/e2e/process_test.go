package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
)

// kill ends a process of a pod the hard way, from outside, as the kernel does when memory runs out, and waits until
// Kubernetes has seen it. command is the beginning of the process's command line.
func (s *scenario) kill(pod *corev1.Pod, container string, command ...string) {
	s.t.Helper()
	pids := processes(pod, command)
	if len(pids) != 1 {
		s.t.Fatalf("%d processes of %s are %q, want 1", len(pids), pod.Name, command)
	}
	before := restarts(pod, container)
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		s.t.Fatalf("killing %q of %s: %v", command, pod.Name, err)
	}
	await(s.t, inSyncTimeout, "the kubelet to start "+container+" again", func(context.Context) (bool, string, error) {
		now := &corev1.Pod{}
		err := s.get(pod.Name, now)
		return restarts(now, container) > before, string(now.Status.Phase), err
	})
}

// processes finds the processes of a pod by the control group that the kubelet put them in.
func processes(pod *corev1.Pod, command []string) []int {
	var found []int
	groups, _ := filepath.Glob("/proc/[0-9]*/cgroup") // the pattern is well-formed
	for _, file := range groups {
		group, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(group), string(pod.UID)) {
			continue // it has ended meanwhile, or is another owner's
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && isRunning(pid, command) {
			found = append(found, pid)
		}
	}
	return found
}

// isRunning reports whether a process has a command line that begins so. One that has ended and whose parent has not
// looked yet has none.
func isRunning(pid int, command []string) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	words := strings.Split(string(line), "\x00")
	return err == nil && len(words) >= len(command) && slices.Equal(words[:len(command)], command)
}

// hasEnded reports whether a container of the pod has ended by itself, started again or not.
func hasEnded(pod *corev1.Pod, container string) bool {
	for _, c := range pod.Status.ContainerStatuses {
		if c.Name == container {
			return c.RestartCount > 0 || c.State.Terminated != nil
		}
	}
	return false
}

func restarts(pod *corev1.Pod, container string) int32 {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if c.Name == container {
			return c.RestartCount
		}
	}
	return 0
}
