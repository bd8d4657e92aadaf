package envtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const workdirPrefix = "sei-envtest-"

// NewWorkdir makes a folder for data that need not outlive the process: in
// memory if there is room, else on disk. Whoever asks removes it; those that
// killed processes left behind are removed by the next one.
func NewWorkdir() (string, error) {
	parent := os.TempDir()
	if hasRoom("/dev/shm") {
		parent = "/dev/shm"
	}
	removeAbandoned(parent)
	dir, err := os.MkdirTemp(parent, fmt.Sprintf("%s%d-", workdirPrefix, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("making a work folder: %w", err)
	}
	return dir, nil
}

// hasRoom wants space for etcd's preallocated files and a large test.
func hasRoom(dir string) bool {
	const wanted = 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return false
	}
	return fs.Bavail*uint64(fs.Bsize) >= wanted
}

func removeAbandoned(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, workdirPrefix+"*"))
	for _, dir := range dirs {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), workdirPrefix), "-")
		owner, err := strconv.Atoi(pid)
		if err == nil && errors.Is(syscall.Kill(owner, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir)
		}
	}
}
