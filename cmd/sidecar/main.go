// Command sidecar runs in every node pod. It prepares the node's home, holds
// seid at the gate, and runs the operator's tasks. Only flags, settings and
// wiring live here.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set at link time by release builds.
var version = ""

func main() {
	debug.SetGCPercent(gcPercent)
	runtime.MemProfileRate = 0 // there is no way to request the profile
	if err := harden(); err != nil {
		fmt.Fprintln(os.Stderr, "sidecar:", err)
		os.Exit(1)
	}
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	root := &cobra.Command{
		Use:           "sidecar",
		Short:         "Prepares a Sei node, gates its start and runs tasks on it",
		Version:       buildVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(serveCommand(), installCommand(), initCommand(), gateCommand())
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "sidecar:", err)
	if coded, ok := errors.AsType[*exitError](err); ok {
		return coded.code
	}
	return 1
}

// exitError ends the process with an exit code that has a meaning to its
// parent.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func newLogger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(os.Stderr, nil))
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
