package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/iproute"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

// Stop ends the node and takes away what outlives it. It does the same after a crash, and nothing where there is
// no cluster. The state folder stays.
func Stop(ctx context.Context, l layout.Layout, r *Record) error {
	if r == nil {
		return nil
	}
	if r.Running() {
		// The kernel ends every process of the namespace with its first, and their mounts, links, routes and
		// firewall rules with the last of them.
		if err := killAndWait(ctx, r.PID); err != nil {
			return err
		}
	}
	if err := removeLink(ctx, l); err != nil {
		return err
	}
	if err := removeCgroups(ctx, l); err != nil {
		return err
	}
	return removeMountPoints(r)
}

func killAndWait(ctx context.Context, pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening the node's process: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("ending the node's process: %w", err)
	}
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for ctx.Err() == nil {
		if n, err := unix.Poll(poll, 200); n > 0 && err == nil {
			return nil
		}
	}
	return fmt.Errorf("waiting for the node's processes to end: %w", ctx.Err())
}

// removeLink does not wait for the kernel, which takes a dead network apart at its leisure.
func removeLink(ctx context.Context, l layout.Layout) error {
	if !linkExists(l) {
		return nil
	}
	if err := iproute.Run(ctx, "link delete "+l.LinkName()); err != nil && linkExists(l) {
		return err
	}
	return nil
}

func linkExists(l layout.Layout) bool {
	_, err := net.InterfaceByName(l.LinkName())
	return err == nil
}

// removeCgroups removes the groups inside out. A group is busy for a moment after its last process ended.
func removeCgroups(ctx context.Context, l layout.Layout) error {
	folders, err := cgroupFolders(l)
	if err != nil {
		return err
	}
	for _, root := range folders {
		var groups []string
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				groups = append(groups, path)
			}
			return nil
		})
		slices.Reverse(groups)
		for _, group := range groups {
			if err := removeBusy(ctx, group); err != nil {
				return err
			}
		}
	}
	return nil
}

func removeBusy(ctx context.Context, folder string) error {
	for {
		err := syscall.Rmdir(folder)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("removing the control group %s: %w", folder, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
