package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/supervise"
)

// makeMountPoints makes the folders with fixed names that components insist on. A folder that another cluster
// has mounted counts as made, too: whoever is last takes it away.
func makeMountPoints(l layout.Layout, r *Record) error {
	if err := lockMountPoints(&coming, syscall.LOCK_SH); err != nil {
		return err
	}
	for target := range supervise.MountPoints {
		_, err := os.Stat(target)
		ours := errors.Is(err, fs.ErrNotExist) || mounted(target)
		if ours && !slices.Contains(r.Made, target) {
			r.Made = append(r.Made, target)
		}
	}
	// Recorded first: a crash in between must not hide what was made.
	if err := r.write(l); err != nil {
		return err
	}
	for _, target := range r.Made {
		if err := os.MkdirAll(target, 0o750); err != nil {
			return fmt.Errorf("making a mount point: %w", err)
		}
	}
	return nil
}

// removeMountPoints leaves a folder that is mounted in any namespace: removing it would unmount it there, under
// the feet of another cluster's kubelet.
func removeMountPoints(r *Record) error {
	var going *os.File
	err := lockMountPoints(&going, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil // a cluster is about to use them, and will remove them
	}
	if err != nil {
		return err
	}
	defer func() { _ = going.Close() }()
	for _, target := range r.Made {
		if mounted(target) {
			continue
		}
		// Remove takes empty folders only: what someone else put there meanwhile stays.
		err := os.Remove(target)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			return fmt.Errorf("removing a mount point: %w", err)
		}
	}
	return nil
}

// coming is locked by a cluster that starts until its command ends: by then the node has mounted the folders.
var coming *os.File

// lockMountPoints keeps clusters that come from clusters that go. The folder itself is locked, so that no lock
// file is left; closing it unlocks it.
func lockMountPoints(into **os.File, how int) error {
	folder, err := os.Open("/var/lib")
	if err != nil {
		return fmt.Errorf("opening /var/lib: %w", err)
	}
	if err := syscall.Flock(int(folder.Fd()), how); err != nil {
		_ = folder.Close()
		return fmt.Errorf("locking /var/lib: %w", err)
	}
	*into = folder
	return nil
}

// mounted tells whether any process sees a mount on the folder.
func mounted(target string) bool {
	tables, _ := filepath.Glob("/proc/[0-9]*/mountinfo")
	return slices.ContainsFunc(tables, func(table string) bool {
		content, err := os.ReadFile(table) //nolint:gosec // a file of /proc
		if err != nil {
			return false // ended since it was listed
		}
		const mountPoint = 4
		for line := range strings.Lines(string(content)) {
			if fields := strings.Fields(line); len(fields) > mountPoint && fields[mountPoint] == target {
				return true
			}
		}
		return false
	})
}
