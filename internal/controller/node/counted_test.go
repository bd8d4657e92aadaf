package node

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

// counted is what the status patch counter shows of the node, without zeros.
func (c cluster) counted(t *testing.T) map[statuspatch.Result]int {
	t.Helper()
	families, err := c.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := map[statuspatch.Result]int{}
	for _, family := range families {
		if family.GetName() != metrics.NameNodeStatusPatches {
			continue
		}
		for _, series := range family.GetMetric() {
			for _, label := range series.GetLabel() {
				if label.GetName() == "result" && series.GetCounter().GetValue() > 0 {
					counted[statuspatch.Result(label.GetValue())] = int(series.GetCounter().GetValue())
				}
			}
		}
	}
	return counted
}

// A1: every pass counts once, by the result of its status patch: changed is the number of status writes,
// and a settled node, whose reconciles are one pass each, counts a noop for every reconcile.
func TestA1_EveryPass_IsCountedOnceByResult(t *testing.T) {
	c := newCluster(t, newFullNode())
	passes := 0
	c.OnGet = func(obj client.Object) error {
		if _, ok := obj.(*appsv1.StatefulSet); ok { // of which every pass reads one
			passes++
		}
		return nil
	}
	r := c.operator(t)
	reconciles := func(n int) {
		for range n {
			if _, err := c.reconcile(t, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(after string, want map[statuspatch.Result]int) {
		t.Helper()
		if diff := cmp.Diff(want, c.counted(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", after, diff)
		}
	}
	reconciles(1)
	check("after the first pass", map[statuspatch.Result]int{statuspatch.Changed: 1})
	reconciles(50)
	check("after 50 reconciles at rest", map[statuspatch.Result]int{statuspatch.Changed: 1, statuspatch.Noop: 50})
	before := c.unpaused(t)
	passes, c.StatusWrites = 0, 0
	reconciles(1)
	if passes < 2 || c.StatusWrites == 0 {
		t.Fatalf("the first reconcile of a plan takes %d passes and %d writes", passes, c.StatusWrites)
	}
	check("after a reconcile with several passes", map[statuspatch.Result]int{
		statuspatch.Changed: 1 + c.StatusWrites, statuspatch.Noop: 50 + passes - c.StatusWrites,
	})
	c.Late, r = before, c.operator(t)
	c.Clock.SetTime(controllertest.At.Add(time.Minute)) // another plan would have another time
	reconciles(1)
	check("after a lost race", map[statuspatch.Result]int{statuspatch.Conflict: 1})
}
