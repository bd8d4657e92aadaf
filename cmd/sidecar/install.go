package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// installedName is what the binary is called in the directory it installs to.
const installedName = "sidecar"

func installCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "install DIR",
		Short: "Copy this binary into DIR, for a container whose image does not have it",
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return install(args[0]) },
	}
}

func install(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this binary: %w", err)
	}
	source, err := os.Open(self) //nolint:gosec // ourselves
	if err != nil {
		return fmt.Errorf("opening this binary: %w", err)
	}
	defer func() { _ = source.Close() }()
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // other containers run what is in it
		return fmt.Errorf("making %s: %w", dir, err)
	}
	return durable.Write(filepath.Join(dir, installedName), 0o755, func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
}
