// Command kubectl-sei is a plugin of kubectl: with it on the PATH, `kubectl sei` shows and operates
// SeiNodes and their fleets. Wiring only: the commands are in internal/cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/sei-operator/sei-operator/internal/cli"
)

// version is set at link time by release builds.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, version, os.Args[1:])
	stop()
	os.Exit(code)
}
