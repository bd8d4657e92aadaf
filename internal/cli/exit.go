package cli

import (
	"errors"
	"fmt"
)

// An ExitError ends the plugin with a code of its own. Commands that answer a question with their
// exit code (check, lint) return one; every other error ends the plugin with 1.
type ExitError struct {
	Code int
	Err  error
}

// Error is what is printed.
func (e *ExitError) Error() string { return fmt.Sprint(e.Err) }

// Unwrap is the cause.
func (e *ExitError) Unwrap() error { return e.Err }

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if exit, ok := errors.AsType[*ExitError](err); ok {
		return exit.Code
	}
	return 1
}
