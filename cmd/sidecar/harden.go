package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// harden protects the memory of this process from other processes of the same user: they cannot read it through
// /proc, attach to it, or find it in a core file. Children are accessible to their own user again once they run,
// but leave no core file either: nothing collects those, and one of seid would hold its signing key.
func harden() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("closing this process to others of its user: %w", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbidding core files: %w", err)
	}
	return nil
}
