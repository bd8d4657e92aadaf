package operation_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
)

// The name of a child follows from its parent and its node, is one that Kubernetes takes, and is no
// other's.
func TestChild_NameAndLabels_FollowFromParentAndNode(t *testing.T) {
	seen := map[string]string{}
	for _, parent := range []string{"p", "p-rpc", "restart.all", strings.Repeat("long-", 50) + "p", strings.Repeat("x", 55) + "-"} {
		for _, node := range []string{"rpc-0", "rpc-1", "0", strings.Repeat("n", 60) + "-0"} {
			of := task(strings.TrimRight(parent, "-"), 60, forFleet, func(t *v1alpha1.SeiNodeTask) { t.Spec.TTLSecondsAfterFinished = new(int32(5)) })
			child := operation.Child(of, node)
			if again := operation.Child(of, node); again.Name != child.Name || operation.ChildName(of, node) != child.Name {
				t.Errorf("%s and %s: %s and then %s", parent, node, child.Name, again.Name)
			}
			if problems := validation.IsDNS1123Subdomain(child.Name); len(problems) > 0 || len(child.Name) > 63 {
				t.Errorf("name %s: %v", child.Name, problems)
			}
			for key, value := range child.Labels {
				if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
					t.Errorf("label %s: %v", key, problems)
				}
			}
			if other := seen[child.Name]; other != "" {
				t.Errorf("%s is the child of %s and %s, and of %s", child.Name, parent, node, other)
			}
			seen[child.Name] = parent + " and " + node
			owner := operation.ParentOf(child)
			if owner == nil || owner.UID != of.UID || child.Spec.Target.NodeRef.Name != node || operation.ForSeveral(&child.Spec) || child.Spec.TTLSecondsAfterFinished != nil {
				t.Errorf("owner %+v, spec %+v", owner, child.Spec)
			}
		}
	}
	// A task that is recreated under the same name has other children.
	was, is := task("p", 60, forFleet), task("p", 60, forFleet)
	is.UID = "another"
	if operation.ChildName(was, "rpc-0") == operation.ChildName(is, "rpc-0") {
		t.Error("the children of two tasks have the same name")
	}
	if operation.ParentOf(was) != nil {
		t.Error("a task of its own has a parent")
	}
}

// A child begins only when its parent's status names it, so that whatever has had an effect is on
// record; and it has no more time than its parent.
func TestDecide_Child_BeginsWhenItsParentHasItOnRecord(t *testing.T) {
	for name, c := range map[string]struct {
		parent func(*v1alpha1.SeiNodeTask) *v1alpha1.SeiNodeTask
		node   bool
		action operation.Action
		says   string
	}{
		"on record":             {func(p *v1alpha1.SeiNodeTask) *v1alpha1.SeiNodeTask { return p }, true, operation.Begin, ""},
		"not on record":         {func(p *v1alpha1.SeiNodeTask) *v1alpha1.SeiNodeTask { p.Status.Nodes.Members[0].Task = ""; return p }, true, operation.Wait, "has not started it yet"},
		"the parent is gone":    {func(*v1alpha1.SeiNodeTask) *v1alpha1.SeiNodeTask { return nil }, true, operation.Wait, "was deleted"},
		"the parent is another": {func(p *v1alpha1.SeiNodeTask) *v1alpha1.SeiNodeTask { p.UID = "another"; return p }, true, operation.Wait, "was deleted"},
		"the parent is going":   {func(p *v1alpha1.SeiNodeTask) *v1alpha1.SeiNodeTask { leaving(p); return p }, true, operation.Wait, "was deleted"},
		"the parent is over":    {func(p *v1alpha1.SeiNodeTask) *v1alpha1.SeiNodeTask { p.Status.CompletedAt = at(0); return p }, true, operation.Wait, "has ended"},
		"no time is left":       {func(p *v1alpha1.SeiNodeTask) *v1alpha1.SeiNodeTask { p.Status.StartedAt = at(-5400); return p }, true, operation.Wait, "no time left"},
		"the node is gone":      {func(p *v1alpha1.SeiNodeTask) *v1alpha1.SeiNodeTask { return p }, false, operation.Fail, "SeiNode rpc-0 was deleted after SeiNodeTask p had started"},
	} {
		parent := task("p", 60, forFleet)
		_ = story{"P--", "P--", "yyy"}.observe(parent, rpcFleet())
		child := operation.Child(parent, "rpc-0")
		o := &operation.Observation{Task: child, Now: now, Parent: c.parent(parent), Budget: story{"P--", "P--", "yyy"}.observe(parent.DeepCopy(), rpcFleet()).Group}
		if c.node {
			o.Node = rpcNode("rpc-0", "True")
		}
		if d := operation.Decide(o); d.Action != c.action || !strings.Contains(d.Message, c.says) {
			t.Errorf("%s: action %d, %q", name, d.Action, d.Message)
		}
	}
}

func TestDecide_ChildsPlan_EndsInSyncAndWithTheTimeOfItsParent(t *testing.T) {
	plan := func(began int, change ...func(*v1alpha1.SeiNodeTask)) ([]string, time.Duration) {
		parent := task("p", 60, append([]func(*v1alpha1.SeiNodeTask){forFleet}, change...)...)
		budget := story{"P--", "P--", "yyy"}.observe(parent, rpcFleet()).Group
		parent.Status.StartedAt = at(-began)
		d := operation.Decide(&operation.Observation{Task: operation.Child(parent, "rpc-0"), Now: now, Parent: parent, Node: rpcNode("rpc-0", "True"), Budget: budget})
		return d.Plan.Tasks, d.Plan.Deadline.Sub(now)
	}
	if steps, left := plan(60); !slices.Equal(steps, []string{operation.StepRestartSeid, operation.StepAwaitSync}) || left != 30*time.Minute {
		t.Errorf("steps %v in %s", steps, left)
	}
	if _, left := plan(5400 - 600); left != 10*time.Minute {
		t.Errorf("late: %s, want %v", left, 10*time.Minute)
	}
	if steps, left := plan(20, waits, func(t *v1alpha1.SeiNodeTask) { t.Spec.TimeoutSeconds = 60 }); !slices.Equal(steps, []string{operation.StepAwaitCondition}) || left != 40*time.Second {
		t.Errorf("a wait: %v in %s", steps, left)
	}
}
