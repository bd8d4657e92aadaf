package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// single creates nodes one at a time and removes them again.
func (b *bench) single(ctx context.Context) error {
	now, _, err := memory(b.operator.pid())
	if err != nil {
		return err
	}
	file, err := programMemory(b.operator.pid())
	if err != nil {
		return err
	}
	b.run.Memory.Idle, b.run.Memory.Program = mib(now), mib(file)
	began := time.Now()
	var took []time.Duration
	var names []string
	for i := range singles {
		name := fmt.Sprintf("single-%d", i)
		names = append(names, name)
		done := b.nodes.expect([]string{name}, settledOn(imageFirst))
		created := time.Now()
		if err := b.create(ctx, name); err != nil {
			return err
		}
		met, err := b.await(ctx, done)
		if err != nil {
			return err
		}
		took = append(took, met[name].Sub(created))
	}
	if err := pause(ctx, time.Second); err != nil {
		return err
	}
	b.run.Single.Done = timesOf(took)
	if b.run.Single.Requests, err = b.requestsIn(began, time.Now()); err != nil {
		return err
	}
	if err := each(names, func(name string) error { return b.removeNode(ctx, name) }); err != nil {
		return err
	}
	// What the operator still hears of them is not the load's.
	return pause(ctx, settleTime)
}

// load creates all nodes at once.
func (b *bench) load(ctx context.Context) error {
	v, err := b.open(ctx)
	if err != nil {
		return err
	}
	l := &b.run.Load
	before, err := b.serverWrites(ctx)
	if err != nil {
		return err
	}
	profiled := b.profileDuring(ctx, "load", b.profileSpan())
	running, done := b.nodes.expect(b.names, isRunning), b.nodes.expect(b.names, settledOn(imageFirst))
	created, err := b.stamped(b.names, func(name string) error { return b.create(ctx, name) })
	if err != nil {
		return err
	}
	l.Created = time.Since(v.from).Seconds()
	ran, err := b.await(ctx, running)
	if err != nil {
		return err
	}
	_, l.Running = span(v.from, ran)
	met, err := b.await(ctx, done)
	if err != nil {
		return err
	}
	ended := time.Now()
	l.FirstDone, l.AllDone = span(v.from, met)
	l.Node = timesOf(since(created, met))
	if l.Cost, err = b.cost(v); err != nil {
		return err
	}
	profiled()
	if err := pause(ctx, settleTime); err != nil {
		return err
	}
	after, err := b.serverWrites(ctx)
	if err != nil {
		return err
	}
	l.Everybody = map[string]float64{}
	for kind, count := range after {
		if more := (count - before[kind]) / float64(b.run.Nodes); more >= 0.01 {
			l.Everybody[kind] = more
		}
	}
	return b.countLoad(ctx, v, ended)
}

func (b *bench) countLoad(ctx context.Context, v *window, ended time.Time) (err error) {
	l := &b.run.Load
	if l.ToDone, err = b.requestsIn(v.from, ended); err != nil {
		return err
	}
	if l.Settled, err = b.requestsIn(v.from, time.Now()); err != nil {
		return err
	}
	if l.Reconciles, err = b.grown(ctx, v, metricReconciles, labelNodes); err != nil {
		return err
	}
	if l.Conflicts, err = b.grown(ctx, v, metricPatches, `result="conflict"`); err != nil {
		return err
	}
	asked := b.sidecars.Requests("")[v.sidecarRequests:]
	l.SidecarRequests = len(asked)
	l.Tasks, l.Repeated = submissions(asked)
	now, peak, err := memory(b.operator.pid())
	b.run.Memory.Loaded, b.run.Memory.LoadedPeak = mib(now), mib(peak)
	return err
}

// The operator's metrics that are read.
const (
	metricReconciles = "controller_runtime_reconcile_total"
	labelNodes       = `controller="seinode"`
	metricPatches    = "seinode_status_patches_total"
)

// submissions counts the tasks that were submitted, and how many of these were
// submitted before.
func submissions(asked []sidecarsim.Request) (all, repeated int) {
	seen := map[string]bool{}
	for _, r := range asked {
		if r.Method != http.MethodPost || r.Type == "" {
			continue
		}
		all++
		if seen[r.Task] {
			repeated++
		}
		seen[r.Task] = true
	}
	return all, repeated
}

// stamped does something for every node and notes when it began with each.
func (b *bench) stamped(names []string, do func(name string) error) (map[string]time.Time, error) {
	var mu sync.Mutex
	at := make(map[string]time.Time, len(names))
	err := each(names, func(name string) error {
		mu.Lock()
		at[name] = time.Now()
		mu.Unlock()
		return do(name)
	})
	return at, err
}

// rest watches the settled nodes while nothing happens.
func (b *bench) rest(ctx context.Context) error {
	v, err := b.open(ctx)
	if err != nil {
		return err
	}
	profiled := b.profileDuring(ctx, "rest", b.s.rest)
	if err := pause(ctx, b.s.rest); err != nil {
		return err
	}
	r := &b.run.Rest
	r.Seconds = time.Since(v.from).Seconds()
	if r.Cost, err = b.cost(v); err != nil {
		return err
	}
	if r.Requests, err = b.requestsIn(v.from, time.Now()); err != nil {
		return err
	}
	r.SidecarRequests = len(b.sidecars.Requests("")) - v.sidecarRequests
	r.Reconciles, err = b.grown(ctx, v, metricReconciles, labelNodes)
	profiled()
	return err
}
