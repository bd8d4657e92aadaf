package config

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// scratchChain is no chain that a version of seid could know: for those that it
// knows, init writes the whole genesis.
const scratchChain = "defaults-1"

// FromInit returns the files that `seid init` of the given binary writes for a
// mode. It runs the binary in a directory below scratch, which it removes again;
// the node's own home is not touched.
func FromInit(ctx context.Context, binary string, mode seid.Mode, scratch string) (Files, error) {
	dir, err := os.MkdirTemp(scratch, tempPrefix+"init-*")
	if err != nil {
		return Files{}, fmt.Errorf("initialising defaults: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a left-over directory does no harm

	home := filepath.Join(dir, "home")
	cmd := exec.CommandContext(ctx, binary, "init", "defaults", "--chain-id", scratchChain, "--home", home, "--mode", string(mode))
	cmd.Env = os.Environ()
	if os.Getenv("HOME") == "" {
		// seid panics without one. It also writes paths below it into the files,
		// so it must not be a directory of this run.
		cmd.Env = append(cmd.Env, "HOME=/")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return Files{}, fmt.Errorf("initialising defaults: seid init: %w: %s", err, lastLine(stderr.String()))
	}
	files, err := Read(filepath.Join(home, "config"))
	if err != nil {
		return Files{}, fmt.Errorf("initialising defaults: %w", err)
	}
	if files.Config == nil || files.App == nil {
		return Files{}, fmt.Errorf("initialising defaults: %s init wrote no configuration", binary)
	}
	return files, nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
