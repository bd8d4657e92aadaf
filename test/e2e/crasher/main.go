// Command crasher is a sidecar of a bad release: it installs itself and lets a home be that is there already, as a
// sidecar does, and ends as soon as it is to serve.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// exitCode is one of its own, so that a condition that names it has looked.
const exitCode = 42

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "crasher:", err)
		os.Exit(exitCode)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "install":
		return install(args[1])
	case len(args) == 1 && args[0] == "init":
		return nil
	}
	return errors.New("this release does not work")
}

func install(dir string) error {
	binary, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("reading the binary: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sidecar"), binary, 0o755); err != nil {
		return fmt.Errorf("writing the binary: %w", err)
	}
	return nil
}
