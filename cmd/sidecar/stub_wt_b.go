package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// seidVersion is a stand-in until the real one is merged.
func seidVersion(path string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		out, err := exec.CommandContext(ctx, path, "version").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("asking %s for its version: %w", path, err)
		}
		version, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return version, nil
	}
}
