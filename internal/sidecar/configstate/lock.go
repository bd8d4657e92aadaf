package configstate

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// ledger is the record while this process may change it.
type ledger struct {
	volume
	record
	// disk is the digest of the files in the config directory.
	disk string
}

// change runs do while nobody else changes the record or, through this package, the files.
// A change that was begun by a process that is gone is finished first.
func change(home string, do func(*ledger) error) error {
	l := &ledger{volume: volume{home}}
	if err := os.MkdirAll(l.own(), 0o750); err != nil {
		return fmt.Errorf("making the directory of the record: %w", err)
	}
	unlock, err := lock(l.own(lockFile))
	if err != nil {
		return err
	}
	defer unlock()
	if l.record, err = l.load(); err != nil {
		return err
	}
	if l.disk, err = digestOf(l.config()); err != nil {
		return err
	}
	if err := l.finishPending(); err != nil {
		return err
	}
	if err := l.sweep(); err != nil {
		return err
	}
	return do(l)
}

// sweep removes what a killed process left. All of it is written under the lock.
func (l *ledger) sweep() error {
	for _, name := range []string{nextDir, goodDir, startedDir, recordFile} {
		if err := durable.Sweep(l.own(), name); err != nil {
			return err
		}
	}
	if staged, err := durable.Exists(l.own(nextDir)); err != nil || !staged {
		return err
	}
	return durable.Remove(l.own(nextDir))
}

// lock waits for the lock. The kernel releases the lock of a process that ends.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o640) //nolint:gosec // a file of ours in the node's home
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the configuration: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking the configuration: %w", err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// finishPending puts files in place that were about to be when their writer was killed.
func (l *ledger) finishPending() error {
	if l.Pending == nil {
		return nil
	}
	if l.disk == l.Pending.Digest {
		return l.settle()
	}
	staged, err := digestOf(l.own(nextDir))
	if err != nil {
		return err
	}
	if staged != l.Pending.Digest {
		// The staged files are gone, so their turn has come and they were replaced since.
		l.Pending = nil
		return l.save(l.record)
	}
	files, err := config.Read(l.own(nextDir))
	if err != nil {
		return err
	}
	return l.install(files)
}

// put replaces the configuration by files. Killed at any point, it leaves the old files
// with the old name, the new files with the new one, or a mixture that has no name until
// the change is finished.
func (l *ledger) put(files config.Files, hash string) error {
	on, err := config.Read(l.config())
	if err == nil {
		files = files.Complete(on)
	}
	digest, err := files.Digest()
	if err != nil {
		return err
	}
	if digest == l.disk {
		return l.rename(hash)
	}
	if err := l.stage(nextDir, files, nil); err != nil {
		return err
	}
	l.Pending = &named{Hash: hash, Digest: digest}
	if err := l.save(l.record); err != nil {
		return err
	}
	return l.install(files)
}

// rename names files that are there already.
func (l *ledger) rename(hash string) error {
	l.Current = &named{Hash: hash, Digest: l.disk}
	return l.save(l.record)
}

func (l *ledger) install(files config.Files) error {
	for _, name := range config.FileNames() {
		if err := durable.Sweep(l.config(), string(name)); err != nil {
			return err
		}
	}
	if err := config.Write(l.config(), files); err != nil {
		return err
	}
	return l.settle()
}

func (l *ledger) settle() error {
	l.Current, l.Pending, l.disk = l.Pending, nil, l.Pending.Digest
	if err := l.save(l.record); err != nil {
		return err
	}
	return durable.Remove(l.own(nextDir))
}

// stage replaces a directory of ours by one with the files and a note on them.
func (v volume) stage(name string, files config.Files, note any) error {
	dir, err := durable.TempDir(v.own(), name)
	if err != nil {
		return err
	}
	if err := config.Write(dir, files); err != nil {
		return err
	}
	if note != nil {
		if err := writeJSON(noteIn(dir), note); err != nil {
			return err
		}
	}
	return durable.Swap(dir, v.own(name))
}
