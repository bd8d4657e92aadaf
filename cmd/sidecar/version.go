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
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput() // older versions write it to their standard error
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", path, err)
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if version == "" {
		return "", errors.New("asking for the version of seid: it says nothing")
	}
	return version, nil
}
