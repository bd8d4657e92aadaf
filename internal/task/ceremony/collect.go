package ceremony

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/fleet"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// collectGentxs waits until every validator has made its transaction and fetches them.
func collectGentxs(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) plan.Outcome {
	var waiting []string
	for _, m := range env.Members {
		if failed := failure(m.Node); failed != "" && m.Node.Status.RetriedForFleet == env.Plan.ID {
			return plan.Terminal(ReasonValidatorFailed, fmt.Errorf("validator %s failed: %s", m.Name, failed))
		}
		if why := unready(m.Node); why != "" {
			waiting = append(waiting, m.Name+" ("+why+")")
		}
	}
	if len(waiting) > 0 {
		return plan.Wait(ReasonValidatorNotReady, "waiting for the gentxs of "+strings.Join(waiting, ", "), 0)
	}
	return fetch(ctx, env, task.ID)
}

// fetch asks all validators at once: each may take a moment, and there may be a hundred.
func fetch(ctx context.Context, env *Env, collectID string) plan.Outcome {
	if env.gentxs != nil {
		return plan.Done("")
	}
	results, outcomes := make([]wire.Gentx, len(env.Members)), make([]plan.Outcome, len(env.Members))
	var all sync.WaitGroup
	for i, m := range env.Members {
		all.Go(func() {
			nothing := func() (any, error) { return struct{}{}, nil }
			outcomes[i] = run(ctx, m, memberID(collectID, "export", m), api.ExportGentx, nothing, &results[i])
		})
	}
	all.Wait()
	if o, bad := worst(outcomes); bad {
		return o
	}
	gentxs := make([]json.RawMessage, 0, len(results))
	for i, r := range results {
		if len(r.Gentx) == 0 {
			return plan.Terminal(ReasonValidatorFailed, fmt.Errorf("validator %s has an empty gentx", env.Members[i].Name))
		}
		gentxs = append(gentxs, r.Gentx)
	}
	env.gentxs = gentxs
	return plan.Done("")
}

// worst is the outcome that decides for all: what cannot be cured, then what failed,
// then what waits.
func worst(outcomes []plan.Outcome) (plan.Outcome, bool) {
	for _, is := range []func(plan.Outcome) bool{plan.Outcome.IsTerminal, plan.Outcome.IsRetry, plan.Outcome.IsWait} {
		for _, o := range outcomes {
			if is(o) {
				return o, true
			}
		}
	}
	return plan.Outcome{}, false
}

// failure says why a validator could not be brought up. The fleet has it start over
// once per ceremony, so only one that failed after that fails the ceremony.
func failure(node *v1alpha1.SeiNode) string {
	if node == nil || node.Status.Phase != v1alpha1.NodeFailed {
		return ""
	}
	if last := node.Status.LastPlan; last != nil {
		return fmt.Sprintf("step %s: %s", last.FailedTask, last.Error)
	}
	return "it could not be brought up"
}

// unready says what a validator's transaction waits for; empty when it is made.
func unready(node *v1alpha1.SeiNode) string {
	if node == nil {
		return "it is being created"
	}
	if node.Status.Phase == v1alpha1.NodeRunning {
		return ""
	}
	if failed := failure(node); failed != "" {
		return "it failed and starts over: " + failed
	}
	made := plan.Find(node.Status.Plan, domain.StepGenerateGentx)
	if made != nil && made.Status == v1alpha1.TaskComplete {
		return ""
	}
	if node.Status.Plan == nil {
		return "it has not been observed yet"
	}
	if c := conditions.Get(node.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.Message != "" {
		return c.Message
	}
	task, _ := plan.Current(node.Status.Plan)
	switch {
	case task == nil:
		return "it is starting"
	case task.Message != "":
		return task.Type + ": " + task.Message
	case task.Error != "":
		return task.Type + ": " + task.Error
	default:
		return task.Type
	}
}

// collectID is the id under which the transactions were collected.
func collectID(env *Env) string {
	if t := plan.Find(env.Plan, fleet.TaskCollectGentxs); t != nil {
		return t.ID
	}
	return env.Plan.ID
}
