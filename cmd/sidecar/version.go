package main

import (
	"context"
	"sync"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// versionTimeout is how long a binary may take to say what it is called.
const versionTimeout = 10 * time.Second

// seidVersion tells what a binary calls itself. It is asked once: the binary of a container
// does not change.
func seidVersion(path string) func(context.Context) (string, error) {
	var mu sync.Mutex
	var known string
	var failed error
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if known == "" && failed == nil {
			known, failed = askVersion(ctx, path)
			if ctx.Err() != nil {
				failed = nil // who asked has gone; the next one asks anew
			}
		}
		return known, failed
	}
}

func askVersion(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	return seidcmd.Runner{Path: path}.Version(ctx)
}
