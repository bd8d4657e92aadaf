package metrics

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// phaseMetrics are what is reported the phases of one kind.
type phaseMetrics struct {
	gauge, transitions, durations string
	phases                        []string
}

// phaseChange is an object's phase before and after a reconcile, and since when it has
// been in each.
type phaseChange struct {
	from, to     string
	since, until *metav1.Time
}

// phaseOf sets the gauge, and counts and times the phase that was left, if one was.
func (m *Metrics) phaseOf(p phaseMetrics, key objectKey, change phaseChange) {
	for _, phase := range p.phases {
		value := 0.0
		if phase == change.to {
			value = 1
		}
		m.gauges[p.gauge].WithLabelValues(key.namespace, key.name, phase).Set(value)
	}
	if change.from == change.to || change.to == "" {
		return
	}
	from := cmp.Or(change.from, none)
	m.counters[p.transitions].WithLabelValues(key.namespace, from, change.to).Inc()
	if change.from != "" && change.since != nil && change.until != nil {
		stayed := change.until.Sub(change.since.Time)
		m.histograms[p.durations].WithLabelValues(key.namespace, from).Observe(max(stayed, 0).Seconds())
	}
}

// flag is a gauge's value for yes and no.
func flag(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
