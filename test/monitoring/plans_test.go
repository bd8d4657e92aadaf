package monitoring_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

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
		deadline := cmp.Or(registry[name].Timeout, time.Hour) // one without a deadline is reported all the same
		labels := fmt.Sprintf(`namespace="sei",name="x",reason="NewNode",task=%q`, name)
		c.Series = append(c.Series, series{
			Series: metrics.NameTaskActiveAge + `{kind="SeiNode",` + labels + `}`,
			Values: fmt.Sprintf("%d+60x14", int((deadline - look).Seconds())),
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

// Updates and reconfigurations have alerts of their own, so the rules have to agree on what they
// are with the domain of a node.
func TestRules_KnowEveryReasonOfAnUpdateAndOfAReconfiguration(t *testing.T) {
	reasons := func(of func(string) bool) string {
		list := slices.DeleteFunc(domain.Reasons(), func(reason string) bool { return !of(reason) })
		slices.Sort(list)
		return strings.Join(list, "|")
	}
	found := map[string]int{reasons(domain.IsUpdate): 0, reasons(domain.IsReconfiguration): 0}
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
				got, _ := m.Values()
				slices.Sort(got)
				if _, known := found[strings.Join(got, "|")]; !known {
					t.Errorf("%s, %s: reasons %v are neither those of updates nor of reconfigurations", r.key(), s.Metric, got)
				}
				found[strings.Join(got, "|")]++
			}
		}
	}
	for list, n := range found {
		if n == 0 {
			t.Errorf("no rule speaks of %s", list)
		}
	}
}
