package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// The names of the programs in the directory they are installed to. The second one is expected next
// to the first.
const (
	installedName = "sidecar"
	storageName   = "sidecar-storage"
)

func installCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "install DIR",
		Short: "Copy this binary and " + storageName + " into DIR, for a container whose image does not have them",
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return install(args[0]) },
	}
}

func install(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this binary: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // other containers run what is in it
		return fmt.Errorf("making %s: %w", dir, err)
	}
	if err := copyProgram(storageBeside(self), filepath.Join(dir, storageName)); err != nil {
		return err
	}
	return copyProgram(self, filepath.Join(dir, installedName))
}

// storageBeside returns the path of the program that opens buckets for a sidecar.
func storageBeside(sidecar string) string { return filepath.Join(filepath.Dir(sidecar), storageName) }

func copyProgram(from, to string) error {
	source, err := os.Open(from) //nolint:gosec // ourselves, or what is beside us
	if err != nil {
		return fmt.Errorf("opening a program: %w", err)
	}
	defer func() { _ = source.Close() }()
	return durable.Write(to, 0o755, func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
}
