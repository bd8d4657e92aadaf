package host

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/iproute"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/supervise"
)

// Start starts the node's first process in its namespaces and links it to the machine.
func Start(ctx context.Context, l layout.Layout, r *Record) error {
	if err := makeFolders(l); err != nil {
		return err
	}
	if err := makeMountPoints(l, r); err != nil {
		return err
	}
	if err := makeCgroups(l); err != nil {
		return err
	}
	node, open, err := spawn(l)
	if err != nil {
		return err
	}
	r.PID = node.Process.Pid
	if r.Started, _, err = processStart(r.PID); err != nil {
		return err
	}
	if err := r.write(l); err != nil {
		return err
	}
	if err := link(ctx, l, r.PID); err != nil {
		return err
	}
	go func() { _ = node.Wait() }() // so that a node that dies early is seen as dead
	if err := open.Close(); err != nil {
		return fmt.Errorf("telling the node to continue: %w", err)
	}
	return nil
}

// makeFolders makes the state's folders, those that are mounted over fixed names among them.
func makeFolders(l layout.Layout) error {
	names := []string{"audit", "config/cni", "containerd", "etcd", "log/pods", "volumes"}
	for _, name := range append(names, slices.Collect(maps.Values(supervise.MountPoints))...) {
		if err := os.MkdirAll(l.Path(name), 0o700); err != nil {
			return fmt.Errorf("making the state folder: %w", err)
		}
	}
	return nil
}

const cgroupMount = "/sys/fs/cgroup"

// unifiedCgroups tells version 2 from version 1.
func unifiedCgroups() bool {
	_, err := os.Stat(filepath.Join(cgroupMount, "cgroup.controllers"))
	return err == nil
}

// cgroupFolders are the cluster's control group in every hierarchy: several under version 1, one under version 2.
func cgroupFolders(l layout.Layout) ([]string, error) {
	if unifiedCgroups() {
		return []string{filepath.Join(cgroupMount, l.Cgroup())}, nil
	}
	hierarchies, err := filepath.Glob(filepath.Join(cgroupMount, "*", "cgroup.procs"))
	if err != nil {
		return nil, fmt.Errorf("listing the control groups: %w", err)
	}
	var folders []string
	for _, h := range hierarchies {
		folders = append(folders, filepath.Join(filepath.Dir(h), l.Cgroup()))
	}
	return folders, nil
}

// enableControllers lets version 2 groups below the root have limits. Most systems have done so already. Where a
// controller cannot be had, the kubelet says which one it misses.
func enableControllers() {
	for _, controller := range []string{"cpuset", "cpu", "io", "memory", "pids"} {
		_ = os.WriteFile(filepath.Join(cgroupMount, "cgroup.subtree_control"), []byte("+"+controller), 0o600)
	}
}

func makeCgroups(l layout.Layout) error {
	folders, err := cgroupFolders(l)
	if err != nil {
		return err
	}
	if unifiedCgroups() {
		enableControllers()
	}
	for _, folder := range folders {
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return fmt.Errorf("making the cluster's control group: %w", err)
		}
	}
	return nil
}

// spawn starts the node's first process. It waits until the returned file is closed.
func spawn(l layout.Layout) (*exec.Cmd, *os.File, error) {
	gate, open, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("making a pipe to the node: %w", err)
	}
	defer func() { _ = gate.Close() }()
	out, err := os.OpenFile(l.Log("node"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the node's log: %w", err)
	}
	defer func() { _ = out.Close() }()
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("finding the program: %w", err)
	}
	// Not bound to a context: the node outlives this command.
	args := []string{"supervise", "--state-dir=" + l.Dir, "--network=" + l.Network.String()}
	cmd := exec.CommandContext(context.Background(), self, args...) //nolint:gosec // this very program
	cmd.Args[0] = "cluster"
	cmd.Dir = "/"
	// Nothing else of the caller's environment concerns the node, least of all a proxy.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/root"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = gate, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("starting the node in namespaces of its own: %w", err)
	}
	return cmd, open, nil
}

// link connects the machine with the node. Both ends vanish with the node's network.
func link(ctx context.Context, l layout.Layout, pid int) error {
	name := l.LinkName()
	return iproute.Run(ctx,
		fmt.Sprintf("link add %s type veth peer name %s netns %d", name, supervise.InnerLink, pid),
		fmt.Sprintf("addr add %s/%d dev %s", l.HostIP(), l.Link().Bits(), name),
		fmt.Sprintf("link set %s up", name),
		fmt.Sprintf("route add %s via %s", l.Services(), l.NodeIP()),
		fmt.Sprintf("route add %s via %s", l.Pods(), l.NodeIP()),
	)
}
