package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	homedir "github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
	"github.com/sei-operator/sei-operator/internal/sidecar/gate"
	"github.com/sei-operator/sei-operator/internal/sidecar/trial"
)

// Exit codes of the gate, as shells use them. An interrupt exits with the code
// of a termination too: 130 is the code with which seid itself exits at its
// halt height, and the two must not be confused.
const (
	exitTerminated = 143
	exitNoCommand  = 127
)

// flagOKExit makes a Job succeed when seid ends at its halt height.
const flagOKExit = "ok-exit"

// gateMemory is a soft limit. The gate runs as long as seid does and shares its
// memory.
const gateMemory = 16 << 20

func gateCommand() *cobra.Command {
	var port int
	var home string
	var okExit []int
	cmd := &cobra.Command{
		Use:   "gate -- COMMAND [ARG...]",
		Short: "Wait until the sidecar of this pod opens the start gate, then run COMMAND and supervise it",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := portFromEnv(cmd, &port, os.LookupEnv); err != nil {
				return err
			}
			if !cmd.Flags().Changed("home") {
				home = cmp.Or(homeIn(args), home)
			}
			err := newGate(cmd.Context(), port, home, args).Run(cmd.Context(), args, okExit...)
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
	cmd.Flags().StringVar(&home, "home", os.Getenv(envHome), "the node's home directory; what COMMAND has as --home if not given ($"+envHome+")")
	cmd.Flags().IntSliceVar(&okExit, flagOKExit, nil, "exit codes of COMMAND that count as success too, unless it was asked to exit")
	return cmd
}

func newGate(ctx context.Context, port int, home string, argv []string) gate.Gate {
	log := newLogger()
	debug.SetMemoryLimit(gateMemory)
	go trimUntil(ctx, log)
	version := seidVersion(argv[0])
	if home != "" {
		go func() { _, _ = version(ctx) }() // known by the time the gate opens
	}
	return gate.Gate{
		Running: func() { trim(log) },
		WhileWaiting: func(ctx context.Context) {
			if home == "" {
				return
			}
			if err := trial.Serve(ctx, home, argv); err != nil && ctx.Err() == nil {
				log.Warn("trying a configuration", "error", err)
			}
		},
		Sidecar: fmt.Sprintf("http://127.0.0.1:%d", port), Home: home, Log: log, Stdout: os.Stdout, Stderr: os.Stderr,
		Rules: gate.Rules{
			ConfigHash: func() (string, error) {
				state, err := configstate.Read(home)
				return state.ConfigHash, err
			},
			MayStart: func(ctx context.Context) error {
				if home == "" {
					return nil
				}
				// A binary that does not report its version may start with
				// files that are not tied to any version.
				v, unknown := version(ctx)
				if err := configstate.MayStart(home, v); err != nil {
					return errors.Join(err, unknown)
				}
				if v == "" {
					return nil // an unknown version cannot be checked
				}
				// What could not be tried while seid was running is tried now,
				// before seid starts with it.
				return trial.Before(ctx, home, argv, v)
			},
			Environment: func(ctx context.Context) []string { return announce(ctx, home, log) },
			Starting:    func() error { return configstate.Started(home) },
		},
	}
}

// announce returns the environment that lets seid start when its external
// address cannot be looked up.
func announce(ctx context.Context, dir string, log *slog.Logger) []string {
	if dir == "" {
		return nil
	}
	files, err := config.Read(homedir.Dir(dir).Config())
	if err != nil {
		return nil // seid reports it better
	}
	env, why := gate.Announce(ctx, net.DefaultResolver, config.ExternalAddress(files))
	if why != nil {
		log.Warn("seid announces an address of its pod until its next start", "environment", env, "reason", why.Error())
	}
	return env
}

// homeIn returns the value of --home in a command.
func homeIn(argv []string) string {
	for i, arg := range argv {
		if value, ok := strings.CutPrefix(arg, "--home="); ok {
			return value
		}
		if arg == "--home" && i+1 < len(argv) {
			return argv[i+1]
		}
	}
	return ""
}
