package main

import (
	"context"
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

// flagOKExit makes a Job succeed when seid ends at its halt height.
const flagOKExit = "ok-exit"

func gateCommand() *cobra.Command {
	var port int
	var okExit []int
	cmd := &cobra.Command{
		Use:   "gate -- COMMAND [ARG...]",
		Short: "Wait until the sidecar of this pod says go, then become COMMAND",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := portFromEnv(cmd, &port, os.LookupEnv); err != nil {
				return err
			}
			g := gate.Gate{HealthURL: fmt.Sprintf("http://127.0.0.1:%d/v0/healthz", port), Log: newLogger()}
			pass := g.Pass
			if cmd.Flags().Changed(flagOKExit) {
				pass = func(ctx context.Context, argv []string) error { return g.Run(ctx, argv, okExit...) }
			}
			err := pass(cmd.Context(), args)
			exit, ended := errors.AsType[*gate.ExitError](err)
			switch {
			case ended:
				return &exitError{code: exit.Code, err: err}
			case cmd.Context().Err() != nil:
				return &exitError{code: exitTerminated, err: err}
			case errors.Is(err, exec.ErrNotFound):
				return &exitError{code: exitNoCommand, err: err}
			}
			return err
		},
	}
	addPortFlag(cmd, &port)
	cmd.Flags().IntSliceVar(&okExit, flagOKExit, nil, "exit codes of COMMAND that count as success too; COMMAND then runs as a child")
	return cmd
}
