// Package seidcmd runs the chain binary that is in the container. Genesis, keys
// and transactions are its business; no chain code is linked here.
//
// A child gets only the environment it needs, secrets only through its standard
// input, and dies with this process: a killed sidecar leaves nobody behind who
// still writes to the home.
package seidcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Limits on what is kept of a child's output, and on how long it may take: no
// command of ours needs minutes, and one that hangs would hold up all others.
const (
	maxStdout = 256 << 20
	maxStderr = 16 << 10
	maxTime   = 10 * time.Minute
)

// passedOn are the variables a child may inherit: how to find programs and
// libraries, and where to put temporary files.
var passedOn = []string{"PATH", "LD_LIBRARY_PATH", "TMPDIR", "SSL_CERT_FILE"}

// Runner runs the chain binary.
type Runner struct {
	// Path of the binary; a bare name is looked up in PATH.
	Path string
}

// Call is one run of the binary.
type Call struct {
	Args []string
	// Stdin carries secrets: passphrases, never shown anywhere.
	Stdin string
	// Quiet keeps the child's standard error out of every message, because it may
	// hold a mnemonic.
	Quiet bool
	// Merge takes standard error for output too: not every version of seid writes its
	// answers to standard output.
	Merge bool
}

// Error is a run that did not end well.
type Error struct {
	// Command is the sub-command, without its arguments.
	Command string
	// Message is what the binary said was wrong.
	Message string
	Err     error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("running seid %s: %v", e.Command, e.Err)
	}
	return fmt.Sprintf("running seid %s: %v: %s", e.Command, e.Err, e.Message)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Run runs the binary to its end and gives its standard output.
func (r Runner) Run(ctx context.Context, call Call) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	stdout, stderr := &limited{max: maxStdout}, &tail{max: maxStderr}
	cmd := exec.CommandContext(ctx, r.Path, call.Args...) //nolint:gosec // the path is the operator's setting, never a task's
	cmd.Env = environment()
	cmd.Stdin = strings.NewReader(call.Stdin)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if call.Merge {
		both := io.MultiWriter(stdout, stderr)
		cmd.Stdout, cmd.Stderr = both, both
	}
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	// The kernel sends the death signal when the thread that started the child
	// ends, so the thread has to stay ours until the child is gone.
	runtime.LockOSThread()
	err := cmd.Run()
	runtime.UnlockOSThread()
	if err == nil {
		return stdout.Bytes(), nil
	}
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	failure := &Error{Command: command(call.Args), Err: err}
	if !call.Quiet {
		failure.Message = complaint(stderr.String())
	}
	return nil, failure
}

func environment() []string {
	env := []string{"HOME=/"}
	for _, name := range passedOn {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// command is the words of the arguments before the first flag or value, enough
// to know which step it was.
func command(args []string) string {
	words := make([]string, 0, 3)
	for _, a := range args {
		if strings.HasPrefix(a, "-") || len(words) == 3 {
			break
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// complaint finds the one line that matters between usage texts and stack traces.
func complaint(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "Error: "); ok {
			return rest
		}
		if strings.HasPrefix(line, "panic: ") {
			return line
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// limited keeps output up to a bound and then refuses more.
type limited struct {
	bytes.Buffer
	max int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > l.max {
		return 0, fmt.Errorf("more than %d bytes of output", l.max)
	}
	return l.Buffer.Write(p)
}

// tail keeps the last part of a stream.
type tail struct {
	data []byte
	max  int
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if extra := len(t.data) - t.max; extra > 0 {
		t.data = append(t.data[:0], t.data[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.data) }
