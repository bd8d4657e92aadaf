package engine

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestRetention_KeepsTheNewestAndEverythingThatRuns(t *testing.T) {
	began := make(chan string, 1)
	b := open(t, echoHandler(), blockingHandler([]Group{GroupData}, began))
	b.keep = retention{tasks: 3, bytes: 1 << 20, age: time.Hour}
	running := b.submit(blocking, "", "")
	<-began
	ids := make([]string, 6)
	for i := range ids {
		ids[i] = b.submit(echo, "", "")
		b.await(ids[i])
	}
	tasks, err := b.List()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{ids[5], ids[4], ids[3], running}, idsOf(tasks)); diff != "" {
		t.Error(diff)
	}
}

// The task that holds the gate is what releases it, however long it holds.
func TestRetention_KeepsTheTaskThatHoldsTheGate(t *testing.T) {
	b := open(t, echoHandler())
	b.keep = retention{tasks: 2, bytes: 1 << 20, age: time.Hour}
	older, hold := b.submit(api.MarkNotReady, "", ""), b.submit(api.MarkNotReady, "", "")
	b.await(older)
	b.await(hold)
	for range 4 {
		b.await(b.submit(echo, "", ""))
	}
	if _, err := b.Get(older); codeOf(err) != api.CodeNotFound {
		t.Errorf("an older hold is kept: %v", err)
	}
	requireGate(t, b.reopen(echoHandler()), api.GateHeld, hold)
}

// A hold that an approval has ended must not hold the next process because the approval is gone.
func TestRetention_KeepsNoHoldThatHasEnded(t *testing.T) {
	b := open(t, echoHandler())
	b.keep = retention{tasks: 2, bytes: 1 << 20, age: time.Hour}
	hold, ready := b.submit(api.MarkNotReady, "", ""), b.submit(api.MarkReady, "", "")
	b.await(hold)
	b.await(ready)
	for range 4 {
		b.await(b.submit(echo, "", ""))
	}
	if _, err := b.Get(hold); codeOf(err) != api.CodeNotFound {
		t.Errorf("the hold that has ended is kept: %v", err)
	}
	if _, err := b.Get(ready); err != nil {
		t.Errorf("the last approval is not kept: %v", err)
	}
	requireGate(t, b.reopen(echoHandler()), api.GateClosed, "")
}

// A hold that failed holds nothing, so the approval before it still counts.
func TestRetention_HoldThatFailed_DoesNotReplaceTheLastMove(t *testing.T) {
	hold, ready, failed := uuid.NewString(), uuid.NewString(), uuid.NewString()
	b := openAt(t, plant(t,
		api.TaskResult{ID: hold, Type: api.MarkNotReady, Status: api.TaskCompleted},
		api.TaskResult{ID: ready, Type: api.MarkReady, Status: api.TaskCompleted},
		api.TaskResult{ID: failed, Type: api.MarkNotReady, Status: api.TaskFailed},
	), clock.RealClock{}, echoHandler())
	b.keep = retention{tasks: 1, bytes: 1 << 20, age: time.Hour}
	b.await(b.submit(echo, "", ""))
	for id, kept := range map[string]bool{hold: false, ready: true, failed: false} {
		if _, err := b.Get(id); (err == nil) != kept {
			t.Errorf("%s: %v, want it kept: %v", id, err, kept)
		}
	}
}

func TestRetention_LargeParameters_DoNotPileUp(t *testing.T) {
	b := open(t, echoHandler())
	b.keep = retention{tasks: 1000, bytes: 25_000, age: time.Hour}
	ids := make([]string, 5)
	for i := range ids {
		ids[i] = b.submit(echo, "", `{"say":"`+strings.Repeat("x", 5_000)+`"}`) // about 10 kB with its result
		b.await(ids[i])
	}
	huge := b.submit(echo, "", `{"say":"`+strings.Repeat("x", 30_000)+`"}`)
	b.await(huge)
	tasks, err := b.List()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{huge}, idsOf(tasks)); diff != "" {
		t.Errorf("the newest is kept whatever its size: %s", diff)
	}
	small := b.submit(echo, "", "")
	if tasks, err = b.List(); err != nil || len(tasks) != 1 || tasks[0].ID != small {
		t.Errorf("%v %v, want no error, 1 of them and ID %v", idsOf(tasks), err, small)
	}
}

func TestRetention_LetsGoOfOldTasksByTheHour(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	b := openAt(t, filepath.Join(t.TempDir(), "s"), fake, echoHandler())
	id := b.submit(echo, "", "")
	b.await(id)
	fake.Step(29 * 24 * time.Hour)
	if _, err := b.Get(id); err != nil {
		t.Fatalf("after 29 days: %v", err)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		if fake.HasWaiters() {
			fake.Step(time.Hour)
		}
		if _, err := b.Get(id); codeOf(err) == api.CodeNotFound {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("never let go")
		}
	}
	if age := fake.Since(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)); age < 30*24*time.Hour {
		t.Errorf("let go after %v", age)
	}
}
