package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// versionTimeout is how long a binary may take to say what it is called.
const versionTimeout = 30 * time.Second

// seidVersion tells what a binary calls itself. It is asked once: the binary of a container
// does not change.
func seidVersion(path string) func(context.Context) (string, error) {
	var mu sync.Mutex
	var known string
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if known != "" {
			return known, nil
		}
		ctx, cancel := context.WithTimeout(ctx, versionTimeout)
		defer cancel()
		// Older versions write it to their standard error.
		out, err := exec.CommandContext(ctx, path, "version").CombinedOutput() //nolint:gosec // the node's own binary
		if err != nil {
			return "", fmt.Errorf("asking %s for its version: %w", path, err)
		}
		known, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
		if known == "" {
			return "", errors.New("asking for the version of seid: it says nothing")
		}
		return known, nil
	}
}
