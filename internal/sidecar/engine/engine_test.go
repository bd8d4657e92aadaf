package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

const (
	echo     api.TaskType = "echo"
	failing  api.TaskType = "failing"
	blocking api.TaskType = "blocking"
)

type echoParams struct {
	Say   string `json:"say"`
	Times int    `json:"times,omitempty"`
}

func (p *echoParams) Validate() error {
	if p.Times < 0 {
		return api.InvalidField("times", "must not be negative")
	}
	return nil
}

func echoHandler() Handler {
	return NewHandler(echo, nil, func(_ context.Context, _ Task, p echoParams) (any, error) {
		return map[string]string{"said": p.Say}, nil
	})
}

// bench is an engine under test together with the file it can be reopened from.
type bench struct {
	*Engine
	t    *testing.T
	path string
	reg  *prometheus.Registry
}

func open(t *testing.T, handlers ...Handler) *bench {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "sidecar.bolt"), clock.RealClock{}, handlers...)
}

func openAt(t *testing.T, path string, c clock.Clock, handlers ...Handler) *bench {
	t.Helper()
	return openAs(t, "", path, c, handlers...)
}

// openAs opens the store for a node.
func openAs(t *testing.T, owner, path string, c clock.Clock, handlers ...Handler) *bench {
	t.Helper()
	reg := prometheus.NewRegistry()
	e, err := Open(Config{
		Path: path, Owner: owner, Handlers: handlers, Clock: c, Registry: reg,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Engine: e, t: t, path: path, reg: reg}
	t.Cleanup(func() { b.stop() })
	return b
}

// stop shuts the engine down; a second call does nothing.
func (b *bench) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := b.Close(ctx); err != nil {
		b.t.Errorf("closing: %v", err)
	}
}

func (b *bench) reopen(handlers ...Handler) *bench {
	b.t.Helper()
	b.stop()
	return openAt(b.t, b.path, b.clock, handlers...)
}

func (b *bench) submit(t api.TaskType, id, params string) string {
	b.t.Helper()
	got, err := b.Submit(api.TaskRequest{ID: id, Type: t, Params: json.RawMessage(params)})
	if err != nil {
		b.t.Fatalf("submitting %s: %v", t, err)
	}
	return got
}

func (b *bench) await(id string) api.TaskResult {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	got, err := b.Wait(ctx, id)
	if err != nil {
		b.t.Fatalf("waiting for %s: %v", id, err)
	}
	if !got.Status.Terminal() {
		b.t.Fatalf("task %s did not end: %+v", id, got)
	}
	return got
}

func idsOf(tasks []api.TaskResult) []string {
	ids := make([]string, 0, len(tasks))
	for _, task := range tasks {
		ids = append(ids, task.ID)
	}
	return ids
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return api.DetailOf(err).Code
}

func TestSubmit_NewTask_RunsAndKeepsResult(t *testing.T) {
	b := open(t, echoHandler())
	id := b.submit(echo, "", `{"say":"hi"}`)
	if _, err := uuid.Parse(id); err != nil {
		t.Fatalf("id %q is no UUID: %v", id, err)
	}
	got := b.await(id)
	if got.CompletedAt == nil {
		t.Fatal("no completion time")
	}
	got.SubmittedAt, got.CompletedAt = time.Time{}, nil
	want := api.TaskResult{
		ID: id, Type: echo, Status: api.TaskCompleted, Run: 1,
		Params: json.RawMessage(`{"say":"hi"}`), Result: json.RawMessage(`{"said":"hi"}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSubmit_BadRequests_SayWhatIsWrong(t *testing.T) {
	b := open(t, echoHandler())
	for name, tc := range map[string]struct {
		req            api.TaskRequest
		message, field string
	}{
		"no type":        {api.TaskRequest{}, "type is required", "type"},
		"unknown type":   {api.TaskRequest{Type: "dance"}, "unknown task type: dance", "type"},
		"id is no UUID":  {api.TaskRequest{Type: echo, ID: "x"}, `task ID must be a valid UUID: "x"`, "id"},
		"wrong type":     {api.TaskRequest{Type: echo, Params: json.RawMessage(`{"times":"two"}`)}, "times: wants int, got string", "times"},
		"fraction":       {api.TaskRequest{Type: echo, Params: json.RawMessage(`{"times":1.5}`)}, "times: wants int, got number 1.5", "times"},
		"unknown field":  {api.TaskRequest{Type: echo, Params: json.RawMessage(`{"sya":"hi"}`)}, "sya: is not a parameter of this task", "sya"},
		"own rule":       {api.TaskRequest{Type: echo, Params: json.RawMessage(`{"times":-1}`)}, "times: must not be negative", "times"},
		"params a list":  {api.TaskRequest{Type: echo, Params: json.RawMessage(`[1]`)}, "params: wants engine.echoParams, got array", "params"},
		"two values":     {api.TaskRequest{Type: echo, Params: json.RawMessage(`{} {}`)}, "params: more than one JSON value", "params"},
		"gate and extra": {api.TaskRequest{Type: api.MarkReady, Params: json.RawMessage(`{"now":true}`)}, "now: is not a parameter of this task", "now"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.Submit(tc.req)
			if err == nil || err.Error() != tc.message {
				t.Fatalf("got %v, want %q", err, tc.message)
			}
			if d := api.DetailOf(err); d.Code != api.CodeInvalidParams || !d.Terminal || d.Field != tc.field {
				t.Errorf("detail %+v, want Code %v, Terminal true and Field %v", d, api.CodeInvalidParams, tc.field)
			}
		})
	}
	if tasks, err := b.List(); err != nil || len(tasks) != 0 {
		t.Errorf("something was stored: %v %v", tasks, err)
	}
}

func TestSubmit_KnownID_FollowsTheContract(t *testing.T) {
	var calls atomic.Int32
	flaky := NewHandler(failing, nil, func(_ context.Context, _ Task, p echoParams) (any, error) {
		calls.Add(1)
		if p.Say == "" {
			return map[string]int{"tried": 1}, errors.New("say something")
		}
		return nil, nil
	})
	b := open(t, flaky, echoHandler())
	id := uuid.NewString()

	b.submit(failing, id, `{}`)
	first := b.await(id)
	if first.Status != api.TaskFailed || first.Error != "say something" || string(first.Result) != `{"tried":1}` {
		t.Fatalf("first run: %+v", first)
	}
	if !first.ErrorDetail.Retryable || first.ErrorDetail.Code != api.CodeInternal {
		t.Errorf("detail %+v, want Retryable true and Code %v", first.ErrorDetail, api.CodeInternal)
	}

	b.submit(failing, id, `{"say":"hi"}`)
	second := b.await(id)
	if second.Status != api.TaskCompleted || second.Run != 2 || string(second.Params) != `{"say":"hi"}` || second.Error != "" {
		t.Fatalf("a failed id must run again with the new parameters: %+v", second)
	}

	// Completed: nothing runs, and parameters are not even looked at.
	b.submit(failing, id, `{"nonsense":1}`)
	if calls.Load() != 2 {
		t.Errorf("ran %d times", calls.Load())
	}
	if _, err := b.Submit(api.TaskRequest{ID: id, Type: echo}); codeOf(err) != api.CodeConflict {
		t.Errorf("another type under a known id: %v", err)
	}

	if err := b.Delete(id); err != nil {
		t.Fatal(err)
	}
	b.submit(failing, id, `{"say":"again"}`)
	if got := b.await(id); got.Run != 1 {
		t.Errorf("a deleted id is fresh again, got run %d", got.Run)
	}
}

func TestSubmit_IDInAnyUUIDForm_IsKeptVerbatim(t *testing.T) {
	b := open(t, echoHandler())
	for _, id := range []string{
		"urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8", "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}",
		"6ba7b8109dad11d180b400c04fd430c8", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
	} {
		if got := b.submit(echo, id, ""); got != id {
			t.Errorf("id %q became %q", id, got)
		}
		b.await(id)
	}
}

func TestExecute_Panic_BecomesFailureAndIsCounted(t *testing.T) {
	b := open(t, NewHandler(failing, nil, func(context.Context, Task, struct{}) (any, error) {
		return []int{}[len(echo)], nil
	}))
	got := b.await(b.submit(failing, "", ""))
	if got.Status != api.TaskFailed || got.Error != "task handler panicked: runtime error: index out of range [4] with length 0" {
		t.Errorf("%+v, want Status %v and Error %q", got, api.TaskFailed, "task handler panicked: runtime error: index out of range [4] with length 0")
	}
	if n := counter(t, b.reg, "seictl_task_panics_total"); n != 1 {
		t.Errorf("panics counted: %v", n)
	}
	if n := counter(t, b.reg, "seictl_task_failures_total"); n != 1 {
		t.Errorf("failures counted: %v", n)
	}
}

func TestExecute_ResultThatCannotBeEncoded_Fails(t *testing.T) {
	b := open(t, NewHandler(failing, nil, func(context.Context, Task, struct{}) (any, error) { return func() {}, nil }))
	got := b.await(b.submit(failing, "", ""))
	if got.Status != api.TaskFailed || !strings.Contains(got.Error, "encoding the result") {
		t.Errorf("%+v, want Status %v and %q in it", got, api.TaskFailed, "encoding the result")
	}
}

func TestProgress_OfARunningTask_IsShownAndGoneAtTheEnd(t *testing.T) {
	said, finish := make(chan struct{}), make(chan struct{})
	b := open(t, NewHandler(blocking, nil, func(_ context.Context, task Task, _ struct{}) (any, error) {
		task.Progress(api.Progress{Done: 3, Total: 10, Unit: "bytes"})
		close(said)
		<-finish
		return nil, nil
	}))
	id := b.submit(blocking, "", "")
	<-said
	got, err := b.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&api.Progress{Done: 3, Total: 10, Unit: "bytes"}, got.Progress); diff != "" {
		t.Error(diff)
	}
	close(finish)
	if got := b.await(id); got.Progress != nil {
		t.Errorf("a finished task shows progress %+v", got.Progress)
	}
}

func TestWait_EndsWithItsContextWhileTheTaskRuns(t *testing.T) {
	b := open(t, blockingHandler(nil, make(chan string, 1)))
	id := b.submit(blocking, "", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := b.Wait(ctx, id)
	if err != nil || got.Status != api.TaskRunning {
		t.Errorf("%+v %v, want no error and Status %v", got, err, api.TaskRunning)
	}
}

func TestGet_UnknownID_IsNotFound(t *testing.T) {
	b := open(t)
	for _, id := range []string{uuid.NewString(), "not-a-uuid"} {
		if _, err := b.Get(id); codeOf(err) != api.CodeNotFound || err.Error() != "task not found" {
			t.Errorf("%s: %v, want codeOf %v and Error %q", id, err, api.CodeNotFound, "task not found")
		}
		if err := b.Delete(id); codeOf(err) != api.CodeNotFound {
			t.Errorf("%s: %v, want codeOf %v", id, err, api.CodeNotFound)
		}
	}
}

func TestList_ShowsNewestFirstAndNoHugeParameters(t *testing.T) {
	b := open(t, echoHandler())
	var want []string
	for range 105 {
		want = append([]string{b.submit(echo, "", `{"say":"x"}`)}, want...)
	}
	big := b.submit(echo, "", `{"say":"`+strings.Repeat("x", listParams)+`"}`)
	want = append([]string{big}, want...)[:100]
	tasks, err := b.List()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, idsOf(tasks)); diff != "" {
		t.Error(diff)
	}
	if tasks[0].Params != nil || tasks[1].Params == nil {
		t.Error("only very large parameters are left out of a listing")
	}
	if one, err := b.Get(big); err != nil || len(one.Params) <= listParams {
		t.Errorf("the task itself shows its parameters: %v", err)
	}
}

func TestSubmit_TooManyUnfinishedTasks_AreRefusedButTheGateMoves(t *testing.T) {
	began := make(chan string, 3)
	b := open(t, blockingHandler([]Group{GroupData}, began))
	b.limit = 3
	ids := []string{b.submit(blocking, "", ""), b.submit(blocking, "", ""), b.submit(blocking, "", "")}
	_, err := b.Submit(api.TaskRequest{Type: blocking})
	if d := api.DetailOf(err); err == nil || d.Code != api.CodeUnavailable || !d.Retryable {
		t.Errorf("%v %+v, want an error, Code %v and Retryable true", err, d, api.CodeUnavailable)
	}
	b.await(b.submit(api.MarkReady, "", ""))
	if !b.Ready() {
		t.Error("the gate is stuck")
	}
	if err := b.Delete(ids[2]); err != nil {
		t.Fatal(err)
	}
	b.submit(blocking, "", "")
}

func TestOpen_HandlerGivenTwice_IsRefused(t *testing.T) {
	_, err := Open(Config{Path: filepath.Join(t.TempDir(), "s"), Handlers: []Handler{echoHandler(), echoHandler()}})
	if err == nil || !strings.Contains(err.Error(), "echo is given twice") {
		t.Error(err)
	}
}

func TestMetrics_DurationIsMeasuredWithBucketsForHours(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	slow := NewHandler(blocking, nil, func(context.Context, Task, struct{}) (any, error) {
		fake.Step(3 * time.Hour)
		return nil, nil
	})
	b := openAt(t, filepath.Join(t.TempDir(), "s"), fake, slow)
	b.await(b.submit(blocking, "", ""))
	families, err := b.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "seictl_task_execution_duration_seconds" {
			continue
		}
		h := f.GetMetric()[0].GetHistogram()
		if h.GetSampleSum() != 10800 {
			t.Errorf("sum %v, want 10800", h.GetSampleSum())
		}
		for _, bucket := range h.GetBucket() {
			if want := bucket.GetUpperBound() >= 10800; want != (bucket.GetCumulativeCount() == 1) {
				t.Errorf("bucket %v holds %d", bucket.GetUpperBound(), bucket.GetCumulativeCount())
			}
		}
		return
	}
	t.Error("no duration metric")
}

func counter(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}
