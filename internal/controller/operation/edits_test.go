package operation

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// A vote that somebody has submitted at the sidecar with other parameters is refused there while
// the first transaction can be included. The task submits it again as it was, and is complete; if
// the other parameters came first, it says so.
func TestGovernance_ParametersEditedAtTheSidecar(t *testing.T) {
	for name, c := range map[string]struct {
		after api.TaskStatus
		want  v1alpha1.SeiNodeTaskPhase
		says  string
	}{
		"refused":  {api.TaskFailed, v1alpha1.NodeTaskComplete, "transaction HASH is in block 7"},
		"they won": {api.TaskCompleted, v1alpha1.NodeTaskFailed, "with other parameters: transaction HASH is in block 7"},
	} {
		r := newRig(t, specs["vote"])
		r.sidecar.fails = 1
		r.reconcile(t)
		for id, task := range r.sidecar.known {
			task.Params, task.Status, task.ErrorDetail = json.RawMessage(`{"option":"no"}`), c.after, new(forGood)
			task.Result = json.RawMessage(`{"txHash":"HASH","height":7,"inclusionStatus":"pending"}`)
			r.sidecar.known[id] = task
		}
		task := r.live(t)
		ready := conditions.Get(task.Status.Conditions, v1alpha1.ConditionReady)
		if task.Status.Phase != c.want || !strings.Contains(ready.Message, c.says) || len(r.sidecar.runs) != 1 {
			t.Errorf("%s: phase %s, %+v, executions %v", name, task.Status.Phase, ready, r.sidecar.runs)
		}
	}
}

// The run with other parameters may be lost on its way, with its transaction signed: then the sidecar refuses the task as it
// was meant. The task waits until it is known whether that transaction is in a block.
func TestGovernance_OtherParametersCameFirst_IsSupersededOnceTheirTransactionIsInABlock(t *testing.T) {
	r := newRig(t, specs["change"])
	r.sidecar.works = true
	refuse := func(result string) {
		for id, task := range r.sidecar.known {
			task.Status, task.Error, task.CompletedAt = api.TaskFailed, "with other parameters", new(r.Clock.Now())
			task.ErrorDetail = &api.ErrorDetail{Code: api.CodeConflict, Terminal: true}
			task.Result = json.RawMessage(result)
			r.sidecar.known[id] = task
		}
		r.reconcile(t)
	}
	r.reconcile(t)
	for run := range 2 {
		refuse(`{"txHash":"OTHER","inclusionStatus":"pending"}`)
		if task := r.stored(t); task.Status.CompletedAt != nil {
			t.Fatalf("it ended while the other transaction was pending: %+v", task.Status)
		}
		r.Clock.SetTime(r.Clock.Now().Add(time.Minute))
		r.reconcile(t)
		for id, runs := range r.sidecar.runs {
			if runs != run+2 {
				t.Errorf("%s was run %d times, want another run after the rest", id, runs)
			}
		}
	}
	refuse(`{"txHash":"OTHER","height":7,"proposalId":3,"inclusionStatus":"committed_ok"}`)
	task := r.stored(t)
	failed := conditions.Get(task.Status.Conditions, v1alpha1.ConditionFailed)
	if failed == nil || failed.Reason != v1alpha1.ReasonSuperseded {
		t.Errorf("Failed is %+v, want %s", failed, v1alpha1.ReasonSuperseded)
	}
	if out := task.Status.Outputs; out == nil || out.GovParamChange == nil || out.GovParamChange.ProposalID != 3 || out.GovParamChange.TxHash != "OTHER" {
		t.Errorf("outputs: %+v, want not nil, GovParamChange not nil, ProposalID 3 and TxHash %q", out, "OTHER")
	}
}
