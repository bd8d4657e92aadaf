// Command sidecar-storage opens a bucket for one call of the sidecar. It holds the cloud SDKs, so
// that an idle sidecar does not have to.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/sei-operator/sei-operator/internal/objectstore/drivers" // all kinds of buckets
	"github.com/sei-operator/sei-operator/internal/objectstore/program"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := program.Serve(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, program.Failure(err))
		return 1
	}
	return 0
}
