package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	only := flag.String("run", "", "make the mutants whose id matches")
	parallel := flag.Int("parallel", 2, "how many at once")
	narrow := flag.Bool("narrow", false, "leave out tests that need a control plane")
	timeout := flag.Duration("timeout", 10*time.Minute, "when a test does not end")
	flag.Parse()

	root, err := repository(ctx)
	if err != nil {
		return err
	}
	all, err := chosen(root, *only)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return fmt.Errorf("making a folder for changed files: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	defer sweep(root, failures(root))
	r := &runner{root: root, scratch: scratch, timeout: *timeout, narrow: *narrow, binaries: map[string]string{}}
	apart, err := r.prepare(ctx, all)
	if err != nil {
		return err
	}
	verdicts := r.judgeAll(ctx, all, apart, *parallel)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	fmt.Print(table(verdicts))
	if err := publish(root, verdicts); err != nil {
		return err
	}
	return sum(os.Stdout, verdicts)
}

// failures are the folders in which rapid keeps what made a property fail, to try it first the next time.
func failures(root string) []string {
	var found []string
	for _, depth := range []string{"*", "*/*", "*/*/*", "*/*/*/*"} {
		some, _ := filepath.Glob(filepath.Join(root, depth, "testdata", "rapid"))
		found = append(found, some...)
	}
	return found
}

// sweep removes those folders that a run has made: what fails with a defect says nothing without it.
func sweep(root string, before []string) {
	for _, folder := range failures(root) {
		if !slices.Contains(before, folder) {
			_ = os.RemoveAll(folder)
			_ = os.Remove(filepath.Dir(folder)) // unless there is something else in it
		}
	}
}

// publish writes the documentation page with the known results of all mutants.
func publish(root string, verdicts []verdict) error {
	known, err := merge(filepath.Join(root, ".cache", "mutants.json"), verdicts)
	if err != nil {
		return err
	}
	mutants, err := load(root)
	if err != nil {
		return err
	}
	path := filepath.Join(root, "docs", "contributing", "mutants.md")
	if err := os.WriteFile(path, []byte(page(mutants, known)), 0o644); err != nil { //nolint:gosec // a page is for everybody
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

func repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the root of the module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func chosen(root, only string) ([]*mutant, error) {
	all, err := load(root)
	if err != nil {
		return nil, err
	}
	if err := check(root, all); err != nil {
		return nil, err
	}
	wanted, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	return slices.DeleteFunc(all, func(m *mutant) bool { return !wanted.MatchString(m.ID) }), nil
}

// prepare builds every test binary once, with all mutants in it, and checks that all tests pass
// without any. It returns the mutants that need a build of their own.
func (r *runner) prepare(ctx context.Context, mutants []*mutant) (apart []*mutant, err error) {
	list, apart, err := all(r.root, r.scratch, mutants)
	if err != nil {
		return nil, err
	}
	var stages []string
	for _, m := range mutants {
		stages = append(stages, r.asked(m)...)
	}
	slices.Sort(stages)
	for _, stage := range slices.Compact(stages) {
		pkg, run := split(stage)
		if r.binaries[pkg] == "" {
			if r.binaries[pkg], err = r.build(ctx, pkg, list, r.scratch); err != nil {
				return nil, fmt.Errorf("building %s with all mutants: %w", pkg, err)
			}
		}
		failed, err := r.confirmed(ctx, r.binaries[pkg], pkg, run, "")
		if err == nil && failed != "" {
			err = fmt.Errorf("%s fails", failed)
		}
		if err != nil {
			return nil, fmt.Errorf("without a defect, %s: %w", stage, err)
		}
		fmt.Fprintf(os.Stderr, "%s passes without a defect\n", stage)
	}
	return apart, nil
}

// judgeAll tests mutants in parallel and reports progress.
func (r *runner) judgeAll(ctx context.Context, mutants, apart []*mutant, parallel int) []verdict {
	verdicts := make([]verdict, len(mutants))
	slots := make(chan struct{}, max(1, parallel))
	var (
		waiting sync.WaitGroup
		mu      sync.Mutex
		done    int
	)
	for i, m := range mutants {
		slots <- struct{}{}
		waiting.Go(func() {
			defer func() { <-slots }()
			built := func(pkg string) (string, error) { return r.binaries[pkg], nil }
			if slices.Contains(apart, m) {
				built = r.apart(ctx, m)
			}
			verdicts[i] = r.judge(ctx, m, built)
			mu.Lock()
			defer mu.Unlock()
			done++
			fmt.Fprintf(os.Stderr, "%d of %d: %s\n", done, len(mutants), verdicts[i].words())
		})
	}
	waiting.Wait()
	return verdicts
}

// apart returns a function that builds test binaries with a single mutant.
func (r *runner) apart(ctx context.Context, m *mutant) func(string) (string, error) {
	return func(pkg string) (string, error) {
		dir := filepath.Join(r.scratch, m.ID)
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return "", fmt.Errorf("making a folder for a mutant: %w", err)
		}
		list, err := one(r.root, dir, m)
		if err != nil {
			return "", err
		}
		return r.build(ctx, pkg, list, dir)
	}
}
