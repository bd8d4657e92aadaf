package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/chaos"
	"github.com/sei-operator/sei-operator/test/elapse"
)

const (
	// chaosLengthEnv is for how long the network is disturbed. Without it the test is skipped: it takes the cluster from
	// all other scenarios.
	chaosLengthEnv = "CHAOS_LENGTH"
	// chaosSeedEnv repeats the steps of an earlier run.
	chaosSeedEnv = "CHAOS_SEED"
	// recoveryBound is for how long a chain may stand while more than two thirds of its voting power runs.
	recoveryBound = time.Minute
	// settleTimeout is how long all may take to be well again, with containers that the kubelet lets wait after several kills.
	settleTimeout = 10 * time.Minute
	// fleetBudget is the default of maxUnavailable.
	fleetBudget = 1
)

// chaosRun is a network of four validators and two full nodes that is disturbed at random.
type chaosRun struct {
	*scenario
	watch *chaosWatch
	// nodes are those that are there from beginning to end, unless the full nodes are scaled.
	nodes  []string
	killed map[string]int
	frozen sync.WaitGroup
	// included are the hashes of all transactions in blocks that were read.
	included map[string]bool
	events   []*chaos.Event
	undos    []undoStep
	report   chaos.Report
}

// undoStep is the end of something that lasts.
type undoStep struct {
	at   time.Time
	of   *chaos.Event
	undo func() error
}

// TestChaos_LiveNetwork_SignsOnceAndRecovers kills what there is to kill and edits what there is to edit, at random, under a
// network that serves a client.
func TestChaos_LiveNetwork_SignsOnceAndRecovers(t *testing.T) {
	if os.Getenv(chaosLengthEnv) == "" {
		t.Skip("skipped: make chaos runs it, by itself")
	}
	length, err := time.ParseDuration(os.Getenv(chaosLengthEnv))
	if err != nil {
		t.Fatalf("%s: %v", chaosLengthEnv, err)
	}
	seed := uint64(time.Now().UnixNano() % 1_000_000)
	if text := os.Getenv(chaosSeedEnv); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", chaosSeedEnv, err)
		}
	}
	s := begin(t, "chaos")
	t.Logf("seed %d: %s=%d %s=%s make chaos repeats the steps", seed, chaosSeedEnv, seed, chaosLengthEnv, length)
	r := &chaosRun{scenario: s, killed: map[string]int{}, included: map[string]bool{}, report: chaos.Report{Seed: seed, Length: length, Bound: recoveryBound}}
	r.found()
	load := s.startPoller("rpc-internal")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	transactions := s.startSender(ctx, "rpc-internal", "v-0")
	r.watch = s.watchChaos(ctx)
	audited := s.auditSize()

	r.report.Began = time.Now()
	r.disturb(chaos.Draw(seed, length, chaosActs()))
	r.calm()
	r.report.Calm = time.Now()
	r.settle()
	r.judge(load, transactions, audited)
}

func chaosActs() []chaos.Act {
	alphabet := chaosAlphabet()
	acts := make([]chaos.Act, len(alphabet))
	for i, a := range alphabet {
		acts[i] = a.Act
	}
	return acts
}

// found brings the network up.
func (r *chaosRun) found() {
	r.t.Helper()
	r.chain.id = "chaos-1"
	r.peers = v1alpha1.LabelPeers{Selector: map[string]string{v1alpha1.LabelDeployment: "v"}}
	founders, full := r.founders(), r.servers()
	delete(founders.Spec.Template.Spec.Overrides, keyHaltHeight)
	r.create(full)
	r.create(founders)
	for _, fleet := range []*v1alpha1.SeiNodeDeployment{founders, full} {
		for ordinal := range fleet.Spec.Replicas {
			r.nodes = append(r.nodes, fmt.Sprintf("%s-%d", fleet.Name, ordinal))
		}
	}
	await(r.t, settleTimeout, "the network to be founded", r.isWell)
	r.awaitHeight("rpc-0", 5)
}

// disturb does one step after the other at its time, or as soon as the one before is done.
func (r *chaosRun) disturb(steps []chaos.Step) {
	r.t.Helper()
	acts := map[string]chaosAct{}
	for _, a := range chaosAlphabet() {
		acts[a.Name] = a
	}
	for _, step := range steps {
		at := r.report.Began.Add(step.After)
		r.undoUntil(at)
		r.waitUntil(at)
		began := time.Now()
		event, undo, err := acts[step.Act].do(r, step)
		event.At = began
		if err != nil {
			event.Missed = err.Error()
		}
		r.events = append(r.events, &event)
		if undo != nil {
			r.undos = append(r.undos, undoStep{at: began.Add(step.Lasts), of: &event, undo: undo})
		}
		r.watch.readSigned()
		r.t.Logf("%5.0fs %s %s: %s %s", began.Sub(r.report.Began).Seconds(), event.Kind, event.Row, event.What, event.Missed)
	}
	r.undoUntil(r.report.Began.Add(r.report.Length))
	r.waitUntil(r.report.Began.Add(r.report.Length))
}

// undoUntil ends what is due before a time.
func (r *chaosRun) undoUntil(until time.Time) {
	slices.SortStableFunc(r.undos, func(a, b undoStep) int { return a.at.Compare(b.at) })
	for len(r.undos) > 0 && !r.undos[0].at.After(until) {
		next := r.undos[0]
		r.undos = r.undos[1:]
		r.waitUntil(next.at)
		if err := next.undo(); err != nil {
			r.t.Logf("undoing %q: %v; it is undone at the end", next.of.What, err)
			continue
		}
		next.of.Until = time.Now()
	}
}

func (r *chaosRun) waitUntil(at time.Time) {
	elapse.For(r.t.Context(), time.Until(at))
}

// persist repeats a call while the API server is away, as people do. What it refuses is not repeated.
func (r *chaosRun) persist(call func(context.Context) error) error {
	const patience = 20 * time.Second
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		ctx, cancel := context.WithTimeout(r.t.Context(), patience)
		err := call(ctx)
		cancel()
		refused := apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || apierrors.IsTooManyRequests(err)
		if err == nil || refused || time.Now().After(deadline) {
			return err
		}
		select {
		case <-tick.C:
		case <-r.t.Context().Done():
			return err
		}
	}
}

// calm ends all that lasts, and puts both fleets back to what they were made as, but for images and restarts.
func (r *chaosRun) calm() {
	r.t.Helper()
	r.frozen.Wait()
	for _, u := range r.undos {
		u.of.Until = time.Now()
	}
	for _, fleet := range []string{"v", "rpc"} {
		err := r.changeFleet(fleet, func(f *v1alpha1.SeiNodeDeployment) {
			f.Spec.Paused, f.Spec.Nodes = false, nil
			delete(f.Spec.Template.Spec.Overrides, keyUnknown)
			delete(f.Spec.Template.Spec.Overrides, keyMinGasPrices)
			if fleet == "rpc" {
				f.Spec.Replicas = servers
			}
		})
		if err != nil {
			r.t.Fatalf("putting fleet %s back: %v", fleet, err)
		}
	}
}

// settle waits until all is well. That it is not is judged later, with the rest.
func (r *chaosRun) settle() {
	r.t.Helper()
	err := waitFor(r.t.Context(), settleTimeout, "the network to be well", r.isWell)
	if err == nil {
		r.report.Settled = time.Now()
		r.t.Logf("all is well %.0f s after the last disturbance", r.report.Settled.Sub(r.report.Calm).Seconds())
		return
	}
	r.t.Log(err)
}
