package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// rules open for configuration A alone and count what they are told.
type rules struct {
	permits, revokes int
	fail             error
}

func (r *rules) Check(_ context.Context, p wire.MarkReady) (api.Opening, error) {
	if p.Expect == nil {
		return api.Opening{}, nil
	}
	if p.Expect.ConfigHash != "A" {
		return api.Opening{}, api.Terminal(api.CodePrecondition, errors.New("the configuration on disk is A, expected "+p.Expect.ConfigHash))
	}
	return api.Opening{ConfigHash: "A"}, nil
}

func (r *rules) Permit(wire.MarkReady, api.Opening) error { r.permits++; return r.fail }
func (r *rules) Revoke() error                            { r.revokes++; return r.fail }
func (r *rules) Refusal() string                          { return "the key differs" }

const forA = `{"expect":{"configHash":"A"}}`

func TestGate_OpensForWhatIsExpectedAlone(t *testing.T) {
	b := open(t)
	r := &rules{}
	b.rules = r
	got := b.await(b.submit(api.MarkReady, "", `{"expect":{"configHash":"B"}}`))
	if got.Status != api.TaskFailed || got.ErrorDetail.Code != api.CodePrecondition || !got.ErrorDetail.Terminal || b.Ready() || r.permits != 0 {
		t.Errorf("another configuration: %+v, gate %+v", got, b.Gate())
	}
	b.await(b.submit(api.MarkReady, "", forA))
	view := b.Gate()
	if view.Since == nil {
		t.Error("nobody knows since when the gate is open")
	}
	view.Since = nil
	if diff := cmp.Diff(api.Gate{State: api.GateOpen, Opened: &api.Opening{ConfigHash: "A"}, Refusal: "the key differs"}, view); diff != "" {
		t.Error(diff)
	}
	// A mark-ready that fails leaves an open gate open.
	b.await(b.submit(api.MarkReady, "", `{"expect":{"configHash":"B"}}`))
	if !b.Ready() {
		t.Error("closed by a mark-ready")
	}
	b.await(b.submit(api.MarkNotReady, "", ""))
	if view := b.Gate(); view.State != api.GateHeld || view.Opened != nil || r.revokes != 1 {
		t.Errorf("after a hold: %+v, %d revocations", view, r.revokes)
	}
	b.await(b.submit(api.MarkReady, "", forA))
	if !b.Ready() {
		t.Error("a hold outlasts an explicit mark-ready")
	}
}

func TestGate_PermissionThatCannotBeStored_MovesNothing(t *testing.T) {
	b := open(t)
	b.rules = &rules{fail: errors.New("disk full")}
	if got := b.await(b.submit(api.MarkReady, "", forA)); got.Status != api.TaskFailed || b.Ready() {
		t.Errorf("%+v, want Status %v and Ready false", got, api.TaskFailed)
	}
	b.rules = &rules{}
	b.await(b.submit(api.MarkReady, "", forA))
	b.rules = &rules{fail: errors.New("disk full")}
	if got := b.await(b.submit(api.MarkNotReady, "", "")); got.Status != api.TaskFailed || !b.Ready() {
		t.Errorf("%+v, want Status %v and Ready true", got, api.TaskFailed)
	}
}

func TestOpenStanding_OnlyAGateThatNobodyMoved(t *testing.T) {
	b := open(t)
	if !b.OpenStanding(api.Opening{ConfigHash: "A"}) || !b.Gate().Opened.ByPermission {
		t.Errorf("%+v, want it opened by permission", b.Gate())
	}
	if b.OpenStanding(api.Opening{ConfigHash: "B"}) || b.Gate().Opened.ConfigHash != "A" {
		t.Errorf("%+v, want it still open for A", b.Gate())
	}
	b.await(b.submit(api.MarkNotReady, "", ""))
	if b.OpenStanding(api.Opening{ConfigHash: "A"}) || b.Ready() {
		t.Error("a held gate was opened")
	}
}

func TestResume_HoldOutlastsTheProcess(t *testing.T) {
	hold, ready := "0a2c4c56-2f7e-4dcb-8d2e-6a52d1f0a001", "0a2c4c56-2f7e-4dcb-8d2e-6a52d1f0a002"
	row := func(id string, typ api.TaskType, s api.TaskStatus) api.TaskResult {
		return api.TaskResult{ID: id, Type: typ, Status: s}
	}
	for name, tc := range map[string]struct {
		rows []api.TaskResult
		want api.GateState
	}{
		"nothing":                  {nil, api.GateClosed},
		"opened before":            {[]api.TaskResult{row(ready, api.MarkReady, api.TaskCompleted)}, api.GateClosed},
		"held":                     {[]api.TaskResult{row(hold, api.MarkNotReady, api.TaskCompleted)}, api.GateHeld},
		"held, then opened":        {[]api.TaskResult{row(hold, api.MarkNotReady, api.TaskCompleted), row(ready, api.MarkReady, api.TaskCompleted)}, api.GateClosed},
		"held, opening was faulty": {[]api.TaskResult{row(hold, api.MarkNotReady, api.TaskCompleted), row(ready, api.MarkReady, api.TaskFailed)}, api.GateHeld},
	} {
		b := openAt(t, plant(t, tc.rows...), clock.RealClock{})
		if got := b.Gate().State; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
