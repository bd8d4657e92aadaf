package sidecar_test

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// closeEnv is how long the slow node of this test takes to close, at least.
const closeEnv = "SEI_TEST_CLOSE_DELAY"

// A node that takes its time to close is asked to end again and again, by tasks of other ids
// and by the kubelet. It hears of it once, and closes its databases.
func TestStop_OfANodeThatClosesSlowly_AskedByAll_ClosesCleanly(t *testing.T) {
	t.Parallel()
	delay, err := time.ParseDuration(cmp.Or(os.Getenv(closeEnv), "5s"))
	if err != nil {
		t.Fatalf("%s: %v", closeEnv, err)
	}
	v := newNode(t, "slow-1", "v0", "")
	ceremony([]*node{v}, nil)
	slow := newSlowCloser(t, v)
	v.run(podSpec{restart: true, seid: slow.path, env: slow.env})
	do[any](v, api.MarkReady, nil)
	v.awaitHeight(2)

	last := slowlyEnded(t, v, slow, delay)
	slow.release()
	restarted := decode[wire.Restarted](v, v.Await(last))
	v.awaitHeight(v.height() + 1)
	lives := slow.lives()
	if want := []string{lineAsked, lineClosing, lineEnded + "0"}; len(lives) != 2 || !slices.Equal(lives[0], want) {
		t.Fatalf("the processes wrote down %q, want two, the first with %q", lives, want)
	}
	if got := strings.Count(v.log(), "Closed memiavl db"); got != 1 {
		t.Errorf("the log says %d times that the database was closed", got)
	}
	doc := v.document()
	t.Logf("%+v; last exit %+v", restarted, doc.Seid.LastExit)
	if exit := doc.Seid.LastExit; exit == nil || exit.Reason != api.ExitStopped || exit.Code != 0 || exit.Signal != "" || doc.Seid.Starts != 2 || !restarted.RPCServing {
		t.Errorf("%+v; seid %+v, last exit %+v", restarted, doc.Seid, exit)
	}
}

// slowlyEnded asks the node to end for a while, and gives the id of the last task, which
// restarts it. Each request has arrived while the process still runs that heard of the first.
func slowlyEnded(t *testing.T, v *node, slow slowCloser, delay time.Duration) (last string) {
	t.Helper()
	const waitedFor = "waiting for seid"
	gate := <-v.pod.starts
	last = v.Submit(api.StopSeid, uuid.NewString(), nil)
	slow.whileOpen("the first request", func() bool { return slices.Contains(slow.lives()[0], lineAsked) })
	begin, requests := time.Now(), 0
	for ; requests < 4 || requests%2 == 1 || time.Since(begin) < delay; requests++ {
		if err := syscall.Kill(gate, syscall.SIGTERM); err != nil {
			t.Fatalf("the gate has gone: %v", err)
		}
		slow.whileOpen("a signal of the kubelet", func() bool {
			return strings.Count(v.log(), "seid was asked to end already and is waited for") > requests
		})
		// An operator that gave up on a task and tries another one.
		if err := v.Client().Delete(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		task := []api.TaskType{api.StopSeid, api.RestartSeid}[requests%2]
		last = v.Submit(task, uuid.NewString(), nil)
		slow.whileOpen("another "+string(task), func() bool {
			got, err := v.Client().Get(t.Context(), last, 0)
			return err == nil && got.Progress != nil && strings.Contains(got.Progress.Message, waitedFor)
		})
	}
	t.Logf("after the first request %d tasks and as many signals of the kubelet came while it closed, in %s", requests, time.Since(begin).Round(time.Second))
	return last
}
