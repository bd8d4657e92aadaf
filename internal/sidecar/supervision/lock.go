package supervision

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrWatched is returned by Watch when another gate is there.
var ErrWatched = errors.New("another gate watches this home")

// Watch says that a gate is there until release is called or this process ends,
// however it ends.
func Watch(home string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Join(home, dirName), 0o750); err != nil {
		return nil, fmt.Errorf("making the sidecar's directory: %w", err)
	}
	f, err := os.OpenFile(Path(home, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the gate's lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { _ = f.Close() }, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrWatched
	}
	return nil, fmt.Errorf("taking the gate's lock: %w", err)
}

// Watched reports whether a gate is there. It needs no view of the gate's process.
func Watched(home string) (bool, error) {
	f, err := os.Open(Path(home, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("opening the gate's lock: %w", err)
	}
	defer func() { _ = f.Close() }()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("asking for the gate's lock: %w", err)
	}
	return false, nil
}

// NoteProgress says that the process has written something, or was busy. It costs a time stamp
// and is not durable: nobody reads it after a crash.
func NoteProgress(home string, at time.Time) error {
	path := Path(home, progressName)
	err := os.Chtimes(path, at, at)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err != nil {
		return fmt.Errorf("recording the progress of seid: %w", err)
	}
	return nil
}

// LastProgress is when the process wrote something or was busy; exact to the gate's habits. The
// zero time means never.
func LastProgress(home string) time.Time {
	info, err := os.Stat(Path(home, progressName))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
