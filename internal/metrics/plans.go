package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

type objectKey struct{ kind, namespace, name string }

type activePlan struct {
	reason    string
	startedAt time.Time
}

// activePlans is a collector: an age that were set at reconciles would stand
// still between them, which is just when it matters.
type activePlans struct {
	desc *prometheus.Desc
	now  func() time.Time

	mu    sync.Mutex
	plans map[objectKey]activePlan
}

func newActivePlans(d Declaration, now func() time.Time) *activePlans {
	return &activePlans{
		desc:  prometheus.NewDesc(d.Name, d.Help, d.Labels, nil),
		now:   now,
		plans: map[objectKey]activePlan{},
	}
}

func (a *activePlans) set(key objectKey, plan *seiv1.TaskPlan) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if plan == nil || plan.Phase != seiv1.PlanActive || plan.StartedAt == nil {
		delete(a.plans, key)
		return
	}
	a.plans[key] = activePlan{reason: bounded(plan.Reason), startedAt: plan.StartedAt.Time}
}

// Describe implements prometheus.Collector.
func (a *activePlans) Describe(ch chan<- *prometheus.Desc) { ch <- a.desc }

// Collect implements prometheus.Collector.
func (a *activePlans) Collect(ch chan<- prometheus.Metric) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	for key, plan := range a.plans {
		age := max(now.Sub(plan.startedAt), 0).Seconds()
		ch <- prometheus.MustNewConstMetric(a.desc, prometheus.GaugeValue, age, key.kind, key.namespace, key.name, plan.reason)
	}
}
