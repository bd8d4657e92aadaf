package operation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/operation"
)

// rpcFleet is a fleet of three that has nothing to roll out.
func rpcFleet(change ...func(*v1alpha1.SeiNodeDeployment)) *v1alpha1.SeiNodeDeployment {
	snd := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "rpc", UID: "fleet", Generation: 4}}
	snd.Spec.Replicas, snd.Status.ObservedGeneration = 3, 4
	for _, f := range change {
		f(snd)
	}
	return snd
}

func budgetOf(n int32) func(*v1alpha1.SeiNodeDeployment) {
	return func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MaxUnavailable: new(intstr.FromInt32(n))}}
	}
}

// rpcNode is a node of the fleet that has been in sync for an hour.
func rpcNode(name string, inSync metav1.ConditionStatus) *v1alpha1.SeiNode {
	return node(func(n *v1alpha1.SeiNode) {
		n.Name, n.UID, n.Generation, n.Status.ObservedGeneration = name, types.UID(name), 1, 1
		n.Spec.Validator, n.Spec.FullNode = nil, &v1alpha1.FullNodeSpec{}
		for _, c := range []string{v1alpha1.ConditionInSync, v1alpha1.ConditionReady} {
			conditions.For(&n.Status.Conditions, 1, now.Add(-time.Hour)).Set(c, inSync, "Any", "")
		}
	})
}

// forFleet is a restart of the fleet that began a minute ago, or was just made.
func forFleet(t *v1alpha1.SeiNodeTask) {
	t.Spec.Target.NodeRef, t.Spec.Target.FleetRef.Name = v1alpha1.NodeRef{}, "rpc"
}

func heights(t *v1alpha1.SeiNodeTask) {
	t.Spec.Kind, t.Spec.RestartSeid = v1alpha1.TaskKindAwaitNodesAtHeight, nil
	t.Spec.AwaitNodesAtHeight = &v1alpha1.AwaitNodesAtHeight{TargetHeight: 9}
	t.Spec.Target.NodeRef, t.Spec.Target.Selector = v1alpha1.NodeRef{}, map[string]string{"b": "2", "a": "1"}
}

// story is a task for the nodes rpc-0 to rpc-2 in a few letters, one per node: its record in the
// task's status, its child, and the node.
//
//	record: - none, P, R, C, F its phase
//	child:  - none, P, R, C, F its phase
//	node:   y in sync, n not, u unknown, - gone
type story struct{ record, child, node string }

var phases = map[byte]v1alpha1.SeiNodeTaskPhase{
	'P': v1alpha1.NodeTaskPending, 'R': v1alpha1.NodeTaskRunning, 'C': v1alpha1.NodeTaskComplete, 'F': v1alpha1.NodeTaskFailed,
}

func (s story) observe(of *v1alpha1.SeiNodeTask, fleet *v1alpha1.SeiNodeDeployment) *operation.Observation {
	g := &operation.Group{Fleet: fleet, Nodes: map[string]*v1alpha1.SeiNode{}, Children: map[string]*v1alpha1.SeiNodeTask{}}
	nodes := &v1alpha1.TaskNodes{Total: int32(len(s.record))}
	for i := range len(s.node) {
		name := fmt.Sprintf("rpc-%d", i)
		g.Target = append(g.Target, name)
		if inSync := map[byte]metav1.ConditionStatus{'y': "True", 'n': "False", 'u': "Unknown"}[s.node[i]]; inSync != "" {
			g.Nodes[name] = rpcNode(name, inSync)
		}
		if i >= len(s.record) {
			continue
		}
		m := v1alpha1.TaskMember{Name: name, Phase: phases['P']}
		if phase := phases[s.record[i]]; phase != "" {
			m.Task, m.Phase = operation.ChildName(of, name), phase
		}
		nodes.Members = append(nodes.Members, m)
		if phase := phases[s.child[i]]; phase != "" {
			g.Children[name] = childIn(of, name, phase)
		}
	}
	if len(s.record) > 0 {
		of.Status.Nodes, of.Status.StartedAt, of.Status.TargetUID = nodes, at(-60), "fleet"
	}
	return &operation.Observation{Task: of, Now: now, Group: g}
}

// childIn is a child in a phase; one that has ended did so half a minute ago.
func childIn(parent *v1alpha1.SeiNodeTask, name string, phase v1alpha1.SeiNodeTaskPhase) *v1alpha1.SeiNodeTask {
	child := operation.Child(parent, name)
	child.Status.Phase = phase
	switch phase {
	case v1alpha1.NodeTaskRunning:
		begun(child)
	case v1alpha1.NodeTaskComplete, v1alpha1.NodeTaskFailed:
		begun(child)
		child.Status.CompletedAt = at(-30)
		conditions.For(&child.Status.Conditions, 1, now).True(v1alpha1.ConditionFailed, "Any", "the reason of "+name)
	}
	return child
}

func TestDecide_RestartOfAFleet_StaysWithinItsBudget(t *testing.T) {
	rolling := func(s *v1alpha1.SeiNodeDeployment) { s.Status.Rollout = &v1alpha1.RolloutStatus{} }
	edited := func(s *v1alpha1.SeiNodeDeployment) { s.Generation++ }
	soaking := func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MinReadySeconds: new(int32(45))}}
	}
	for name, c := range map[string]struct {
		story
		fleet  []func(*v1alpha1.SeiNodeDeployment)
		action operation.Action
		nodes  []string
		says   string
	}{
		"one at first":                           {story{"---", "---", "yyy"}, nil, operation.Start, []string{"rpc-0"}, ""},
		"two with a budget of two":               {story{"---", "---", "yyy"}, []func(*v1alpha1.SeiNodeDeployment){budgetOf(2)}, operation.Start, []string{"rpc-0", "rpc-1"}, ""},
		"none beside one that is let begin":      {story{"P--", "P--", "yyy"}, nil, operation.Run, nil, "restarts it"},
		"none beside one that runs":              {story{"R--", "R--", "yyy"}, nil, operation.Run, nil, "waiting for rpc-0: SeiNodeTask"},
		"the next after one":                     {story{"C--", "C--", "yyy"}, nil, operation.Start, []string{"rpc-1"}, ""},
		"not while the last one soaks":           {story{"C--", "C--", "yyy"}, []func(*v1alpha1.SeiNodeDeployment){soaking}, operation.Run, nil, "less than minReadySeconds ago"},
		"not while the last one is out of sync":  {story{"C--", "C--", "nyy"}, nil, operation.Run, nil, "waiting for rpc-0"},
		"not while a node is down":               {story{"-", "-", "yny"}, nil, operation.Run, nil, "waiting for rpc-1"},
		"what is down goes first":                {story{"---", "---", "yyn"}, nil, operation.Start, []string{"rpc-2"}, ""},
		"what is down goes beside one":           {story{"R--", "R--", "yyn"}, nil, operation.Start, []string{"rpc-2"}, ""},
		"unknown takes budget":                   {story{"---", "---", "yuy"}, nil, operation.Start, []string{"rpc-1"}, ""},
		"unknown frees nobody":                   {story{"C-", "C-", "uy"}, nil, operation.Run, nil, "waiting for rpc-0"},
		"not during a rollout":                   {story{"---", "---", "yyn"}, []func(*v1alpha1.SeiNodeDeployment){rolling}, operation.Run, nil, "the rollout of SeiNodeDeployment rpc"},
		"not before the fleet's spec is known":   {story{"---", "---", "yyy"}, []func(*v1alpha1.SeiNodeDeployment){edited}, operation.Run, nil, "the rollout"},
		"a node that is gone says so at once":    {story{"R--", "R--", "yy-"}, nil, operation.Start, []string{"rpc-2"}, ""},
		"a node made meanwhile takes budget":     {story{"--", "--", "yyn"}, nil, operation.Run, nil, "waiting for rpc-2"},
		"complete":                               {story{"CCC", "CCC", "yyy"}, nil, operation.Complete, nil, "complete on all 3 nodes"},
		"complete, the children are gone":        {story{"CCC", "---", "yyy"}, nil, operation.Complete, nil, ""},
		"complete on all, one is just over":      {story{"CCR", "CCC", "yyn"}, nil, operation.Complete, nil, ""},
		"failed: no other begins":                {story{"F--", "F--", "yyy"}, nil, operation.Fail, nil, "failed on 1 of 3 nodes, not started on 2; first on rpc-0: the reason of rpc-0"},
		"failed: one that runs comes to its end": {story{"FR-", "FR-", "yyy"}, nil, operation.Run, nil, "no further node is started"},
		"failed: one that has not begun goes":    {story{"FP-", "FP-", "yyy"}, nil, operation.Withdraw, []string{"rpc-1"}, ""},
		"failed: one that went has not begun":    {story{"FP-", "F--", "yyy"}, nil, operation.Fail, nil, "failed on 1 of 3 nodes, not started on 2"},
		"just failed":                            {story{"R--", "F--", "yyy"}, nil, operation.Fail, nil, "first on rpc-0"},
		"a child that somebody deleted":          {story{"R--", "---", "yyy"}, nil, operation.Fail, nil, "was deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			d := operation.Decide(c.observe(task("p", 60, forFleet), rpcFleet(c.fleet...)))
			if d.Action != c.action || !slices.Equal(d.Nodes, c.nodes) || !strings.Contains(d.Message, c.says) {
				t.Errorf("action %d, nodes %v, %q", d.Action, d.Nodes, d.Message)
			}
		})
	}
}

// The restart of a node by another owner's task takes budget too.
func TestDecide_RestartOfAFleet_CountsTheTasksOfOthers(t *testing.T) {
	o := story{"---", "---", "yyy"}.observe(task("p", 60, forFleet), rpcFleet())
	o.Group.Restarting = map[string]string{"rpc-1": "by-hand"}
	if d := operation.Decide(o); d.Action != operation.Run || !strings.Contains(d.Message, "waiting for rpc-1: SeiNodeTask by-hand restarts it") {
		t.Errorf("action %d, %v, %q", d.Action, d.Nodes, d.Message)
	}
}

func TestDecide_WaitsAndVotesOfAFleet_BeginAtOnceAndEndTogether(t *testing.T) {
	chain := func(t *v1alpha1.SeiNodeTask) { forFleet(t); waits(t) }
	for name, c := range map[string]struct {
		story
		action operation.Action
		nodes  []string
		says   string
	}{
		"all at once":                   {story{"---", "---", "ynu"}, operation.Start, []string{"rpc-0", "rpc-1", "rpc-2"}, ""},
		"the rest after a crash":        {story{"R--", "R--", "yyy"}, operation.Start, []string{"rpc-1", "rpc-2"}, ""},
		"one has failed, others run":    {story{"FRR", "FRR", "yyy"}, operation.Run, nil, ""},
		"one has failed, others waited": {story{"FRP", "FRP", "yyy"}, operation.Run, nil, ""},
		"all are over":                  {story{"FCC", "FCC", "yyy"}, operation.Fail, nil, "failed on 1 of 3 nodes; first on rpc-0"},
	} {
		d := operation.Decide(c.observe(task("p", 60, chain), rpcFleet(func(s *v1alpha1.SeiNodeDeployment) { s.Generation++ })))
		if d.Action != c.action || !slices.Equal(d.Nodes, c.nodes) || !strings.Contains(d.Message, c.says) {
			t.Errorf("%s: action %d, nodes %v, %q", name, d.Action, d.Nodes, d.Message)
		}
	}
}

// The time of the task is that of all its nodes: by default, that of its kind for each restart.
func TestDecide_TimeOfATaskForAFleet_IsThatOfAllItsNodes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha1.SeiNodeTask)
		story
		began  int
		action operation.Action
		reason string
		says   string
	}{
		"within the default":          {forFleet, story{"C--", "C--", "yyy"}, 3*1800 - 1, operation.Start, "", ""},
		"the default is over":         {forFleet, story{"C--", "C--", "yyy"}, 3 * 1800, operation.Fail, v1alpha1.ReasonTaskTimeout, "not completed within 1h30m0s: failed on 0 of 3 nodes, not started on 2"},
		"complete in the last moment": {forFleet, story{"CCC", "CCC", "yyy"}, 3 * 1800, operation.Complete, v1alpha1.ReasonTaskComplete, ""},
		"asked for less": {func(t *v1alpha1.SeiNodeTask) { forFleet(t); t.Spec.TimeoutSeconds = 7 },
			story{"R--", "F--", "yyy"}, 7, operation.Fail, v1alpha1.ReasonTaskTimeout, "within 7s: failed on 1 of 3 nodes, not started on 2; first on rpc-0"},
		"one still runs":      {forFleet, story{"CR-", "CR-", "yyy"}, 3 * 1800, operation.Run, "", ""},
		"one has not begun":   {forFleet, story{"CP-", "CP-", "yyy"}, 3 * 1800, operation.Withdraw, "", ""},
		"waits have one time": {func(t *v1alpha1.SeiNodeTask) { forFleet(t); waits(t) }, story{"CCF", "CCF", "yyy"}, 24 * 3600, operation.Fail, v1alpha1.ReasonTaskTimeout, "within 24h0m0s"},
	} {
		o := c.observe(task("p", 60, c.change), rpcFleet())
		o.Task.Status.StartedAt = at(-c.began)
		if d := operation.Decide(o); d.Action != c.action || d.Reason != c.reason || !strings.Contains(d.Message, c.says) {
			t.Errorf("%s: action %d, %s, %q", name, d.Action, d.Reason, d.Message)
		}
	}
	running := story{"R--", "R--", "yyy"}.observe(task("p", 60, forFleet), rpcFleet())
	if d := operation.Decide(running); d.RecheckAfter != 3*30*time.Minute-time.Minute {
		t.Errorf("looks again after %s", d.RecheckAfter)
	}
}

func TestDecide_TaskForSeveralNodes_WaitsForItsTarget(t *testing.T) {
	gone := func(s *v1alpha1.SeiNodeDeployment) { s.DeletionTimestamp = at(0) }
	queued := func(t *v1alpha1.SeiNodeTask) { forFleet(t); t.CreationTimestamp = *at(-90) }
	votes := func(t *v1alpha1.SeiNodeTask) { forFleet(t); votesOn("pacific-1")(t) }
	for name, c := range map[string]struct {
		task   *v1alpha1.SeiNodeTask
		fleet  *v1alpha1.SeiNodeDeployment
		story  story
		other  *v1alpha1.SeiNodeTask
		action operation.Action
		reason string
		says   string
	}{
		"begins":                     {task("p", 60, forFleet), rpcFleet(), story{node: "yyy"}, nil, operation.Begin, "", ""},
		"no fleet":                   {task("p", 60, forFleet), nil, story{}, nil, operation.Wait, v1alpha1.ReasonTaskNotComplete, "there is no SeiNodeDeployment rpc"},
		"no fleet for long":          {task("p", 60, forFleet, seenFor(300)), nil, story{}, nil, operation.Fail, v1alpha1.ReasonTargetNotFound, "waited for 5m0s"},
		"a fleet that grows":         {task("p", 60, forFleet), rpcFleet(), story{node: "yy-"}, nil, operation.Wait, v1alpha1.ReasonTaskNotComplete, "has not created SeiNode rpc-2 yet"},
		"a fleet without nodes":      {task("p", 60, forFleet, seenFor(300)), rpcFleet(), story{}, nil, operation.Fail, v1alpha1.ReasonNoNodes, "SeiNodeDeployment rpc has no SeiNode"},
		"nothing is selected":        {task("p", 60, heights), nil, story{}, nil, operation.Wait, v1alpha1.ReasonTaskNotComplete, "the selector a=1,b=2 has no SeiNode"},
		"nothing selected, for long": {task("p", 60, heights, seenFor(300)), nil, story{}, nil, operation.Fail, v1alpha1.ReasonNoNodes, "the selector a=1,b=2"},
		"something is selected":      {task("p", 60, heights), nil, story{node: "nnn"}, nil, operation.Begin, "", ""},
		"behind another restart":     {task("p", 60, forFleet), rpcFleet(), story{node: "yyy"}, task("q", 90, queued), operation.Wait, v1alpha1.ReasonTaskQueued, "SeiNodeTask q"},
		"votes do not queue":         {task("p", 60, forFleet, waits), rpcFleet(), story{node: "yyy"}, task("q", 90, queued), operation.Begin, "", ""},
		"votes of full nodes":        {task("p", 60, votes), rpcFleet(), story{node: "yyy"}, nil, operation.Fail, v1alpha1.ReasonTargetRefused, "SeiNode rpc-0 has no keyring"},
		"runs, the fleet is going":   {task("p", 60, forFleet), rpcFleet(gone), story{"C--", "C--", "yyy"}, nil, operation.Fail, v1alpha1.ReasonTargetDeleted, "SeiNodeDeployment rpc was deleted"},
		"runs, the fleet is gone":    {task("p", 60, forFleet), nil, story{"CR-", "CR-", "yyy"}, nil, operation.Run, "", "no further node"},
		"waits, the fleet is gone":   {task("p", 60, forFleet, waits), nil, story{"CCR", "CCR", "yyy"}, nil, operation.Run, "", ""},
	} {
		o := c.story.observe(c.task, c.fleet)
		if c.other != nil {
			o.Others = []*v1alpha1.SeiNodeTask{c.other}
		}
		if d := operation.Decide(o); d.Action != c.action || d.Reason != c.reason || !strings.Contains(d.Message, c.says) {
			t.Errorf("%s: action %d, %s, %q", name, d.Action, d.Reason, d.Message)
		}
	}
	signers := story{node: "yyy"}.observe(task("p", 60, forFleet, syncs), rpcFleet())
	signers.Group.Nodes["rpc-1"].Spec.FullNode, signers.Group.Nodes["rpc-1"].Spec.Validator = nil, &v1alpha1.ValidatorSpec{}
	if d := operation.Decide(signers); d.Reason != v1alpha1.ReasonTargetRefused || !strings.Contains(d.Message, "SeiNode rpc-1 has a signing key") {
		t.Errorf("%s: %q, want Reason %v and %q in it", d.Reason, d.Message, v1alpha1.ReasonTargetRefused, "SeiNode rpc-1 has a signing key")
	}
}

func TestReport_TaskForSeveralNodes_SumsUpItsNodes(t *testing.T) {
	for name, c := range map[string]struct {
		story
		made    map[string]string
		want    v1alpha1.TaskNodes // without its members
		phase   v1alpha1.SeiNodeTaskPhase
		reason  string
		message string
	}{
		"waits for its target": {story{node: "yy-"}, nil, v1alpha1.TaskNodes{}, v1alpha1.NodeTaskPending, v1alpha1.ReasonTaskNotComplete, "waiting for the target: SeiNodeDeployment rpc has not created SeiNode rpc-2 yet"},
		"begins":               {story{node: "yyy"}, nil, v1alpha1.TaskNodes{Total: 3, Pending: 3}, v1alpha1.NodeTaskRunning, v1alpha1.ReasonTaskNotComplete, "complete on 0 of 3 nodes, running on 0"},
		"starts one":           {story{"---", "---", "yyy"}, map[string]string{"rpc-0": "x"}, v1alpha1.TaskNodes{Total: 3, Pending: 3}, v1alpha1.NodeTaskRunning, v1alpha1.ReasonTaskNotComplete, "complete on 0 of 3 nodes, running on 0"},
		"runs":                 {story{"CR-", "CR-", "yny"}, nil, v1alpha1.TaskNodes{Total: 3, Pending: 1, Running: 1, Complete: 1}, v1alpha1.NodeTaskRunning, v1alpha1.ReasonTaskNotComplete, "complete on 1 of 3 nodes, running on 1; waiting for rpc-1: SeiNodeTask " + operation.ChildName(task("p", 60), "rpc-1") + " restarts it"},
		"fails":                {story{"CR-", "CF-", "yyy"}, nil, v1alpha1.TaskNodes{Total: 3, Pending: 1, Complete: 1, Failed: 1, FailedNames: []string{"rpc-1"}}, v1alpha1.NodeTaskFailed, v1alpha1.ReasonTaskNodeFailed, "failed on 1 of 3 nodes, not started on 1; first on rpc-1: the reason of rpc-1"},
		"is complete":          {story{"CCR", "CCC", "yyy"}, nil, v1alpha1.TaskNodes{Total: 3, Complete: 3}, v1alpha1.NodeTaskComplete, v1alpha1.ReasonTaskComplete, "complete on all 3 nodes"},
	} {
		p := &operation.Pass{Observed: *c.observe(task("p", 60, forFleet), rpcFleet()), Made: c.made}
		p.Decision = operation.Decide(&p.Observed)
		status := operation.Report(p)
		ready := conditions.Get(status.Conditions, v1alpha1.ConditionReady)
		if status.Phase != c.phase || ready.Reason != c.reason || ready.Message != c.message || status.Plan != nil {
			t.Errorf("%s: %s, %s, %q, want Phase %v, Reason %v, Message %v and Plan nil", name, status.Phase, ready.Reason, ready.Message, c.phase, c.reason, c.message)
		}
		if (status.CompletedAt != nil) != (c.phase == v1alpha1.NodeTaskComplete || c.phase == v1alpha1.NodeTaskFailed) || (status.StartedAt != nil) != (c.want.Total > 0) {
			t.Errorf("%s: began at %v, over at %v", name, status.StartedAt, status.CompletedAt)
		}
		got := v1alpha1.TaskNodes{}
		if status.Nodes != nil {
			got = *status.Nodes
			for i := range got.Members {
				if task := c.made[got.Members[i].Name]; task != "" && got.Members[i].Task != task {
					t.Errorf("%s: %+v is not on record", name, got.Members[i])
				}
			}
			got.Members = nil
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if c.want.Total > 0 && status.TargetUID != "fleet" {
			t.Errorf("%s: began on %q", name, status.TargetUID)
		}
	}
}
