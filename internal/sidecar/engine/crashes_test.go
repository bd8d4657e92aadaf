package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// crash opens what a process leaves that is killed now. It continues where nobody sees it.
func (b *bench) crash(handlers ...Handler) *bench {
	b.t.Helper()
	left, err := os.ReadFile(b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	path := filepath.Join(b.t.TempDir(), "sidecar.bolt")
	if err := os.WriteFile(path, left, 0o600); err != nil {
		b.t.Fatal(err)
	}
	return openAt(b.t, path, b.clock, handlers...)
}

// begun is in how many processes a task has begun, as it lies on the disk.
func (b *bench) begun(id string) int {
	b.t.Helper()
	r, found, err := b.store.get(id)
	if err != nil || !found {
		b.t.Fatalf("task %s: %v, %v", id, found, err)
	}
	return r.Begun
}

func TestResume_TaskThatEndsThreeProcesses_IsGivenUp(t *testing.T) {
	began, ran := make(chan string, 1), make(chan string, 1)
	behind := NewHandler(echo, []Group{GroupData}, func(_ context.Context, task Task, _ struct{}) (any, error) {
		ran <- task.ID
		return nil, nil
	})
	deadly := blockingHandler([]Group{GroupData}, began)
	b := open(t, deadly, behind)
	id := b.submit(blocking, "", "")
	waits := b.submit(echo, "", "")
	for range 2 {
		<-began
		b = b.crash(deadly, behind)
	}
	<-began
	b = b.crash(deadly, behind)
	got := b.await(id)
	if got.Status != api.TaskFailed || !got.ErrorDetail.Terminal || !strings.Contains(got.Error, "ended 3 times") {
		t.Errorf("%+v, want Status %v, Terminal true and %q in it", got, api.TaskFailed, "ended 3 times")
	}
	if next := <-ran; next != waits {
		t.Errorf("%s ran, want the task that waited behind it", next)
	}
	select {
	case id := <-began:
		t.Errorf("%s was run again", id)
	default:
	}
	b.submit(blocking, id, "")
	if again := <-began; again != id || b.begun(id) != 1 {
		t.Errorf("who submits it again gets a new run: %s, begun %d times", again, b.begun(id))
	}
}

func TestResume_ProcessesThatEndInOrder_DoNotCount(t *testing.T) {
	began := make(chan string, 1)
	patient := blockingHandler([]Group{GroupData}, began)
	b := open(t, patient)
	id, queued := b.submit(blocking, "", ""), b.submit(blocking, "", "")
	for range maxBegun {
		<-began
		b = b.reopen(patient)
	}
	for range maxBegun - 1 {
		<-began
		b = b.crash(patient)
	}
	<-began
	b = b.reopen(patient)
	if got := <-began; got != id || b.begun(id) != 1 || b.begun(queued) != 0 {
		t.Errorf("%s runs, begun in %d processes, the one behind it in %d", got, b.begun(id), b.begun(queued))
	}
}

// A task that runs for hours or forever outlives more processes than three.
func TestResume_ProcessesThatEndLater_DoNotCount(t *testing.T) {
	began := make(chan string, 1)
	endless := blockingHandler(nil, began)
	now := clocktesting.NewFakeClock(time.Now())
	b := openAt(t, filepath.Join(t.TempDir(), "sidecar.bolt"), now, endless)
	id := b.submit(blocking, "", "")
	for range 2 * maxBegun {
		<-began
		now.Step(wentWell)
		for deadline := time.Now().Add(time.Minute); b.begun(id) != 0; {
			if time.Now().After(deadline) {
				t.Fatalf("begun in %d processes after a while", b.begun(id))
			}
		}
		b = b.crash(endless)
	}
	if got := <-began; got != id {
		t.Errorf("%s runs", got)
	}
}

// The gate stays held by a hold that is given up, also in the processes after that.
func TestResume_HoldThatEndsThreeProcesses_StillHolds(t *testing.T) {
	b := open(t)
	id := uuid.NewString()
	left := row{Begun: maxBegun, TaskResult: api.TaskResult{ID: id, Type: api.MarkNotReady, Status: api.TaskRunning, Run: 1, SubmittedAt: time.Now()}}
	if _, err := b.store.insert(left, b.keep, time.Now()); err != nil {
		t.Fatal(err)
	}
	b = b.crash()
	if got := b.await(id); got.Status != api.TaskFailed || b.Gate().State != api.GateHeld || b.Gate().HeldBy != id {
		t.Errorf("%+v, gate %+v", got, b.Gate())
	}
	requireGate(t, b.crash(), api.GateHeld, id)
}
