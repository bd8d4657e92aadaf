package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// verdict is the result of a mutant.
type verdict struct {
	*mutant
	// By is the test that noticed it; empty if none did.
	By   string
	Took time.Duration
	// Err is a mistake in the table: the mutant does not compile, or makes a test hang without being marked as
	// such.
	Err error
}

// runner builds tests and runs them.
type runner struct {
	root string
	// scratch is for changed files and test binaries.
	scratch string
	timeout time.Duration
	// narrow leaves out the tests that need a control plane.
	narrow bool
	// binaries are the test binaries with all mutants, by package.
	binaries map[string]string
}

// judge runs the tests of one mutant, one stage after the other. built returns the test binary of a package.
func (r *runner) judge(ctx context.Context, m *mutant, built func(pkg string) (string, error)) (v verdict) {
	began := time.Now()
	v.mutant = m
	defer func() { v.Took = time.Since(began) }()
	for _, stage := range r.asked(m) {
		pkg, run := split(stage)
		binary, err := built(pkg)
		if err == nil {
			v.By, err = r.confirmed(ctx, binary, pkg, run, m.ID)
		}
		if err == nil && v.By == hung && !m.Hangs {
			err = fmt.Errorf("%s does not end: say that it hangs, or name a test that fails", stage)
		}
		if v.Err = err; err != nil || v.By != "" {
			break
		}
	}
	return v
}

// asked returns the tests to run for a mutant.
func (r *runner) asked(m *mutant) []string {
	if !r.narrow {
		return m.stages()
	}
	var some []string
	for _, stage := range m.stages() {
		if !strings.HasPrefix(stage, "./test/") {
			some = append(some, stage)
		}
	}
	return some
}

// split separates a stage into a package and a pattern of test names.
func split(stage string) (pkg, run string) {
	pkg, run, _ = strings.Cut(stage, " -run ")
	return pkg, run
}

// build builds the test binary of a package with an overlay.
func (r *runner) build(ctx context.Context, pkg, overlay, into string) (string, error) {
	binary := filepath.Join(into, strings.ReplaceAll(strings.TrimPrefix(pkg, "./"), "/", "-")+".test")
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, pkg}
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // of a table of this repository
	cmd.Dir = r.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not compile: %w: %s", err, tail(string(out)))
	}
	return binary, nil
}

// confirmed returns a test that fails, and fails again when it is run by itself: a flaky test proves nothing.
func (r *runner) confirmed(ctx context.Context, binary, pkg, run, id string) (string, error) {
	failed, err := r.test(ctx, binary, pkg, run, id)
	if err != nil || failed == "" || failed == hung {
		return failed, err
	}
	whole, _, _ := strings.Cut(failed, "/")
	again, err := r.test(ctx, binary, pkg, "^"+whole+"$", id)
	if err != nil || again == "" {
		return "", err
	}
	return failed, nil
}

// hung stands for the name of a test that hangs.
const hung = "(does not end)"

// test runs the tests of a package with one mutant, or with none, and returns the name of one that failed; empty if
// all passed.
func (r *runner) test(ctx context.Context, binary, pkg, run, id string) (failed string, err error) {
	if _, err := os.Stat(binary); errors.Is(err, os.ErrNotExist) {
		return "", nil // a package without tests
	}
	args := []string{"-test.failfast", "-test.v", "-test.timeout", r.timeout.String(), "-test.run", run}
	cmd := exec.CommandContext(ctx, binary, args...) //nolint:gosec // built from this repository
	cmd.Dir, cmd.Env = filepath.Join(r.root, pkg), append(os.Environ(), variable+"="+id)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	default:
		return name(out.String(), err)
	}
}

var (
	failedTest  = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	startedTest = regexp.MustCompile(`(?m)^=== (?:RUN|CONT|NAME)\s+(\S+)`)
)

// name finds the failed test in the test output.
func name(said string, failure error) (string, error) {
	if strings.Contains(said, "panic: test timed out") {
		return hung, nil
	}
	if found := failedTest.FindAllStringSubmatch(said, -1); len(found) > 0 {
		return found[len(found)-1][1], nil // the innermost comes last
	}
	if before, _, panicked := strings.Cut(said, "\npanic: "); panicked {
		if found := startedTest.FindAllStringSubmatch(before, -1); len(found) > 0 {
			return found[len(found)-1][1], nil
		}
	}
	return "", fmt.Errorf("no test failed, but the tests did: %w: %s", failure, tail(said))
}

// tail returns the end of a text.
func tail(text string) string {
	const enough = 600
	text = strings.TrimSpace(text)
	return text[max(0, len(text)-enough):]
}
