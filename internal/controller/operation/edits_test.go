package operation

import (
	"encoding/json"
	"strings"
	"testing"

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
