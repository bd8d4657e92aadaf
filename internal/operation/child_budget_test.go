package operation_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
)

func rollsOut(s *v1alpha1.SeiNodeDeployment) { s.Status.Rollout = &v1alpha1.RolloutStatus{} }

// S9: a child that restarts a node of a fleet asks for the budget when it begins, which may be long after
// its parent has made it: it may have waited for another task of its node.
func TestDecide_ChildThatRestarts_BeginsWithinTheBudget(t *testing.T) {
	const own = "rpc-1"
	for name, c := range map[string]struct {
		story  story
		fleet  []func(*v1alpha1.SeiNodeDeployment)
		change func(*operation.Group)
		action operation.Action
		says   string
		again  time.Duration
	}{
		"the others serve":         {story: story{"CP-", "CP-", "yyy"}, action: operation.Begin},
		"the fleet rolls out":      {story: story{"CP-", "CP-", "yyy"}, fleet: []func(*v1alpha1.SeiNodeDeployment){rollsOut}, says: "waiting for the rollout of SeiNodeDeployment rpc to end"},
		"the spec was not read":    {story: story{"CP-", "CP-", "yyy"}, fleet: []func(*v1alpha1.SeiNodeDeployment){func(s *v1alpha1.SeiNodeDeployment) { s.Generation++ }}, says: "waiting for the rollout"},
		"another is down":          {story: story{"CP-", "CP-", "yyn"}, says: "waiting for rpc-2: "},
		"another is unknown":       {story: story{"CP-", "CP-", "yyu"}, says: "waiting for rpc-2: "},
		"another is down, for two": {story: story{"CP-", "CP-", "yyn"}, fleet: []func(*v1alpha1.SeiNodeDeployment){budgetOf(2)}, action: operation.Begin},
		"its node is down too":     {story: story{"CP-", "CP-", "ynn"}, action: operation.Begin},
		"another child restarts":   {story: story{"-PR", "-PR", "yyy"}, says: "waiting for rpc-2: SeiNodeTask " + operation.ChildName(task("p", 60, forFleet), "rpc-2")},
		"a task of others restarts one": {
			story: story{"CP-", "CP-", "yyy"}, change: func(g *operation.Group) { g.Restarting = map[string]string{"rpc-2": "by-hand"} },
			says: "waiting for rpc-2: SeiNodeTask by-hand restarts it",
		},
		"another was restarted a moment ago": {
			story: story{"CP-", "CP-", "yyy"}, fleet: []func(*v1alpha1.SeiNodeDeployment){func(s *v1alpha1.SeiNodeDeployment) {
				budgetOf(1)(s)
				s.Spec.UpdateStrategy.InPlace.MinReadySeconds = new(int32(40))
			}}, says: "waiting for rpc-0: it has been restarted", again: 10 * time.Second,
		},
		// Both were down when they were started, and came back while they queued.
		"an earlier child queues too": {story: story{"PP-", "PP-", "yyy"}, says: "waiting for its turn: the budget of SeiNodeDeployment rpc is used up"},
		"a later child queues too":    {story: story{"-PP", "-PP", "yyy"}, action: operation.Begin},
		"both, for two":               {story: story{"PP-", "PP-", "yyy"}, fleet: []func(*v1alpha1.SeiNodeDeployment){budgetOf(2)}, action: operation.Begin},
		"the fleet is gone":           {story: story{"CP-", "CP-", "yyy"}, change: func(g *operation.Group) { g.Fleet = nil }, says: "was deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := task("p", 60, forFleet)
			o := &operation.Observation{Now: now, Parent: parent, Node: rpcNode(own, metav1.ConditionTrue)}
			o.Budget = c.story.observe(parent, rpcFleet(c.fleet...)).Group
			o.Task = o.Budget.Children[own]
			if c.change != nil {
				c.change(o.Budget)
			}
			d := operation.Decide(o)
			if d.Action != c.action || !strings.Contains(d.Message, c.says) || d.RecheckAfter != c.again {
				t.Errorf("action %d, %q, again after %v; want %d, %q, %v", d.Action, d.Message, d.RecheckAfter, c.action, c.says, c.again)
			}
			if c.action == operation.Wait && d.Reason != v1alpha1.ReasonTaskQueued {
				t.Errorf("reason %s, want %s", d.Reason, v1alpha1.ReasonTaskQueued)
			}
		})
	}
}

// A child that restarts nothing, or whose parent is for no fleet, needs no budget.
func TestNeedsBudget_RestartsOfAFleetAlone(t *testing.T) {
	ofFleet, waiting := task("p", 60, forFleet), task("p", 60, forFleet, waits)
	for name, c := range map[string]struct {
		child, parent *v1alpha1.SeiNodeTask
		want          bool
	}{
		"a restart of a fleet": {operation.Child(ofFleet, "rpc-0"), ofFleet, true},
		"it has begun":         {childIn(ofFleet, "rpc-0", v1alpha1.NodeTaskRunning), ofFleet, false},
		"a wait on a fleet":    {operation.Child(waiting, "rpc-0"), waiting, false},
		"no child":             {task("a", 9), nil, false},
	} {
		if got := operation.NeedsBudget(c.child, c.parent); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
