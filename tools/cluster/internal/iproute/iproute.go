// Package iproute sets up links, addresses and routes with the ip command of iproute2.
package iproute

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Run runs ip once per line of arguments and stops at the first that does not work.
func Run(ctx context.Context, lines ...string) error {
	for _, line := range lines {
		out, err := exec.CommandContext(ctx, "ip", strings.Fields(line)...).CombinedOutput() //nolint:gosec // lines are made of names and addresses of our own
		if err != nil {
			return fmt.Errorf("running ip %s: %w: %s", line, err, bytes.TrimSpace(out))
		}
	}
	return nil
}
