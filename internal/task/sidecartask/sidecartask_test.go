package sidecartask_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task/sidecartask"
)

// recording is a sidecar that knows the tasks it was given, and says what it was asked.
type recording struct {
	sidecar.Sidecar
	known    map[string]api.TaskResult
	refuses  error
	requests []string
}

func (r *recording) Get(_ context.Context, id string, wait time.Duration) (api.TaskResult, error) {
	r.requests = append(r.requests, strings.TrimSpace("get "+id+" "+map[bool]string{true: "waiting"}[wait > 0]))
	result, ok := r.known[id]
	if !ok {
		return api.TaskResult{}, sidecar.ErrNotFound
	}
	return result, nil
}

func (r *recording) Submit(_ context.Context, request api.TaskRequest) (string, error) {
	r.requests = append(r.requests, "submit "+request.ID+" "+string(request.Params))
	if r.refuses != nil {
		return "", r.refuses
	}
	r.known[request.ID] = api.TaskResult{Status: api.TaskCompleted}
	return request.ID, nil
}

func TestRun_SubmitsOnlyWhatTheSidecarDoesNotKnow(t *testing.T) {
	broken := errors.New("broken")
	with := func(value any, err error) sidecartask.Params { return func() (any, error) { return value, err } }
	for name, c := range map[string]struct {
		id        string
		params    sidecartask.Params
		refuses   error
		requests  []string
		submitted bool
		err       error
	}{
		"a task that failed there": {"failed", with(1, nil), nil, []string{"get failed"}, false, nil},
		"a new task":               {"new", with(map[string]int{"a": 1}, nil), nil, []string{"get new", `submit new {"a":1}`, "get new waiting"}, true, nil},
		"without parameters":       {"new", with(nil, nil), nil, []string{"get new", "submit new ", "get new waiting"}, true, nil},
		"looked up only":           {"new", nil, nil, []string{"get new"}, false, sidecar.ErrNotFound},
		"its input is missing":     {"new", with(nil, broken), nil, []string{"get new"}, false, broken},
		"refused":                  {"new", with(1, nil), sidecar.ErrInvalid, []string{"get new", "submit new 1"}, false, sidecar.ErrInvalid},
	} {
		s := &recording{known: map[string]api.TaskResult{"failed": {Status: api.TaskFailed}}, refuses: c.refuses}
		_, submitted, err := sidecartask.Task{ID: c.id, Type: api.MarkReady, Params: c.params}.Run(t.Context(), s)
		if submitted != c.submitted || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: submitted %t, %v", name, submitted, err)
		}
		if diff := cmp.Diff(c.requests, s.requests); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A task that failed is run again under its id only where that is asked for, and a running or
// completed one never.
func TestRun_Again_OnlyWhatFailed(t *testing.T) {
	for status, want := range map[api.TaskStatus]bool{api.TaskFailed: true, api.TaskRunning: false, api.TaskCompleted: false} {
		for _, again := range []bool{true, false} {
			s := &recording{known: map[string]api.TaskResult{"id": {Status: status}}}
			call := sidecartask.Task{
				ID: "id", Type: api.GovVote, Params: func() (any, error) { return nil, nil }, Again: func(api.TaskResult) bool { return again },
			}
			if _, submitted, err := call.Run(t.Context(), s); err != nil || submitted != (want && again) {
				t.Errorf("%s, again %t: submitted %t, %v", status, again, submitted, err)
			}
		}
	}
}

func TestEncode_ValueThatCannotBeSent_IsAnError(t *testing.T) {
	if raw, err := sidecartask.Encode(func() (any, error) { return make(chan int), nil }); err == nil {
		t.Errorf("sent as %s", raw)
	}
	raw, err := sidecartask.Encode(func() (any, error) { return json.RawMessage(`{}`), nil })
	if err != nil || string(raw) != "{}" {
		t.Errorf("sent as %s, %v", raw, err)
	}
}

func TestFailure_OnlyTheSidecarSaysThatTryingAgainCannotHelp(t *testing.T) {
	for name, c := range map[string]struct {
		of     string
		detail *api.ErrorDetail
		want   string
		ends   bool
	}{
		"no detail":         {"", nil, "no space", false},
		"one of several":    {"val-1", nil, "val-1: no space", false},
		"with a way out":    {"", &api.ErrorDetail{Hint: "grow the volume"}, "no space (grow the volume)", false},
		"cannot be retried": {"val-1", &api.ErrorDetail{Code: "Full", Terminal: true}, "val-1: no space", true},
	} {
		o := sidecartask.Failure(c.of, api.TaskResult{Status: api.TaskFailed, Error: "no space", ErrorDetail: c.detail})
		if o.Err.Error() != c.want || o.IsTerminal() != c.ends || o.IsRetry() == c.ends || c.ends && o.Reason != "Full" {
			t.Errorf("%s: %+v, want %q, final with reason Full: %t, and otherwise to be tried again", name, o, c.want, c.ends)
		}
	}
}
