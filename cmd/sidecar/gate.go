package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/sei-operator/sei-operator/internal/sidecar/gate"
)

// Exit codes of the gate, as shells use them. An interrupt ends with the code of
// a termination too: 130 is what seid itself ends with at its halt height, and
// must not be mistaken for that.
const (
	exitTerminated = 143
	exitNoCommand  = 127
)

func gateCommand() *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use:   "gate -- COMMAND [ARG...]",
		Short: "Wait until the sidecar of this pod says go, then become COMMAND",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := portFromEnv(cmd, &port, os.LookupEnv); err != nil {
				return err
			}
			g := gate.Gate{HealthURL: fmt.Sprintf("http://127.0.0.1:%d/v0/healthz", port), Log: newLogger()}
			err := g.Pass(cmd.Context(), args)
			switch {
			case cmd.Context().Err() != nil:
				return &exitError{code: exitTerminated, err: err}
			case errors.Is(err, exec.ErrNotFound):
				return &exitError{code: exitNoCommand, err: err}
			}
			return err
		},
	}
	addPortFlag(cmd, &port)
	return cmd
}
