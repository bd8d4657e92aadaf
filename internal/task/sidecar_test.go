package task

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task/sidecartask"
)

// knowing is a sidecar that has the task already.
type knowing struct {
	sidecar.Sidecar
	task api.TaskResult
}

func (k knowing) Get(context.Context, string, time.Duration) (api.TaskResult, error) {
	return k.task, nil
}

// An operator that ended between handing a task over and writing that down leaves a plan
// that does not know which configuration it wrote. The next one asks the sidecar; without
// that the node would be configured, and restarted, a second time.
func TestOnSidecar_TaskOfAnOperatorThatIsGone_IsRemembered(t *testing.T) {
	env := &Env{
		Clock:    clocktesting.NewFakePassiveClock(time.Now()),
		Node:     &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}},
		Config:   render.Config{Mode: "full", Overrides: map[string]string{"mempool.size": "1"}},
		Document: &api.Node{APILevel: api.LevelNode},
	}
	same, err := sidecartask.Encode(paramsFunc(configApplyParams).of(t.Context(), env, &v1alpha1.PlannedTask{}))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 12, 0, 0, 5, time.UTC)
	for name, c := range map[string]struct {
		sent json.RawMessage
		want string
	}{
		"the same configuration": {same, `{"configHash":"` + env.Config.Hash() + `"}`},
		"an older one":           {json.RawMessage(`{"mode":"full","moniker":"rpc"}`), ""},
		"one that is not shown":  {nil, ""},
	} {
		env.Sidecar = knowing{task: api.TaskResult{Status: api.TaskCompleted, Params: c.sent, SubmittedAt: at}}
		task := &v1alpha1.PlannedTask{ID: "1", Type: domain.StepConfigApply}
		if o := onSidecar(api.ConfigApply, configApplyParams)(t.Context(), env, task); !o.IsDone() {
			t.Errorf("%s: outcome %+v", name, o)
		}
		got := ""
		if task.Params != nil {
			got = string(task.Params.Raw)
		}
		if got != c.want || task.SubmittedAt == nil || !task.SubmittedAt.Equal(&metav1.Time{Time: at.Truncate(time.Second)}) {
			t.Errorf("%s: the plan notes %q at %v, want %q", name, got, task.SubmittedAt, c.want)
		}
	}
}
