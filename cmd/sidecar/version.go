package main

import (
	"context"
	"sync"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// versionTimeout is how long a binary may take to report its version. On an idle machine it takes a fraction of a
// second.
const versionTimeout = 30 * time.Second

// seidVersion returns a function that returns the version that a binary reports. It runs the binary until that
// succeeds once: the binary of a container does not change, but a machine may be too busy to run it in time, and
// the gate does not open without the version.
func seidVersion(path string) func(context.Context) (string, error) {
	var mu sync.Mutex
	var known string
	return func(ctx context.Context) (version string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if known == "" {
			known, err = askVersion(ctx, path)
		}
		return known, err
	}
}

func askVersion(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	return seidcmd.Runner{Path: path}.Version(ctx)
}
