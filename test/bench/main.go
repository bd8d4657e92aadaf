// Command bench measures the operator: the real manager binary in a process of its
// own, on a real control plane, with simulated kubelets and sidecars. Its parts:
//
//	writes  what single writes cost the API server
//	load    for every number of nodes: create them, let them rest, restart the operator,
//	        change all images, replace pods, hang a sidecar. Repeated, for the spread
//	busy    one node's image change while hundreds of others are being created
//	growth  more and more settled nodes: memory, CPU at rest, cold start, one node's change
//
//	go run ./test/bench --check
//	go run ./test/bench --parts load --nodes 100 --repeat 1
//
// Figures only. What the operator has to do is proven by tests; here is no assertion
// but the aims of aims.go and the figures of an earlier run. Linux only: costs are read from /proc.
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

// The parts of a run.
const (
	partWrites = "writes"
	partLoad   = "load"
	partBusy   = "busy"
	partGrowth = "growth"
)

var allParts = []string{partWrites, partLoad, partBusy, partGrowth}

// settings are the parsed flags.
type settings struct {
	parts       []string
	sizes       []int
	repeat      int
	writes      int
	busy        int
	growth      []int
	out         string
	docs        bool
	record      bool
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
	flags.StringSliceVar(&s.parts, "parts", allParts, "which parts to run")
	flags.IntSliceVar(&s.sizes, "nodes", []int{100, 500, 1000}, "load: how many nodes; so many runs for each as --repeat says")
	flags.IntVar(&s.repeat, "repeat", 5, "load: how many runs; all but the first make the load, the rest and the update only")
	flags.IntVar(&s.writes, "writes", 500, "writes: how many of each kind")
	flags.IntVar(&s.busy, "busy", 500, "busy: how many nodes are created meanwhile")
	flags.IntSliceVar(&s.growth, "growth", []int{100, 200, 500, 1000, 2000, 5000}, "growth: at how many nodes to look, in rising order")
	flags.StringVar(&s.out, "out", filepath.Join(".cache", "bench", "bench.json"), "file for the figures, from the repository's root; empty for none")
	flags.BoolVar(&s.docs, "docs", false, "write tables and plots into docs/contributing/benchmarks.md")
	flags.BoolVar(&s.record, "record", false, "keep the figures as those that later runs are compared with")
	flags.BoolVar(&s.check, "check", false, "end with an error when an aim is missed, or a figure is a fifth worse than the one kept")
	flags.DurationVar(&s.rest, "rest", time.Minute, "how long the settled nodes are watched at rest")
	flags.IntVar(&s.slowPods, "slow-pods", 50, "how many pods are replaced by ones that start slowly")
	flags.DurationVar(&s.slowStart, "slow-start", 4*time.Second, "how long such a pod takes to start")
	flags.DurationVar(&s.patience, "patience", 20*time.Minute, "how long a single step may take")
	flags.StringVar(&s.profileDir, "profile", "", "folder for profiles of the operator and of the API server; the operator is then built with a profiler")
	flags.StringSliceVar(&s.managerArgs, "manager-arg", nil, "further flag for the manager, may be repeated")
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("reading the flags: %w", err)
	}
	return s, s.validate()
}

func (s *settings) validate() error {
	for _, part := range s.parts {
		if !slices.Contains(allParts, part) {
			return fmt.Errorf("reading the flags: --parts: %q is none of %s", part, strings.Join(allParts, ", "))
		}
	}
	switch {
	case len(s.sizes) == 0 || slices.Min(s.sizes) < minNodes:
		return fmt.Errorf("reading the flags: --nodes must name numbers of %d or more", minNodes)
	case len(s.growth) == 0 || slices.Min(s.growth) < minNodes || !slices.IsSorted(s.growth):
		return fmt.Errorf("reading the flags: --growth must name numbers of %d or more in rising order", minNodes)
	case s.rest <= 0 || s.slowPods < 1 || s.patience <= 0 || s.repeat < 1 || s.writes < 1 || s.busy < 1:
		return errors.New("reading the flags: --rest, --slow-pods, --patience, --repeat, --writes and --busy must be above zero")
	}
	return nil
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
	for _, part := range s.parts {
		if err := report.measure(ctx, part, s, binary, stderr); err != nil {
			return err
		}
		if s.out != "" { // after each part, so that an interrupted run is not lost
			if err := report.write(rooted(root, s.out)); err != nil {
				return err
			}
		}
	}
	if s.docs {
		if err := report.writeDocs(root); err != nil {
			return err
		}
	}
	if s.record {
		if err := report.record(root); err != nil {
			return err
		}
	}
	return conclude(report, root, s.check, stdout)
}

// measure runs one part.
func (r *Report) measure(ctx context.Context, part string, s *settings, binary string, out io.Writer) (err error) {
	switch part {
	case partWrites:
		r.WritesLoad = loadAverage()
		r.Writes, err = measureWrites(ctx, s.writes, out)
	case partLoad:
		for _, n := range s.sizes {
			for i := range s.repeat {
				run, err := measure(ctx, s, binary, n, i == 0, out)
				if err != nil {
					return fmt.Errorf("measuring %d nodes: %w", n, err)
				}
				r.Runs = append(r.Runs, run)
			}
		}
	case partBusy:
		r.Busy, err = measureBusy(ctx, s, binary, out)
	case partGrowth:
		r.Growth, err = measureGrowth(ctx, s, binary, out)
	}
	if err != nil {
		return fmt.Errorf("part %s: %w", part, err)
	}
	return nil
}

// rooted makes a relative path one from the repository's root.
func rooted(root, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

// conclude prints the tables, the aims that were missed, and what got worse.
func conclude(report *Report, root string, check bool, out io.Writer) error {
	if _, err := io.WriteString(out, "\n"+report.markdown()); err != nil {
		return fmt.Errorf("printing the tables: %w", err)
	}
	worse, err := report.regressions(root)
	if err != nil {
		return err
	}
	missed := append(report.missed(), worse...)
	if len(missed) == 0 {
		_, err := fmt.Fprintln(out, "\nAll aims are met.")
		return err
	}
	list := strings.Join(missed, "\n  ")
	if check {
		return fmt.Errorf("%d aims are missed:\n  %s", len(missed), list)
	}
	_, err = fmt.Fprintf(out, "\n%d aims are missed:\n  %s\n", len(missed), list)
	return err
}

// bySize groups the runs by number of nodes, in their order.
func (r *Report) bySize() [][]*Run {
	var groups [][]*Run
	for _, run := range r.Runs {
		i := slices.IndexFunc(groups, func(g []*Run) bool { return g[0].Nodes == run.Nodes })
		if i < 0 {
			groups = append(groups, []*Run{run})
			continue
		}
		groups[i] = append(groups[i], run)
	}
	return groups
}

// missed names the aims that were missed.
func (r *Report) missed() []string {
	var missed []string
	for _, runs := range r.bySize() {
		missed = append(missed, missedAims(runs)...)
	}
	if r.Busy != nil && r.Busy.Change.Max > busyAim {
		missed = append(missed, fmt.Sprintf("one node's change while %d are created: %.2f s, aim ≤ %d s", r.Busy.Nodes, r.Busy.Change.Max, busyAim))
	}
	for _, g := range r.Growth {
		if g.Change.Median > growthAim {
			missed = append(missed, fmt.Sprintf("one node's change among %d: %.2f s, aim ≤ %.1f s", g.Nodes, g.Change.Median, growthAim))
		}
	}
	return missed
}
