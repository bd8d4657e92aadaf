package seidcmd

import (
	"context"
	"errors"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// Init is a home that `seid init` should make.
type Init struct {
	Home, ChainID, Moniker string
	// Mode is what kind of node the defaults are for; empty leaves it to seid.
	Mode seid.Mode
}

// InitHome runs `seid init` on an empty home. Binaries before v6.3 do not know modes and
// write the same defaults for all; whoever needs those of a mode sets the keys that differ.
func (r Runner) InitHome(ctx context.Context, home Init) error {
	args := []string{"init", home.Moniker, "--chain-id", home.ChainID, "--home", home.Home}
	if home.Mode != "" {
		_, err := r.Run(ctx, Call{Args: append(args, "--mode", string(home.Mode))})
		if !lacksFlag(err, "--mode") {
			return err
		}
		// Flags are read before anything is written, so the home is still empty.
	}
	_, err := r.Run(ctx, Call{Args: args})
	return err
}

// lacksFlag reports whether a run failed because the binary does not know a flag.
func lacksFlag(err error, flag string) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && strings.Contains(failure.Message, "unknown flag: "+flag)
}
