package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
)

// ExitError is a command that ended with a code other than the one that is fine.
type ExitError struct{ Code int }

// Error implements error.
func (e *ExitError) Error() string { return fmt.Sprintf("the command ended with exit code %d", e.Code) }

// Run waits until the gate is open and runs argv as a child. It returns nil when the
// child ends with 0 or a code of okExit, and only when nobody asked it to end: at its
// halt height seid sends itself SIGINT and SIGTERM and ends with 0, 130 or 143, which
// is what a Job waits for; asked from outside it ends the same way, and is not done.
// Signals that reach this process are passed on.
func (g Gate) Run(ctx context.Context, argv []string, okExit ...int) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("looking for the command to run: %w", err)
	}
	if err := g.Wait(ctx); err != nil {
		return err
	}
	g.Log.Info("gate is open", "command", argv)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)

	// Not bound to ctx: the child is asked to stop and may take its time.
	child := exec.Command(path, argv[1:]...) //nolint:gosec,noctx // running it is what a gate is for, and signals end it
	child.Args[0] = argv[0]
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		return fmt.Errorf("running %s: %w", path, err)
	}
	done := make(chan error, 1)
	go func() { done <- child.Wait() }()
	asked := false
	for {
		select {
		case s := <-signals:
			asked = true
			_ = child.Process.Signal(s) // it may have ended in this moment
		case err := <-done:
			return judge(err, okExit, asked)
		}
	}
}

// judge turns the end of a command into an error.
func judge(err error, okExit []int, asked bool) error {
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && !failed {
		return err
	}
	code := 0
	if failed {
		code = exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			code = 128 + int(status.Signal())
		}
	}
	switch {
	case asked && code == 0:
		return &ExitError{Code: 128 + int(syscall.SIGTERM)} // it ended well, but not by itself
	case asked || (code != 0 && !slices.Contains(okExit, code)):
		return &ExitError{Code: code}
	}
	return nil
}
