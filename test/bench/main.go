// Command bench measures the operator: the real manager binary in a process of its
// own, on a real control plane, with simulated kubelets and sidecars. For every
// number of nodes it starts afresh, creates the nodes, lets them rest, restarts the
// operator, changes all images, replaces pods and hangs a sidecar, and writes down
// how long things took, what was asked of the API server, and what it cost.
//
//	go run ./test/bench --nodes 100,500 --check
//
// Figures only. What the operator has to do is proven by tests; here is no assertion
// but the aims of aims.go. Linux only: costs are read from /proc.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// settings are the parsed flags.
type settings struct {
	sizes       []int
	out         string
	check       bool
	rest        time.Duration
	slowPods    int
	slowStart   time.Duration
	patience    time.Duration
	profileDir  string
	managerArgs []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string, stderr io.Writer) (*settings, error) {
	s := &settings{}
	flags := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.SortFlags = false
	flags.IntSliceVar(&s.sizes, "nodes", []int{100, 500}, "how many nodes; one run for each")
	flags.StringVar(&s.out, "out", filepath.Join(".cache", "bench", "bench.json"), "file for the figures, from the repository's root; empty for none")
	flags.BoolVar(&s.check, "check", false, "end with an error when an aim is missed")
	flags.DurationVar(&s.rest, "rest", time.Minute, "how long the settled nodes are watched at rest")
	flags.IntVar(&s.slowPods, "slow-pods", 50, "how many pods are replaced by ones that start slowly")
	flags.DurationVar(&s.slowStart, "slow-start", 4*time.Second, "how long such a pod takes to start")
	flags.DurationVar(&s.patience, "patience", 10*time.Minute, "how long a single step may take")
	flags.StringVar(&s.profileDir, "profile", "", "folder for profiles of the operator and of the API server; the operator is then built with a profiler")
	flags.StringSliceVar(&s.managerArgs, "manager-arg", nil, "further flag for the manager, may be repeated")
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("reading the flags: %w", err)
	}
	switch {
	case len(s.sizes) == 0 || slices.Min(s.sizes) < minNodes:
		return nil, fmt.Errorf("reading the flags: --nodes must name numbers of %d or more", minNodes)
	case s.rest <= 0 || s.slowPods < 1 || s.patience <= 0:
		return nil, errors.New("reading the flags: --rest, --slow-pods and --patience must be above zero")
	}
	return s, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	root, err := envtest.RepositoryRoot()
	if err != nil {
		return err
	}
	dir, err := envtest.NewWorkdir()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary, err := buildManager(ctx, root, dir, s.profileDir != "")
	if err != nil {
		return err
	}
	report := newReport()
	for _, n := range s.sizes {
		result, err := measure(ctx, s, binary, n, stderr)
		if err != nil {
			return fmt.Errorf("measuring %d nodes: %w", n, err)
		}
		report.Runs = append(report.Runs, result)
	}
	if s.out != "" {
		if err := report.write(rooted(root, s.out)); err != nil {
			return err
		}
	}
	return conclude(report, s.check, stdout)
}

// rooted makes a relative path one from the repository's root.
func rooted(root, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

// conclude prints the tables and the aims that were missed.
func conclude(report *Report, check bool, out io.Writer) error {
	var missed []string
	for _, r := range report.Runs {
		rows := rowsOf(r)
		if _, err := fmt.Fprintf(out, "\n%s", table(r, rows)); err != nil {
			return fmt.Errorf("printing the table: %w", err)
		}
		missed = append(missed, missedAims(r.Nodes, rows)...)
	}
	if len(missed) == 0 {
		_, err := fmt.Fprintln(out, "\nAll aims are met.")
		return err
	}
	list := strings.Join(missed, "\n  ")
	if check {
		return fmt.Errorf("%d aims are missed:\n  %s", len(missed), list)
	}
	_, err := fmt.Fprintf(out, "\n%d aims are missed:\n  %s\n", len(missed), list)
	return err
}
