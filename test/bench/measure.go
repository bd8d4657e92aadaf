package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// The images that nodes go through, one per step that changes them.
const (
	imageFirst   = "seid:a"
	imageRestart = "seid:b"
	imageUpdate  = "seid:c"
	imageHang    = "seid:d"
)

const (
	// minNodes is what the steps need to have nodes of their own.
	minNodes = 20
	// singles is how many nodes are created one at a time.
	singles = 10
	// hands is how many requests the bench itself has under way.
	hands = 10
	// settleTime is how long nodes that are done may still cause writes that
	// are theirs: events and late conditions.
	settleTime = 5 * time.Second
)

// bench is one run.
type bench struct {
	*world

	s      *settings
	binary string
	names  []string
	run    *Run
	out    io.Writer

	operator *operator
	peak     int64
}

// step is a part of a run.
type step struct {
	name string
	do   func(context.Context) error
}

// newBench starts a control plane and an operator. Call stop at the end.
func newBench(ctx context.Context, s *settings, binary string, n int, out io.Writer) (*bench, error) {
	run := &Run{Nodes: n, LoadAverage: loadAverage()}
	w, err := newWorld(ctx, s.profileDir != "")
	if err != nil {
		return nil, err
	}
	run.Kubernetes = w.Version.GitVersion
	b := &bench{world: w, s: s, binary: binary, run: run, out: out}
	for i := range n {
		b.names = append(b.names, fmt.Sprintf("node-%04d", i))
	}
	if err := b.start(ctx); err != nil {
		w.stop()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() {
	b.operator.kill()
	b.stop()
}

// steps makes one step after the other and says how long each took.
func (b *bench) steps(ctx context.Context, all ...step) error {
	for _, step := range all {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w; the operator's last words:\n%s", step.name, err, b.operator.lastWords())
		}
		_, _ = fmt.Fprintf(b.out, "%d nodes: %s took %.1f s\n", b.run.Nodes, step.name, time.Since(began).Seconds())
	}
	return nil
}

// measure runs the steps with n nodes on a control plane of their own: all of them, or those that are
// repeated.
func measure(ctx context.Context, s *settings, binary string, n int, all bool, out io.Writer) (*Run, error) {
	b, err := newBench(ctx, s, binary, n, out)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if !all {
		return b.run, b.steps(ctx, step{"load", b.load}, step{"rest", b.rest}, step{"update", b.update}, step{"end", b.end})
	}
	return b.run, b.steps(ctx, step{"single nodes", b.single}, step{"load", b.load}, step{"rest", b.rest}, step{"restart", b.restart},
		step{"update", b.update}, step{"replacement", b.replace}, step{"hanging sidecar", b.hang}, step{"end", b.end})
}

// profileSpan is how much of a step with all nodes is profiled.
func (b *bench) profileSpan() time.Duration {
	return max(time.Duration(b.run.Nodes)*20*time.Millisecond, time.Second)
}

// start starts an operator and waits until it works.
func (b *bench) start(ctx context.Context) (err error) {
	if b.operator, err = b.startOperator(ctx, b.s, b.binary); err != nil {
		return err
	}
	return b.operator.awaitLeader(ctx)
}

// stopOperator ends the operator and remembers what it needed.
func (b *bench) stopOperator(ctx context.Context) error {
	_, peak, err := memory(b.operator.pid())
	if err != nil {
		return err
	}
	b.peak = max(b.peak, peak)
	return b.operator.stop(ctx)
}

// end ends the operator and takes the memory of all.
func (b *bench) end(ctx context.Context) error {
	_, peak, err := memory(b.APIServer.PID)
	if err != nil {
		return err
	}
	b.run.Memory.APIServerPeak = mib(peak)
	if err := b.stopOperator(ctx); err != nil {
		return err
	}
	b.run.Memory.Peak = mib(b.peak)
	return nil
}

// await returns when each node met a condition.
func (b *bench) await(ctx context.Context, e *expectation) (map[string]time.Time, error) {
	return b.nodes.wait(ctx, e, b.s.patience, b.operator.ended)
}

// key is how the simulated sidecars call a node.
func key(name string) string { return nodesNamespace + "/" + name }

// each does something for many nodes, a few at a time, and returns the first error.
func each(names []string, do func(name string) error) error {
	queue := make(chan string)
	var failed error
	var once sync.Once
	var workers sync.WaitGroup
	for range hands {
		workers.Go(func() {
			for name := range queue {
				if err := do(name); err != nil {
					once.Do(func() { failed = err })
				}
			}
		})
	}
	for _, name := range names {
		queue <- name
	}
	close(queue)
	workers.Wait()
	return failed
}

// window is a span of time over which things are counted.
type window struct {
	from            time.Time
	cpu             Cost
	metrics         []byte
	sidecarRequests int
}

func (b *bench) open(ctx context.Context) (*window, error) {
	v := &window{from: time.Now(), sidecarRequests: len(b.sidecars.Requests(""))}
	var err error
	if v.cpu, err = b.cpuSoFar(); err != nil {
		return nil, err
	}
	v.metrics, err = b.operator.scrape(ctx)
	return v, err
}

// cost is the CPU time used since the window was opened.
func (b *bench) cost(v *window) (Cost, error) {
	now, err := b.cpuSoFar()
	return Cost{
		Operator: now.Operator - v.cpu.Operator, APIServer: now.APIServer - v.cpu.APIServer,
		ControllerManager: now.ControllerManager - v.cpu.ControllerManager, Etcd: now.Etcd - v.cpu.Etcd, Bench: now.Bench - v.cpu.Bench,
	}, err
}

// cpuSoFar is the CPU time of all processes since they started.
func (b *bench) cpuSoFar() (Cost, error) {
	var c Cost
	for pid, into := range map[int]*float64{
		b.operator.pid(): &c.Operator, b.APIServer.PID: &c.APIServer, b.ControllerManager.PID: &c.ControllerManager,
		b.Etcd.PID: &c.Etcd, os.Getpid(): &c.Bench,
	} {
		used, err := cpuTime(pid)
		if err != nil {
			return Cost{}, err
		}
		*into = used.Seconds()
	}
	return c, nil
}

// grown is how far a counter of the operator went up since the window was opened.
func (b *bench) grown(ctx context.Context, v *window, name string, labels ...string) (float64, error) {
	now, err := b.operator.scrape(ctx)
	if err != nil {
		return 0, err
	}
	return sumOf(now, name, labels...) - sumOf(v.metrics, name, labels...), nil
}

// requestsIn counts the operator's requests of a span of time.
func (b *bench) requestsIn(from, to time.Time) (Requests, error) {
	found, err := b.audit.between(from, to)
	if err != nil {
		return Requests{}, err
	}
	return count(found), nil
}

// since are the times that passed between two moments of each node.
func since(from, to map[string]time.Time) []time.Duration {
	all := make([]time.Duration, 0, len(to))
	for name, at := range to {
		all = append(all, at.Sub(from[name]))
	}
	return all
}

// span is the time from a moment to the first and to the last of many.
func span(from time.Time, to map[string]time.Time) (first, last float64) {
	for _, at := range to {
		took := at.Sub(from).Seconds()
		if first == 0 || took < first {
			first = took
		}
		last = max(last, took)
	}
	return first, last
}
