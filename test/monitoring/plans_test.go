package monitoring_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/metrics"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/test/monitoring/promql"
)

// A task that runs into its deadline ends the plan, and with it what the alert would
// have said.
func TestSeiNodePlanStuck_FiresBeforeAnyTaskRunsIntoItsDeadline(t *testing.T) {
	const look = 14 * time.Minute
	c := testCase{Name: "every task, a minute before its deadline", Interval: "1m"}
	fires := recordTest{Expr: `ALERTS{alertname="SeiNodePlanStuck",alertstate="firing"}`, At: "13m"}
	registry := task.Registry()
	for _, name := range slices.Sorted(maps.Keys(registry)) {
		labels := fmt.Sprintf(`namespace="sei",name="x",reason="NewNode",task=%q`, name)
		c.Series = append(c.Series, series{
			Series: metrics.NameTaskActiveAge + `{kind="SeiNode",` + labels + `}`,
			Values: fmt.Sprintf("%d+60x14", int((registry[name].Timeout - look).Seconds())),
		})
		fires.Want = append(fires.Want, sample{
			Labels: `ALERTS{alertname="SeiNodePlanStuck",alertstate="firing",severity="warning",cause="waiting",` + labels + `}`, Value: 1,
		})
	}
	c.Records = []recordTest{fires}
	if out, err := (testCases{Tests: []testCase{c}}).run(t, shipped(t)); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Updates have an alert of their own, so two rules have to agree on what an update is,
// and with the domain of a node.
func TestRules_KnowEveryReasonOfAnUpdate(t *testing.T) {
	var want []string
	for _, d := range metrics.Declarations() {
		if d.Name == metrics.NamePlanActiveAge {
			want = slices.DeleteFunc(slices.Clone(d.Values["reason"]), func(reason string) bool { return !domain.IsUpdate(reason) })
		}
	}
	slices.Sort(want)
	found := 0
	for _, r := range shipped(t).all() {
		names, err := promql.Read(r.Expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range names.Selectors {
			for _, m := range s.Matchers {
				if m.Label != "reason" || m.Op == "=" {
					continue
				}
				found++
				got, _ := m.Values()
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, %s: reasons of updates (-internal/node +rule):\n%s", r.key(), s.Metric, diff)
				}
			}
		}
	}
	if found == 0 || len(want) == 0 {
		t.Errorf("%d rules speak of %v", found, want)
	}
}
