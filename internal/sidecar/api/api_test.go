package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDetailOf_FindsTheDetailInAChain(t *testing.T) {
	wrapped := fmt.Errorf("doing it: %w", InvalidField("accounts[2].balance", "%q is no coin: %w", "x", io.EOF).WithHint("write 1usei"))
	want := ErrorDetail{Code: CodeInvalidParams, Terminal: true, Field: "accounts[2].balance", Hint: "write 1usei"}
	if diff := cmp.Diff(want, DetailOf(wrapped)); diff != "" {
		t.Error(diff)
	}
	if wrapped.Error() != `doing it: accounts[2].balance: "x" is no coin: EOF` || !errors.Is(wrapped, io.EOF) {
		t.Error(wrapped)
	}
}

func TestDetailOf_PlainError_MayBeRetried(t *testing.T) {
	if diff := cmp.Diff(ErrorDetail{Code: CodeInternal, Retryable: true}, DetailOf(io.EOF)); diff != "" {
		t.Error(diff)
	}
}

func TestTaskResult_EmptyFieldsAreLeftOut(t *testing.T) {
	raw, err := json.Marshal(TaskResult{ID: "a", Type: MarkReady, Status: TaskRunning, Run: 1, SubmittedAt: time.Unix(0, 123456789).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"a","type":"mark-ready","status":"running","run":1,"submittedAt":"1970-01-01T00:00:00.123456789Z"}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}

func TestTaskStatus_Terminal(t *testing.T) {
	for status, want := range map[TaskStatus]bool{TaskRunning: false, TaskCompleted: true, TaskFailed: true, "": false} {
		if status.Terminal() != want {
			t.Errorf("%q, want Terminal %v", status, want)
		}
	}
}
