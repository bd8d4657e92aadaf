package supervision

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// reserveName is a file that keeps room for the record: seid is the one that fills a disk,
// and that it did is what has to be recorded then.
const (
	reserveName = "reserve"
	reserveSize = 16 << 10
)

// Write replaces the record. Only the gate does. On a full disk it uses the room that was
// kept for it.
func Write(home string, r Record) error {
	err := Save(home, recordName, r)
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	if removed := os.Remove(Path(home, reserveName)); removed != nil {
		return err
	}
	return Save(home, recordName, r)
}

// Reserve keeps room for the record.
func Reserve(home string) error {
	path := Path(home, reserveName)
	if info, err := os.Stat(path); err == nil && info.Size() == reserveSize {
		return nil
	}
	if err := os.WriteFile(path, make([]byte, reserveSize), 0o600); err != nil {
		_ = os.Remove(path) // half of it is of no use
		return fmt.Errorf("keeping room for the record of the process: %w", err)
	}
	return nil
}
