package seidcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Version is what the binary calls itself.
func (r Runner) Version(ctx context.Context) (string, error) {
	out, err := r.tell(ctx, "version")
	if err != nil {
		return "", err
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if version == "" {
		return "", errors.New("running seid version: no output")
	}
	return version, nil
}

// BuildTags are what the binary was built with: some storage engines need one.
func (r Runner) BuildTags(ctx context.Context) ([]string, error) {
	out, err := r.tell(ctx, "version", "--long")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if list, ok := strings.CutPrefix(line, "build_tags:"); ok {
			return strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '"' }), nil
		}
	}
	return nil, errors.New("running seid version --long: no build tags reported")
}

// tell runs a command that only prints something. Every command of seid writes client.toml into
// its home first, so it gets one of its own: the root of a container is read-only, and the node's
// home may not have been made yet.
func (r Runner) tell(ctx context.Context, args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "seid-tell-*")
	if err != nil {
		return nil, fmt.Errorf("creating a scratch home for seid %s: %w", args[0], err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return r.Run(ctx, Call{Args: append(args, "--home", dir), Merge: true})
}
