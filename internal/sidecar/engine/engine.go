package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

const (
	// listLimit is how many tasks a listing shows.
	listLimit = 100
	// listParams is the size above which a listing leaves a task's parameters out.
	listParams = 64 << 10
	// readOnlyTasks is how many tasks without a group run at once.
	readOnlyTasks = 64
	// maxUnfinished is how many tasks may be running or queued.
	maxUnfinished = 512
)

// Config is what an engine needs from outside.
type Config struct {
	// Path of the store. Its directory must exist.
	Path string
	// Owner is the node whose tasks these are. Those that the store has for another one are forgotten:
	// its volume was copied, or given to a recreated node. Empty: unknown.
	Owner string
	// Handlers are the task types beside mark-ready and mark-not-ready.
	Handlers []Handler
	// Conditions decide about the gate; nil means that it opens whatever is there.
	Conditions Conditions
	// Clock, Log and Registry default to the real clock, the default logger and
	// a registry of the engine's own.
	Clock    clock.Clock
	Log      *slog.Logger
	Registry prometheus.Registerer
}

// Engine accepts, orders, runs and remembers tasks.
type Engine struct {
	store    *store
	keep     retention
	limit    int // of unfinished tasks
	handlers map[api.TaskType]Handler
	gate     gate
	rules    Conditions
	clock    clock.Clock
	log      *slog.Logger
	metrics  *metrics
	queue    *queue

	ctx    context.Context //nolint:containedctx // the engine's own life, not a caller's
	cancel context.CancelFunc
	wg     sync.WaitGroup

	// write serialises decisions about rows: what is read under it is still
	// true when the row is written. It is held across disk writes; reads never
	// take it.
	write sync.Mutex
	// mu guards jobs. It is never held across anything slow.
	mu   sync.Mutex
	jobs map[string]*job
}

// Open opens the store, takes up what a previous process left unfinished and
// returns an engine that accepts tasks. The gate is closed until a mark-ready
// opens it.
func Open(cfg Config) (*Engine, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}
	if cfg.Registry == nil {
		cfg.Registry = prometheus.NewRegistry()
	}
	e := &Engine{
		keep:     defaultRetention,
		limit:    maxUnfinished,
		clock:    cfg.Clock,
		log:      cmp.Or(cfg.Log, slog.Default()),
		queue:    newQueue(readOnlyTasks),
		jobs:     map[string]*job{},
		handlers: map[api.TaskType]Handler{},
		rules:    cfg.Conditions,
		gate:     gate{state: api.GateClosed, since: cfg.Clock.Now().UTC()},
	}
	if err := e.register(append(e.gateHandlers(), cfg.Handlers...)); err != nil {
		return nil, err
	}
	var err error
	if e.metrics, err = newMetrics(cfg.Registry); err != nil {
		return nil, err
	}
	if e.store, err = openStore(cfg.Path); err != nil {
		return nil, err
	}
	if err := e.claim(cfg.Owner); err != nil {
		return nil, errors.Join(err, e.store.close())
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if err := e.resume(); err != nil {
		e.cancel()
		e.wg.Wait()
		return nil, errors.Join(fmt.Errorf("resuming tasks: %w", err), e.store.close())
	}
	return e, nil
}

// claim makes the store that of a node. What another node was asked to do must not be done to this one,
// and its holds would never be released.
func (e *Engine) claim(owner string) error {
	forgotten, err := e.store.claim(owner)
	if err != nil {
		return fmt.Errorf("claiming the task store: %w", err)
	}
	if forgotten > 0 {
		e.log.Warn("the volume has been another node's: its tasks are forgotten", "count", forgotten)
	}
	return nil
}

func (e *Engine) register(handlers []Handler) error {
	for _, h := range handlers {
		if _, twice := e.handlers[h.Type]; twice {
			return fmt.Errorf("registering task types: %s is given twice", h.Type)
		}
		if h.Run == nil {
			return fmt.Errorf("registering task types: %s cannot run", h.Type)
		}
		h.Groups = slices.Compact(slices.Sorted(slices.Values(h.Groups)))
		e.handlers[h.Type] = h
	}
	return nil
}

// Ping tells whether the store can be read.
func (e *Engine) Ping() error { return e.store.ping() }

// Records is the store that handlers share.
func (e *Engine) Records() Records { return boltRecords{e.store} }

// Types lists the registered task types in alphabetical order.
func (e *Engine) Types() []api.TaskType { return slices.Sorted(maps.Keys(e.handlers)) }

// Get shows one task.
func (e *Engine) Get(id string) (api.TaskResult, error) {
	r, found, err := e.store.get(id)
	if err != nil {
		return api.TaskResult{}, storeError("reading the task", err)
	}
	if !found {
		return api.TaskResult{}, errNotFound()
	}
	e.addProgress(&r.TaskResult)
	return r.TaskResult, nil
}

// Wait shows one task as soon as it is finished or deleted, and in any case
// when ctx ends or the engine shuts down.
func (e *Engine) Wait(ctx context.Context, id string) (api.TaskResult, error) {
	if j := e.job(id); j != nil {
		select {
		case <-j.done:
		case <-ctx.Done():
		case <-e.ctx.Done():
		}
	}
	return e.Get(id)
}

// List shows the last submitted tasks, newest first. Very large parameters are
// left out; Get shows them.
func (e *Engine) List() ([]api.TaskResult, error) {
	rows, err := e.store.newest(listLimit, listParams)
	if err != nil {
		return nil, storeError("listing tasks", err)
	}
	tasks := make([]api.TaskResult, 0, len(rows))
	for _, r := range rows {
		e.addProgress(&r.TaskResult)
		tasks = append(tasks, r.TaskResult)
	}
	return tasks, nil
}

// Delete forgets a task, and cancels it if it is running. What its handler still
// returns is thrown away. A gate that the task holds is released.
func (e *Engine) Delete(id string) error {
	e.write.Lock()
	defer e.write.Unlock()
	_, found, err := e.store.get(id)
	if err == nil && !found && e.gate.look().HeldBy != id {
		return errNotFound()
	}
	// A row that cannot be decoded can still be deleted.
	if err := e.store.remove(id); err != nil {
		return storeError("deleting the task", err)
	}
	if j := e.forget(id); j != nil {
		j.cancel()
		close(j.done)
	}
	return e.release(id)
}

// Stop cancels what runs, wakes everybody who waits and accepts nothing new.
// Tasks can still be looked at.
func (e *Engine) Stop() {
	e.write.Lock()
	defer e.write.Unlock()
	e.cancel()
}

// Close stops the engine, waits for its tasks until ctx ends, and closes the
// store. Tasks that did not finish stay running on disk and are run again by the
// next process.
func (e *Engine) Close(ctx context.Context) error {
	e.Stop()
	idle := make(chan struct{})
	go func() {
		e.wg.Wait()
		close(idle)
	}()
	var late error
	select {
	case <-idle:
	case <-ctx.Done():
		late = errors.New("shutting down: a task did not stop in time")
	}
	return errors.Join(late, e.store.close())
}

func (e *Engine) job(id string) *job {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.jobs[id]
}

// forget takes a job off the books and returns it, or nil if there is none.
func (e *Engine) forget(id string) *job {
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.jobs[id]
	delete(e.jobs, id)
	return j
}

func (e *Engine) addProgress(t *api.TaskResult) {
	if t.Status != api.TaskRunning {
		return
	}
	if j := e.job(t.ID); j != nil {
		t.Progress = j.progress.Load()
	}
}

func errNotFound() error { return api.Terminal(api.CodeNotFound, errors.New("task not found")) }

func storeError(doing string, err error) error {
	return api.Retryable(api.CodeStoreFailed, fmt.Errorf("%s: %w", doing, err))
}
