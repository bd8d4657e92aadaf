package metrics_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
)

func TestNodeUpgrade_HeightAndFlags_FollowTheStatus(t *testing.T) {
	scheduled := &seiv1.ScheduledUpgrade{Name: "v7", Height: 100}
	for name, c := range map[string]struct {
		upgrade                         *seiv1.UpgradeStatus
		condition                       string
		paused                          bool
		height, halted, missing, failed string
	}{
		"nothing is known":  {},
		"nothing ahead":     {upgrade: &seiv1.UpgradeStatus{State: seiv1.UpgradeUpToDate}, halted: "0", missing: "0", failed: "0"},
		"scheduled":         {upgrade: &seiv1.UpgradeStatus{State: seiv1.UpgradeScheduled, Scheduled: scheduled}, height: "100", halted: "0", missing: "0", failed: "0"},
		"without an entry":  {upgrade: &seiv1.UpgradeStatus{State: seiv1.UpgradeScheduled, Scheduled: scheduled}, condition: seiv1.ConditionUpgradeImageMissing, height: "100", halted: "0", missing: "1", failed: "0"},
		"halted":            {upgrade: &seiv1.UpgradeStatus{State: seiv1.UpgradeHalted, Scheduled: scheduled}, height: "100", halted: "1", missing: "0", failed: "0"},
		"the wrong image":   {upgrade: &seiv1.UpgradeStatus{State: seiv1.UpgradeFailed, Scheduled: scheduled}, condition: seiv1.ConditionUpgradeFailed, height: "100", halted: "1", missing: "0", failed: "1"},
		"scheduled, paused": {upgrade: &seiv1.UpgradeStatus{State: seiv1.UpgradeScheduled, Scheduled: scheduled}, paused: true, height: "100"},
	} {
		t.Run(name, func(t *testing.T) {
			m, registry := newMetrics(t)
			n := node("rpc-0")
			n.Status.Upgrade, n.Spec.Paused = c.upgrade, c.paused
			if c.condition != "" {
				n.Status.Conditions = []metav1.Condition{{Type: c.condition, Status: metav1.ConditionTrue}}
			}
			m.NodeObserved(node("rpc-0"), n)
			for metric, value := range map[string]string{
				metrics.NameUpgradeHeight: c.height, metrics.NameUpgradeHalted: c.halted,
				metrics.NameUpgradeImageMissing: c.missing, metrics.NameUpgradeFailed: c.failed,
			} {
				if value == "" {
					expect(t, registry, metric)
				} else {
					expect(t, registry, metric, metric+`{name="rpc-0",namespace="sei"} `+value)
				}
			}
		})
	}
}

// The estimate is there while the upgrade is ahead, and stays when there is no new report.
func TestUpgradeEstimated_WhileTheUpgradeIsAhead(t *testing.T) {
	m, registry := newMetrics(t)
	n := node("rpc-0")
	is := func(state seiv1.UpgradeState, at *time.Time, want ...string) {
		t.Helper()
		n.Status.Upgrade = &seiv1.UpgradeStatus{State: state, Scheduled: &seiv1.ScheduledUpgrade{Name: "v7", Height: 100}}
		m.UpgradeEstimated(n, at)
		expect(t, registry, metrics.NameUpgradeEstimated, want...)
	}
	told := metrics.NameUpgradeEstimated + `{name="rpc-0",namespace="sei"} 1.7723664e+09`
	is(seiv1.UpgradeScheduled, nil)
	is(seiv1.UpgradeScheduled, &start, told)
	is(seiv1.UpgradeScheduled, nil, told)
	is(seiv1.UpgradeMovedEarly, nil, told)
	is(seiv1.UpgradeHalted, nil)
	is(seiv1.UpgradeScheduled, &start, told)
	n.Spec.Paused = true
	is(seiv1.UpgradeScheduled, &start)
	n.Spec.Paused = false
	is(seiv1.UpgradeScheduled, &start, told)
	n.Status.Upgrade = nil
	m.UpgradeEstimated(n, &start)
	expect(t, registry, metrics.NameUpgradeEstimated)
}
