package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestClose_LeavesTheTaskRunningAndTheNextProcessRunsItAgain(t *testing.T) {
	began := make(chan string, 1)
	b := open(t, blockingHandler([]Group{GroupData}, began))
	id := b.submit(blocking, "", `{}`)
	<-began
	before, _ := b.Get(id)

	again := make(chan string, 1)
	b = b.reopen(NewHandler(blocking, []Group{GroupData}, func(_ context.Context, task Task, _ struct{}) (any, error) {
		again <- task.ID
		return "ok", nil
	}))
	if got := <-again; got != id {
		t.Fatalf("ran %s, want %v", got, id)
	}
	got := b.await(id)
	if got.Run != 1 || !got.SubmittedAt.Equal(before.SubmittedAt) || string(got.Result) != `"ok"` {
		t.Errorf("a repeat keeps run and submission time: %+v", got)
	}
}

func TestClose_SuccessAtTheLastMoment_IsKept(t *testing.T) {
	began := make(chan struct{})
	b := open(t, NewHandler(blocking, nil, func(ctx context.Context, _ Task, _ struct{}) (any, error) {
		close(began)
		<-ctx.Done()
		return "made it", nil
	}))
	id := b.submit(blocking, "", "")
	<-began
	b = b.reopen()
	if got, err := b.Get(id); err != nil || got.Status != api.TaskCompleted {
		t.Errorf("%+v %v, want no error and Status %v", got, err, api.TaskCompleted)
	}
}

func TestClose_WaitersAndSubmittersAreToldAtOnce(t *testing.T) {
	began := make(chan string, 1)
	b := open(t, blockingHandler(nil, began))
	id := b.submit(blocking, "", "")
	<-began
	woken := make(chan struct{})
	go func() {
		_, _ = b.Wait(context.WithoutCancel(t.Context()), id)
		close(woken)
	}()
	b.stop()
	<-woken
	if _, err := b.Submit(api.TaskRequest{Type: blocking}); codeOf(err) != api.CodeUnavailable {
		t.Errorf("submitting to a closed engine: %v", err)
	}
}

func TestDelete_LateSuccess_StaysDeleted(t *testing.T) {
	began, finish, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
	groups := []Group{GroupData}
	b := open(t,
		NewHandler(blocking, groups, func(context.Context, Task, struct{}) (any, error) {
			close(began)
			<-finish // deaf to its context
			close(returned)
			return "too late", nil
		}),
		NewHandler(echo, groups, func(context.Context, Task, echoParams) (any, error) {
			select {
			case <-returned:
				return nil, nil
			default:
				return nil, errors.New("the group was free before the deleted task had returned")
			}
		}))
	id := b.submit(blocking, "", "")
	<-began
	if err := b.Delete(id); err != nil {
		t.Fatal(err)
	}
	next := b.submit(echo, "", "")
	close(finish)
	if got := b.await(next); got.Status != api.TaskCompleted {
		t.Errorf("%+v, want Status %v", got, api.TaskCompleted)
	}
	if _, err := b.Get(id); codeOf(err) != api.CodeNotFound {
		t.Errorf("the deleted task is back: %v", err)
	}
	b = b.reopen()
	if _, err := b.Get(id); codeOf(err) != api.CodeNotFound {
		t.Errorf("the deleted task is back after a restart: %v", err)
	}
}

func TestDelete_QueuedTask_NeverRunsAndWakesItsWaiters(t *testing.T) {
	began := make(chan string, 2)
	b := open(t, blockingHandler([]Group{GroupData}, began))
	first := b.submit(blocking, "", "")
	<-began
	queued := b.submit(blocking, "", "")
	waited := make(chan error)
	go func() {
		_, err := b.Wait(t.Context(), queued)
		waited <- err
	}()
	if err := b.Delete(queued); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; codeOf(err) != api.CodeNotFound {
		t.Errorf("the waiter got %v", err)
	}
	if err := b.Delete(first); err != nil {
		t.Fatal(err)
	}
	third := b.submit(blocking, "", "")
	if got := <-began; got != third {
		t.Errorf("%s ran", got)
	}
}

func TestSave_StoreFails_TaskStaysRunningUntilItIsStored(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	b := openAt(t, filepath.Join(t.TempDir(), "s"), fake, echoHandler())
	failed := make(chan struct{}, 2)
	b.write.Lock()
	// As many attempts fail as there is room for, however fast the clock goes.
	b.store.fault = func(op string) error {
		if op != "replace" {
			return nil
		}
		select {
		case failed <- struct{}{}:
			return errors.New("no space left on device")
		default:
			return nil
		}
	}
	b.write.Unlock()
	id := b.submit(echo, "", `{"say":"hi"}`)
	stepUntil(t, fake, func() bool {
		got, err := b.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status == api.TaskRunning && got.Progress != nil && !strings.Contains(got.Progress.Message, "no space left") {
			t.Fatalf("progress does not say why: %+v", got.Progress)
		}
		return got.Status == api.TaskCompleted
	})
	if n := counter(t, b.reg, "seictl_task_save_failures_total"); n != 2 {
		t.Errorf("save failures counted: %v", n)
	}
}

// stepUntil moves the clock second by second whenever somebody waits for it.
func stepUntil(t *testing.T, fake *clocktesting.FakeClock, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatal("the condition never came true")
		}
		if fake.Waiters() > 1 { // one is the hourly pruning
			fake.Step(time.Second)
		}
	}
}

func TestStoreFailure_IsSaidAsSuch(t *testing.T) {
	b := open(t, echoHandler())
	id := b.submit(echo, "", "")
	b.await(id)
	b.write.Lock()
	b.store.fault = func(string) error { return errors.New("disk on fire") }
	b.write.Unlock()
	_, submitErr := b.Submit(api.TaskRequest{Type: echo})
	_, resubmitErr := b.Submit(api.TaskRequest{Type: echo, ID: id})
	_, getErr := b.Get(id)
	_, listErr := b.List()
	for name, err := range map[string]error{
		"submit": submitErr, "resubmit": resubmitErr, "get": getErr, "list": listErr, "delete": b.Delete(id),
	} {
		if d := api.DetailOf(err); err == nil || d.Code != api.CodeStoreFailed || !d.Retryable {
			t.Errorf("%s: %v %+v, want an error, Code %v and Retryable true", name, err, d, api.CodeStoreFailed)
		}
	}
	if b.Ping() == nil {
		t.Error("ping answers")
	}
}

func TestOpen_StoreThatIsNoStore_IsRefusedAndLeftAlone(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage")
	content := strings.Repeat("not a database ", 1000)
	if err := os.WriteFile(garbage, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"garbage": garbage, "directory": dir, "missing directory": filepath.Join(dir, "none", "s"),
	} {
		if e, err := Open(Config{Path: path}); err == nil {
			_ = e.Close(t.Context())
			t.Errorf("%s: opened", name)
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("%s: the error does not name the file: %v", name, err)
		}
	}
	if now, err := os.ReadFile(garbage); err != nil || string(now) != content {
		t.Error("the file was changed")
	}
}

func TestOpen_HalfADatabase_DoesNotPanic(t *testing.T) {
	b := open(t, echoHandler())
	for range 50 {
		b.await(b.submit(echo, "", `{"say":"`+strings.Repeat("x", 2000)+`"}`))
	}
	b.stop()
	info, err := os.Stat(b.path)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged")
	for i := 2 * os.Getpagesize(); i < len(raw); i++ {
		raw[i] = 0xff
	}
	if err := os.WriteFile(damaged, raw[:info.Size()], 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err := Open(Config{Path: damaged}); err == nil {
		_ = e.Close(t.Context())
		t.Error("a database full of nonsense was opened")
	}
}

func TestResume_KeepsTheOrderOfSubmission(t *testing.T) {
	began := make(chan string, 1)
	b := open(t, blockingHandler([]Group{GroupConfig}, began))
	want := make([]string, 20)
	for i := range want {
		want[i] = b.submit(blocking, "", "")
	}
	<-began
	order := make(chan string, len(want))
	b.reopen(NewHandler(blocking, []Group{GroupConfig}, func(_ context.Context, task Task, _ struct{}) (any, error) {
		order <- task.ID
		return nil, nil
	}))
	got := make([]string, len(want))
	for i := range got {
		got[i] = <-order
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestResume_TypeNoLongerKnown_Fails(t *testing.T) {
	began := make(chan string, 1)
	b := open(t, blockingHandler(nil, began))
	id := b.submit(blocking, "", "")
	<-began
	b = b.reopen()
	got := b.await(id)
	if got.Status != api.TaskFailed || got.Error != "no handler registered for task type blocking" {
		t.Errorf("%+v, want Status %v and Error %q", got, api.TaskFailed, "no handler registered for task type blocking")
	}
}

func TestRecords_SurviveARestart(t *testing.T) {
	b := open(t)
	if v, err := b.Records().Get("a"); v != nil || err != nil {
		t.Fatalf("%q %v, want nil and no error", v, err)
	}
	if err := b.Records().Put("a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	b = b.reopen()
	if v, err := b.Records().Get("a"); string(v) != "1" || err != nil {
		t.Fatalf("%q %v, want %q and no error", v, err, "1")
	}
	if err := b.Records().Delete("a"); err != nil {
		t.Fatal(err)
	}
	if v, err := b.Records().Get("a"); v != nil || err != nil {
		t.Fatalf("%q %v, want nil and no error", v, err)
	}
}

// plant writes rows as a killed process would have left them.
func plant(t *testing.T, rows ...api.TaskResult) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sidecar.bolt")
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		r.Run, r.SubmittedAt = 1, time.Now().UTC()
		if _, err := s.insert(row{TaskResult: r}, defaultRetention, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func damageRow(t *testing.T, path string) {
	t.Helper()
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	err = s.db.Update(func(tx *bolt.Tx) error {
		id := uuid.NewString()
		if err := tx.Bucket(bucketOrder).Put(seqKey(1<<40), []byte(id)); err != nil {
			return err
		}
		return tx.Bucket(bucketTasks).Put([]byte(id), json.RawMessage(`{"id`))
	})
	if err := errors.Join(err, s.close()); err != nil {
		t.Fatal(err)
	}
}

// A volume that was copied, or that a new node has been given, brings the data of another node and not
// what that one was asked to do. Where that is unknown, nothing is forgotten.
func TestOwner_StoreOfAnotherNode_IsTakenWithoutItsTasks(t *testing.T) {
	for name, tc := range map[string]struct {
		first, next string
		forgotten   bool
	}{
		"the same node":                 {"a", "a", false},
		"another node":                  {"a", "b", true},
		"a store of an earlier version": {"", "a", false},
		"a pod that does not say whose": {"a", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			began := make(chan string, 1)
			b := openAs(t, tc.first, filepath.Join(t.TempDir(), "s"), clock.RealClock{}, blockingHandler([]Group{GroupData}, began))
			hold, running := b.submit(api.MarkNotReady, "", ""), b.submit(blocking, "", "")
			b.await(hold)
			<-began
			if err := b.Records().Put("k", []byte("v")); err != nil {
				t.Fatal(err)
			}
			b.stop()
			again := make(chan string, 1)
			b = openAs(t, tc.next, b.path, clock.RealClock{}, blockingHandler([]Group{GroupData}, again))
			want := api.GateHeld
			if tc.forgotten {
				want = api.GateClosed
			}
			if got := b.Gate(); got.State != want {
				t.Errorf("the gate is %+v, want %s", got, want)
			}
			if _, err := b.Get(running); (codeOf(err) == api.CodeNotFound) != tc.forgotten {
				t.Errorf("the task that was running: %v", err)
			}
			if !tc.forgotten && <-again != running {
				t.Error("another task runs")
			}
			if value, err := b.Records().Get("k"); string(value) != "v" || err != nil {
				t.Errorf("the record is %q, %v", value, err)
			}
			next := b.submit(blocking, "", "") // the order of what comes is as ever
			if tc.forgotten && <-again != next {
				t.Error("another task runs")
			}
		})
	}
}
