package engine

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestGate_OpensAndClosesOnCommand(t *testing.T) {
	b := open(t)
	if b.Ready() {
		t.Fatal("a new process is not ready")
	}
	ready := uuid.NewString()
	b.submit(api.MarkReady, ready, `{}`)
	b.await(ready)
	if !b.Ready() {
		t.Fatal("mark-ready opens")
	}
	b.await(b.submit(api.MarkNotReady, "", ""))
	if b.Ready() {
		t.Fatal("mark-not-ready closes")
	}
	if _, err := b.Get(ready); codeOf(err) != api.CodeNotFound {
		t.Errorf("the hold forgets earlier approvals: %v", err)
	}
	b.submit(api.MarkReady, ready, "")
	if got := b.await(ready); got.Run != 1 || !b.Ready() {
		t.Errorf("the id is fresh again: %+v", got)
	}
}

func TestGate_ManyMovesAtOnce_TheLastOneSubmittedWins(t *testing.T) {
	b := open(t)
	var last string
	for range 20 {
		b.submit(api.MarkReady, "", "")
		last = b.submit(api.MarkNotReady, "", "")
	}
	b.await(last)
	if b.Ready() {
		t.Error("open")
	}
	last = b.submit(api.MarkReady, "", "")
	b.await(last)
	if !b.Ready() {
		t.Error("closed")
	}
}

// Both moves stand in one queue that no other task stands in.
func TestGate_MovesQueueForEachOtherAlone(t *testing.T) {
	b := open(t, echoHandler())
	want := []Group{groupGate}
	for typ, h := range b.handlers {
		if isGateTask(typ) != cmp.Equal(h.Groups, want) {
			t.Errorf("%s is in %v", typ, h.Groups)
		}
	}
	first, second := b.queue.join(want), b.queue.join(want)
	if !called(first) || called(second) {
		t.Error("they overtake each other")
	}
	b.queue.leave(first)
	b.queue.leave(second)
}

func TestGate_HoldThatCannotBeStored_LeavesTheGateAsItIs(t *testing.T) {
	b := open(t)
	b.await(b.submit(api.MarkReady, "", ""))
	b.write.Lock()
	b.store.fault = func(op string) error {
		if op == "each" {
			return errors.New("disk on fire")
		}
		return nil
	}
	b.write.Unlock()
	got := b.await(b.submit(api.MarkNotReady, "", ""))
	if got.Status != api.TaskFailed || !b.Ready() {
		t.Errorf("%+v ready=%v", got, b.Ready())
	}
}

func TestResume_Gate(t *testing.T) {
	ready, hold := uuid.NewString(), uuid.NewString()
	row := func(id string, typ api.TaskType, s api.TaskStatus) api.TaskResult {
		return api.TaskResult{ID: id, Type: typ, Status: s}
	}
	for name, tc := range map[string]struct {
		rows      []api.TaskResult
		damaged   bool
		open      bool
		readyRow  api.TaskStatus
		readyText string
	}{
		"completed mark-ready is not repeated": {
			rows: []api.TaskResult{row(ready, api.MarkReady, api.TaskCompleted)}, readyRow: api.TaskCompleted,
		},
		"lone interrupted mark-ready is repeated": {
			rows: []api.TaskResult{row(ready, api.MarkReady, api.TaskRunning)}, open: true, readyRow: api.TaskCompleted,
		},
		"interrupted mark-ready after a hold is repeated": {
			rows: []api.TaskResult{row(hold, api.MarkNotReady, api.TaskCompleted), row(ready, api.MarkReady, api.TaskRunning)},
			open: true, readyRow: api.TaskCompleted,
		},
		"interrupted hold, then interrupted mark-ready": {
			rows: []api.TaskResult{row(hold, api.MarkNotReady, api.TaskRunning), row(ready, api.MarkReady, api.TaskRunning)},
			open: true, readyRow: api.TaskCompleted,
		},
		"interrupted mark-ready, then interrupted hold": {
			rows:     []api.TaskResult{row(ready, api.MarkReady, api.TaskRunning), row(hold, api.MarkNotReady, api.TaskRunning)},
			readyRow: api.TaskFailed, readyText: "superseded by hold",
		},
		"interrupted mark-ready, then completed hold": {
			rows:     []api.TaskResult{row(ready, api.MarkReady, api.TaskRunning), row(hold, api.MarkNotReady, api.TaskCompleted)},
			readyRow: api.TaskFailed, readyText: "superseded by hold",
		},
		"interrupted mark-ready, then failed hold": {
			rows:     []api.TaskResult{row(ready, api.MarkReady, api.TaskRunning), row(hold, api.MarkNotReady, api.TaskFailed)},
			readyRow: api.TaskFailed, readyText: "superseded by hold",
		},
		"a row that cannot be read may be a hold": {
			rows: []api.TaskResult{row(ready, api.MarkReady, api.TaskRunning)}, damaged: true,
			readyRow: api.TaskFailed, readyText: "superseded by hold",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := plant(t, tc.rows...)
			if tc.damaged {
				damageRow(t, path)
			}
			b := openAt(t, path, clock.RealClock{})
			got := b.await(ready)
			if got.Status != tc.readyRow || got.Error != tc.readyText {
				t.Errorf("mark-ready is %s %q", got.Status, got.Error)
			}
			if b.Ready() != tc.open {
				t.Errorf("open: %v, want %v", b.Ready(), tc.open)
			}
			if h, err := b.Get(hold); err == nil && !h.Status.Terminal() {
				t.Errorf("the hold had to be finished before anything else: %+v", h)
			}
		})
	}
}

// Deleting the task that holds the gate releases it: it is closed, so that whoever decides about
// the node decides again. No other deletion moves the gate.
func TestGate_HoldDeleted_IsReleasedUnlessAnotherTaskHoldsItToo(t *testing.T) {
	b := open(t)
	first, second := b.submit(api.MarkNotReady, "", ""), b.submit(api.MarkNotReady, "", "")
	b.await(first)
	b.await(second)
	requireGate(t, b, api.GateHeld, second)
	b.forgetTask(first)
	requireGate(t, b, api.GateHeld, second)

	third := b.submit(api.MarkNotReady, "", "")
	b.await(third)
	b = b.reopen()
	requireGate(t, b, api.GateHeld, third)
	b.forgetTask(third)
	requireGate(t, b, api.GateHeld, second)
	b.forgetTask(second)
	requireGate(t, b, api.GateClosed, "")
	b = b.reopen()
	requireGate(t, b, api.GateClosed, "")

	hold, ready := b.submit(api.MarkNotReady, "", ""), b.submit(api.MarkReady, "", "")
	b.await(hold)
	b.await(ready)
	b.forgetTask(hold) // an approval came after it
	requireGate(t, b, api.GateOpen, "")
}

// A hold forgets the approval that has ended an earlier hold, and so the earlier hold as well.
func TestGate_HoldReleased_RevivesNoHoldThatHadEnded(t *testing.T) {
	b := open(t)
	ended, lasts := b.submit(api.MarkNotReady, "", ""), ""
	b.await(ended)
	b.await(b.submit(api.MarkReady, "", ""))
	for range 2 {
		lasts = b.submit(api.MarkNotReady, "", "")
		b.await(lasts)
	}
	if _, err := b.Get(ended); codeOf(err) != api.CodeNotFound {
		t.Errorf("the hold that had ended: %v, want codeOf %v", err, api.CodeNotFound)
	}
	b.forgetTask(lasts)
	if g := b.Gate(); g.State != api.GateHeld || g.HeldBy == ended {
		t.Errorf("%+v, want it held by the hold before", g)
	}
	b.forgetTask(b.Gate().HeldBy)
	requireGate(t, b, api.GateClosed, "")
	requireGate(t, b.reopen(), api.GateClosed, "")
}

// The caller of a hold that failed was told so: it holds nothing after a restart either.
func TestResume_HoldThatFailed_DoesNotHold(t *testing.T) {
	holds := uuid.NewString()
	completed := api.TaskResult{ID: holds, Type: api.MarkNotReady, Status: api.TaskCompleted}
	failed := api.TaskResult{ID: uuid.NewString(), Type: api.MarkNotReady, Status: api.TaskFailed}
	for name, tc := range map[string]struct {
		rows   []api.TaskResult
		state  api.GateState
		heldBy string
	}{
		"alone":        {[]api.TaskResult{failed}, api.GateClosed, ""},
		"after a hold": {[]api.TaskResult{completed, failed}, api.GateHeld, holds},
	} {
		t.Run(name, func(t *testing.T) {
			requireGate(t, openAt(t, plant(t, tc.rows...), clock.RealClock{}), tc.state, tc.heldBy)
		})
	}
}

// A release that could not be made is made when it is asked for again.
func TestGate_ReleaseThatFails_CanBeRepeated(t *testing.T) {
	b := open(t)
	hold := b.submit(api.MarkNotReady, "", "")
	b.await(hold)
	b.write.Lock()
	b.store.fault = func(op string) error {
		if op == "each" {
			return errors.New("disk on fire")
		}
		return nil
	}
	b.write.Unlock()
	if err := b.Delete(hold); codeOf(err) != api.CodeStoreFailed {
		t.Errorf("deleted: %v, want codeOf %v", err, api.CodeStoreFailed)
	}
	requireGate(t, b, api.GateHeld, hold)
	b.write.Lock()
	b.store.fault = nil
	b.write.Unlock()
	b.forgetTask(hold)
	requireGate(t, b, api.GateClosed, "")
	if err := b.Delete(hold); codeOf(err) != api.CodeNotFound {
		t.Errorf("a second deletion: %v", err)
	}
}

func (b *bench) forgetTask(id string) {
	b.t.Helper()
	if err := b.Delete(id); err != nil {
		b.t.Fatalf("deleting %s: %v", id, err)
	}
}

func requireGate(t *testing.T, b *bench, state api.GateState, heldBy string) {
	t.Helper()
	if g := b.Gate(); g.State != state || g.HeldBy != heldBy {
		t.Errorf("the gate is %s, held by %q; want %s, %q", g.State, g.HeldBy, state, heldBy)
	}
}
