package seidcmd

import (
	"context"
	"errors"
	"strings"
)

// Version is what the binary calls itself.
func (r Runner) Version(ctx context.Context) (string, error) {
	out, err := r.Run(ctx, Call{Args: []string{"version"}, Merge: true})
	if err != nil {
		return "", err
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if version == "" {
		return "", errors.New("running seid version: it says nothing")
	}
	return version, nil
}
