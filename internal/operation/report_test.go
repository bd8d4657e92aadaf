package operation_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// pass is a pass over a task whose one step came to an outcome.
func pass(of *v1alpha1.SeiNodeTask, phase v1alpha1.PlanPhase, outcome plan.Outcome, submitted bool) *operation.Pass {
	p := &operation.Pass{Observed: operation.Observation{Task: of, Now: now, Node: node()}}
	p.Decision = operation.Decide(&p.Observed)
	step := v1alpha1.PlannedTask{Type: "gov-vote", ID: "id", Status: v1alpha1.TaskRunning, Message: outcome.Message}
	if submitted {
		step.SubmittedAt = at(0)
	}
	p.Plan = &v1alpha1.TaskPlan{ID: "p", Phase: phase, Tasks: []v1alpha1.PlannedTask{step}}
	switch phase {
	case v1alpha1.PlanFailed:
		p.Plan.FailedTaskDetail = &v1alpha1.FailedTaskDetail{Type: "gov-vote", ID: "id", Error: "why"}
	case v1alpha1.PlanComplete:
		p.Plan.Tasks[0].Status = v1alpha1.TaskComplete
	}
	p.Progress.Steps = []plan.Step{{Task: &p.Plan.Tasks[0], Outcome: outcome}}
	return p
}

func TestReport_EveryEnd_HasItsReason(t *testing.T) {
	wait := func(reason string) plan.Outcome { return plan.Wait(reason, "waiting", 0) }
	terminal := func(reason string) plan.Outcome { return plan.Terminal(reason, errors.New("why")) }
	for name, c := range map[string]struct {
		task      *v1alpha1.SeiNodeTask
		phase     v1alpha1.PlanPhase
		outcome   plan.Outcome
		submitted bool
		want      v1alpha1.SeiNodeTaskPhase
		reason    string
		says      string
	}{
		"goes on":                           {task("a", 9, begun), v1alpha1.PlanActive, wait("X"), true, v1alpha1.NodeTaskRunning, v1alpha1.ReasonTaskNotComplete, "step 1/1, gov-vote: waiting"},
		"complete":                          {task("a", 9, begun), v1alpha1.PlanComplete, plan.Done("voted"), true, v1alpha1.NodeTaskComplete, v1alpha1.ReasonTaskComplete, "voted"},
		"out of time":                       {task("a", 9, begun), v1alpha1.PlanFailed, wait("X"), true, v1alpha1.NodeTaskFailed, v1alpha1.ReasonTaskTimeout, "gov-vote: why"},
		"out of time, the token is refused": {task("a", 9, begun), v1alpha1.PlanFailed, wait(v1alpha1.ReasonSidecarRefuses), true, v1alpha1.NodeTaskFailed, v1alpha1.ReasonSidecarRefuses, "why"},
		"out of time before it was sent":    {task("a", 9, begun, votesOn("pacific-1")), v1alpha1.PlanFailed, wait("X"), false, v1alpha1.NodeTaskFailed, v1alpha1.ReasonTaskTimeout, "why"},
		"out of time after it was sent":     {task("a", 9, begun, votesOn("pacific-1")), v1alpha1.PlanFailed, wait("X"), true, v1alpha1.NodeTaskFailed, v1alpha1.ReasonInclusionUndetermined, "taskID=id"},
		"refused by the chain":              {task("a", 9, begun), v1alpha1.PlanFailed, terminal(v1alpha1.ReasonTxFailed), true, v1alpha1.NodeTaskFailed, v1alpha1.ReasonTxFailed, "why"},
		"without a reason":                  {task("a", 9, begun), v1alpha1.PlanFailed, terminal(""), true, v1alpha1.NodeTaskFailed, v1alpha1.ReasonTaskFailed, "why"},
	} {
		status := operation.Report(pass(c.task, c.phase, c.outcome, c.submitted))
		ready, failed := conditions.Get(status.Conditions, v1alpha1.ConditionReady), conditions.Get(status.Conditions, v1alpha1.ConditionFailed)
		if status.Phase != c.want || ready.Reason != c.reason || !strings.Contains(ready.Message, c.says) {
			t.Errorf("%s: phase %s, Ready %+v", name, status.Phase, ready)
		}
		if (failed.Status == metav1.ConditionTrue) != (c.want == v1alpha1.NodeTaskFailed) || (ready.Status == metav1.ConditionTrue) != (c.want == v1alpha1.NodeTaskComplete) {
			t.Errorf("%s: Ready %s, Failed %s", name, ready.Status, failed.Status)
		}
		if over := c.want != v1alpha1.NodeTaskRunning; (status.CompletedAt != nil) != over {
			t.Errorf("%s: completed at %v", name, status.CompletedAt)
		}
	}
}

// What a task that has ended says never changes, whatever becomes of its node.
func TestReport_AfterTheEnd_NothingChanges(t *testing.T) {
	status := operation.Report(pass(task("a", 9, begun), v1alpha1.PlanComplete, plan.Done("voted"), true))
	over := task("a", 9)
	over.Generation, over.Status = 5, *status
	p := &operation.Pass{Observed: operation.Observation{Task: over, Now: now.Add(time.Hour)}}
	p.Decision = operation.Decide(&p.Observed)
	if diff := cmp.Diff(status, operation.Report(p)); diff != "" {
		t.Errorf("the status changed (-want +got):\n%s", diff)
	}
}

func TestReport_BeforeItBegins_SaysWhatItWaitsFor(t *testing.T) {
	for name, c := range map[string]struct {
		o             operation.Observation
		ready, target string
		phase         v1alpha1.SeiNodeTaskPhase
		firstSeen     *metav1.Time
		wordsOfReady  string
		wordsOfTarget string
		targetIsMet   bool
	}{
		"no node": {
			o: operation.Observation{Task: task("a", 9)}, ready: v1alpha1.ReasonTaskNotComplete, target: v1alpha1.ReasonTargetNotFound,
			phase: v1alpha1.NodeTaskPending, firstSeen: at(0), wordsOfReady: "no SeiNode n", wordsOfTarget: "no SeiNode n",
		},
		"queued": {
			o:     operation.Observation{Task: task("a", 9, seenFor(60)), Node: node(), Others: []*v1alpha1.SeiNodeTask{task("b", 10)}},
			ready: v1alpha1.ReasonTaskQueued, target: v1alpha1.ReasonPhaseMet, phase: v1alpha1.NodeTaskPending, firstSeen: at(-60),
			wordsOfReady: "SeiNodeTask b", targetIsMet: true,
		},
		"refused": {
			o:     operation.Observation{Task: task("a", 9, votesOn("other")), Node: node()},
			ready: v1alpha1.ReasonTargetRefused, target: v1alpha1.ReasonTargetRefused, phase: v1alpha1.NodeTaskFailed, firstSeen: at(0),
			wordsOfReady: "chain other", wordsOfTarget: "chain other",
		},
		"in vain": {
			o:     operation.Observation{Task: task("a", 900, seenFor(300)), Node: node(func(n *v1alpha1.SeiNode) { n.Status.Phase = v1alpha1.NodeFailed })},
			ready: v1alpha1.ReasonPhaseTimeout, target: v1alpha1.ReasonPhaseTimeout, phase: v1alpha1.NodeTaskFailed, firstSeen: at(-300),
			wordsOfReady: "phase Failed",
		},
		"its node was deleted": {
			o:     operation.Observation{Task: task("a", 9, begun)},
			ready: v1alpha1.ReasonTargetDeleted, target: v1alpha1.ReasonTargetDeleted, phase: v1alpha1.NodeTaskFailed, firstSeen: at(0),
		},
	} {
		c.o.Now = now
		p := &operation.Pass{Observed: c.o, Decision: operation.Decide(&c.o), Plan: c.o.Task.Status.Plan.DeepCopy()}
		status := operation.Report(p)
		ready, target := conditions.Get(status.Conditions, v1alpha1.ConditionReady), conditions.Get(status.Conditions, v1alpha1.ConditionTargetReady)
		if status.Phase != c.phase || ready.Reason != c.ready || !strings.Contains(ready.Message, c.wordsOfReady) {
			t.Errorf("%s: phase %s, Ready %+v", name, status.Phase, ready)
		}
		if target.Reason != c.target || !strings.Contains(target.Message, c.wordsOfTarget) || (target.Status == metav1.ConditionTrue) != c.targetIsMet {
			t.Errorf("%s: TargetReady %+v", name, target)
		}
		if !status.TargetFirstObservedAt.Equal(c.firstSeen) {
			t.Errorf("%s: first observed at %s", name, status.TargetFirstObservedAt)
		}
		if status.Plan != nil && status.Plan.Phase == v1alpha1.PlanActive {
			t.Errorf("%s: the plan of a task that failed is active", name)
		}
	}
}

// A plan that begins pins the node it is for.
func TestReport_Beginning_PinsTheNode(t *testing.T) {
	o := operation.Observation{Task: task("a", 9), Now: now, Node: node()}
	p := &operation.Pass{Observed: o, Decision: operation.Decide(&o)}
	p.Plan = plan.New(p.Decision.Plan, now)
	status := operation.Report(p)
	if status.TargetUID != "node" || !status.StartedAt.Equal(at(0)) || status.Phase != v1alpha1.NodeTaskRunning {
		t.Errorf("target %q, started at %v, phase %s, want node, %v and %s",
			status.TargetUID, status.StartedAt, status.Phase, at(0), v1alpha1.NodeTaskRunning)
	}
}

// A state sync that failed says in which state it leaves the node.
func TestReport_FailedStateSync_SaysHowToGoOn(t *testing.T) {
	for submitted, says := range map[int]string{
		0: "the node was not touched", 1: "data is unchanged: delete this task to start the node again", 2: "data is unchanged", 3: "its data may be deleted: create another", 7: "the node keeps running and syncing",
	} {
		o := operation.Observation{Task: task("a", 9, syncs), Now: now, Node: node(func(n *v1alpha1.SeiNode) {
			n.Spec.Validator, n.Spec.FullNode = nil, &v1alpha1.FullNodeSpec{}
		})}
		p := &operation.Pass{Observed: o, Decision: operation.Decide(&o)}
		p.Plan = plan.New(p.Decision.Plan, now)
		for i := range submitted {
			p.Plan.Tasks[i].SubmittedAt, p.Plan.Tasks[i].Status = at(0), v1alpha1.TaskComplete
		}
		p.Plan.Phase, p.Plan.FailedTaskDetail = v1alpha1.PlanFailed, &v1alpha1.FailedTaskDetail{Type: "x", Error: "why"}
		failed := conditions.Get(operation.Report(p).Conditions, v1alpha1.ConditionFailed)
		if !strings.Contains(failed.Message, says) {
			t.Errorf("after %d steps: %q", submitted, failed.Message)
		}
	}
}
