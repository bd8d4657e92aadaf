package operation_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(seconds int) *metav1.Time {
	return &metav1.Time{Time: now.Add(time.Duration(seconds) * time.Second)}
}

func node(change ...func(*v1alpha1.SeiNode)) *v1alpha1.SeiNode {
	n := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: "node"}}
	n.Spec = v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", Validator: &v1alpha1.ValidatorSpec{}}
	n.Status.Phase = v1alpha1.NodeRunning
	for _, f := range change {
		f(n)
	}
	return n
}

// task is a restart that was made some seconds ago.
func task(name string, age int, change ...func(*v1alpha1.SeiNodeTask)) *v1alpha1.SeiNodeTask {
	t := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: *at(-age)}}
	t.Spec.Kind, t.Spec.RestartSeid, t.Spec.Target.NodeRef.Name = v1alpha1.TaskKindRestartSeid, &v1alpha1.RestartSeid{}, "n"
	for _, f := range change {
		f(t)
	}
	return t
}

func begun(t *v1alpha1.SeiNodeTask) {
	t.Status.Plan, t.Status.StartedAt, t.Status.TargetUID = &v1alpha1.TaskPlan{Phase: v1alpha1.PlanActive}, at(-1), "node"
}

func ended(t *v1alpha1.SeiNodeTask) { begun(t); t.Status.CompletedAt = at(0) }

func leaving(t *v1alpha1.SeiNodeTask) { t.DeletionTimestamp = at(0) }

func waits(t *v1alpha1.SeiNodeTask) {
	t.Spec.Kind, t.Spec.RestartSeid, t.Spec.AwaitCondition = v1alpha1.TaskKindAwaitCondition, nil, &v1alpha1.AwaitCondition{}
}

func waitsAndEnds(t *v1alpha1.SeiNodeTask) { waits(t); t.Spec.AwaitCondition.Action = "SIGTERM_SEID" }

func seenFor(seconds int) func(*v1alpha1.SeiNodeTask) {
	return func(t *v1alpha1.SeiNodeTask) { t.Status.TargetFirstObservedAt = at(-seconds) }
}

func votesOn(chain string) func(*v1alpha1.SeiNodeTask) {
	return func(t *v1alpha1.SeiNodeTask) {
		t.Spec.Kind, t.Spec.RestartSeid = v1alpha1.TaskKindGovVote, nil
		t.Spec.GovVote = &v1alpha1.GovVote{GovTx: v1alpha1.GovTx{ChainID: chain}}
	}
}

func updates(t *v1alpha1.SeiNodeTask) {
	t.Spec.Kind, t.Spec.RestartSeid, t.Spec.UpdateNodeImage = v1alpha1.TaskKindUpdateNodeImage, nil, &v1alpha1.UpdateNodeImage{Image: "b"}
}

func syncs(t *v1alpha1.SeiNodeTask) {
	t.Spec.Kind, t.Spec.RestartSeid, t.Spec.StateSync = v1alpha1.TaskKindStateSync, nil, &v1alpha1.StateSyncTask{}
}

func TestDecide_TargetFirstThenTheQueue(t *testing.T) {
	initializing := node(func(n *v1alpha1.SeiNode) { n.Status.Phase = v1alpha1.NodeInitializing })
	another := node(func(n *v1alpha1.SeiNode) { n.UID = "another" })
	going := node(func(n *v1alpha1.SeiNode) { n.DeletionTimestamp = at(0) })
	full := node(func(n *v1alpha1.SeiNode) { n.Spec.Validator, n.Spec.FullNode = nil, &v1alpha1.FullNodeSpec{} })
	child := node(func(n *v1alpha1.SeiNode) {
		n.OwnerReferences = []metav1.OwnerReference{{Kind: v1alpha1.KindSeiNodeDeployment, Name: "fleet", Controller: new(true)}}
	})
	retained := node(func(n *v1alpha1.SeiNode) {
		n.Annotations, n.Labels = map[string]string{v1alpha1.AnnotationDeploymentUID: "f"}, map[string]string{v1alpha1.LabelDeployment: "fleet"}
	})
	archive := node(func(n *v1alpha1.SeiNode) { n.Spec.Validator, n.Spec.Archive = nil, &v1alpha1.ArchiveSpec{} })
	unknown := func(t *v1alpha1.SeiNodeTask) { t.Spec.Kind = "Dance" }
	for name, c := range map[string]struct {
		task   *v1alpha1.SeiNodeTask
		node   *v1alpha1.SeiNode
		others []*v1alpha1.SeiNodeTask
		began  types.UID
		action operation.Action
		reason string
		says   string
	}{
		"free to begin":                     {task("a", 9), node(), nil, "", operation.Begin, "", ""},
		"over":                              {task("a", 9, ended), nil, nil, "", operation.Rest, "", ""},
		"a kind of a newer operator":        {task("a", 9, unknown), node(), nil, "", operation.Fail, v1alpha1.ReasonUnsupportedKind, `"Dance"`},
		"no target yet":                     {task("a", 9), nil, nil, "", operation.Wait, v1alpha1.ReasonTaskNotComplete, "no SeiNode n"},
		"no target for long":                {task("a", 900, seenFor(300)), nil, nil, "", operation.Fail, v1alpha1.ReasonTargetNotFound, "waited for 5m0s"},
		"another phase":                     {task("a", 9, seenFor(299)), initializing, nil, "", operation.Wait, v1alpha1.ReasonTaskNotComplete, "phase Initializing, but the task needs Running"},
		"another phase for long":            {task("a", 9, seenFor(300)), initializing, nil, "", operation.Fail, v1alpha1.ReasonPhaseTimeout, "phase Initializing"},
		"runs":                              {task("a", 9, begun), node(), nil, "", operation.Run, "", ""},
		"runs, the phase does not matter":   {task("a", 9, begun), initializing, nil, "", operation.Run, "", ""},
		"runs, the node is gone":            {task("a", 9, begun), nil, nil, "", operation.Fail, v1alpha1.ReasonTargetDeleted, "was deleted"},
		"runs, another has the node's name": {task("a", 9, begun), another, nil, "", operation.Fail, v1alpha1.ReasonTargetDeleted, "was recreated under the same name"},
		"runs, the node is going":           {task("a", 9, begun), going, nil, "", operation.Fail, v1alpha1.ReasonTargetDeleted, "is being deleted"},

		"behind an older one":                 {task("a", 9), node(), []*v1alpha1.SeiNodeTask{task("b", 10)}, "", operation.Wait, v1alpha1.ReasonTaskQueued, "SeiNodeTask b"},
		"behind the one right before it":      {task("a", 8), node(), []*v1alpha1.SeiNodeTask{task("b", 10), task("c", 9)}, "", operation.Wait, v1alpha1.ReasonTaskQueued, "SeiNodeTask c"},
		"before a younger one":                {task("a", 9), node(), []*v1alpha1.SeiNodeTask{task("b", 8)}, "", operation.Begin, "", ""},
		"same second, by name":                {task("b", 9), node(), []*v1alpha1.SeiNodeTask{task("a", 9)}, "", operation.Wait, v1alpha1.ReasonTaskQueued, "SeiNodeTask a"},
		"behind a younger one that runs":      {task("a", 9), node(), []*v1alpha1.SeiNodeTask{task("b", 8, begun)}, "", operation.Wait, v1alpha1.ReasonTaskQueued, "SeiNodeTask b"},
		"behind one that has just begun":      {task("a", 9), node(), []*v1alpha1.SeiNodeTask{task("b", 8)}, "uid-b", operation.Wait, v1alpha1.ReasonTaskQueued, "SeiNodeTask b"},
		"the one that had begun is over":      {task("a", 9), node(), []*v1alpha1.SeiNodeTask{task("b", 8, ended)}, "uid-b", operation.Begin, "", ""},
		"the one that had begun is gone":      {task("a", 9), node(), nil, "uid-b", operation.Begin, "", ""},
		"an older one is over":                {task("a", 9), node(), []*v1alpha1.SeiNodeTask{task("b", 10, ended)}, "", operation.Begin, "", ""},
		"an older one goes before it begins":  {task("a", 9), node(), []*v1alpha1.SeiNodeTask{task("b", 10, leaving)}, "", operation.Begin, "", ""},
		"an older one goes while it runs":     {task("a", 9), node(), []*v1alpha1.SeiNodeTask{task("b", 10, begun, leaving)}, "", operation.Wait, v1alpha1.ReasonTaskQueued, "SeiNodeTask b"},
		"an older one only waits":             {task("a", 9), node(), []*v1alpha1.SeiNodeTask{task("b", 10, waits, begun)}, "", operation.Begin, "", ""},
		"a plain wait passes everything":      {task("a", 9, waits), node(), []*v1alpha1.SeiNodeTask{task("b", 10, begun)}, "uid-b", operation.Begin, "", ""},
		"a wait that ends seid queues":        {task("a", 9, waitsAndEnds), node(), []*v1alpha1.SeiNodeTask{task("b", 10)}, "", operation.Wait, v1alpha1.ReasonTaskQueued, "SeiNodeTask b"},
		"the target comes before the queue":   {task("a", 9, seenFor(300)), initializing, []*v1alpha1.SeiNodeTask{task("b", 10)}, "", operation.Fail, v1alpha1.ReasonPhaseTimeout, ""},
		"a vote on the node's chain":          {task("a", 9, votesOn("pacific-1")), node(), nil, "", operation.Begin, "", ""},
		"a vote on another chain":             {task("a", 9, votesOn("atlantic-2")), node(), nil, "", operation.Fail, v1alpha1.ReasonTargetRefused, "chain atlantic-2, and SeiNode n is on pacific-1"},
		"a vote by a full node":               {task("a", 9, votesOn("pacific-1")), full, nil, "", operation.Fail, v1alpha1.ReasonTargetRefused, "no keyring"},
		"an image for a single node":          {task("a", 9, updates), node(), nil, "", operation.Begin, "", ""},
		"an image for a fleet's node":         {task("a", 9, updates), child, nil, "", operation.Fail, v1alpha1.ReasonTargetRefused, "SeiNodeDeployment fleet"},
		"an image for a Retain fleet's node":  {task("a", 9, updates), retained, nil, "", operation.Fail, v1alpha1.ReasonTargetRefused, "SeiNodeDeployment fleet"},
		"a state sync of a full node":         {task("a", 9, syncs), full, nil, "", operation.Begin, "", ""},
		"a state sync of a validator":         {task("a", 9, syncs), node(), nil, "", operation.Fail, v1alpha1.ReasonTargetRefused, "signing key"},
		"a state sync of an archive":          {task("a", 9, syncs), archive, nil, "", operation.Fail, v1alpha1.ReasonTargetRefused, "lose its history"},
		"a restart of a fleet's node is fine": {task("a", 9), child, nil, "", operation.Begin, "", ""},
	} {
		d := operation.Decide(&operation.Observation{Task: c.task, Now: now, Node: c.node, Others: c.others, Began: c.began})
		if d.Action != c.action || d.Reason != c.reason || !strings.Contains(d.Message, c.says) {
			t.Errorf("%s: action %d, %s, %q", name, d.Action, d.Reason, d.Message)
		}
	}
}

func TestDecide_WaitForTheTarget_EndsOnTime(t *testing.T) {
	slow := task("a", 9, seenFor(60), func(t *v1alpha1.SeiNodeTask) {
		t.Spec.Target.RequirePhaseTimeout = &metav1.Duration{Duration: 90 * time.Second}
	})
	if d := operation.Decide(&operation.Observation{Task: slow, Now: now}); d.RecheckAfter != 30*time.Second {
		t.Errorf("looks again after %s", d.RecheckAfter)
	}
	fresh := task("a", 9)
	if d := operation.Decide(&operation.Observation{Task: fresh, Now: now}); d.RecheckAfter != 5*time.Minute {
		t.Errorf("a new task looks again after %s", d.RecheckAfter)
	}
}

// The plan of a task has the same ids whoever makes it, and the task's time from now on.
func TestDecide_Plan_FollowsFromTheTaskAlone(t *testing.T) {
	o := operation.Observation{Task: task("a", 9), Now: now, Node: node()}
	d := operation.Decide(&o)
	if d.Plan.ID != "uid-a" || !d.Plan.Deadline.Equal(now.Add(30*time.Minute)) || d.Plan.Reason != "RestartSeid" {
		t.Errorf("plan %+v, want uid-a for RestartSeid, until %s", d.Plan, now.Add(30*time.Minute))
	}
	o.Task.Spec.TimeoutSeconds = 7
	if d := operation.Decide(&o); !d.Plan.Deadline.Equal(now.Add(7 * time.Second)) {
		t.Errorf("deadline %s, want %s", d.Plan.Deadline, now.Add(7*time.Second))
	}
}
