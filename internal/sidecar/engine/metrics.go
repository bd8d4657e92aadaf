package engine

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// durationBuckets reach from a file write to a day: snapshot and state-sync
// tasks run for hours.
var durationBuckets = []float64{.05, .25, 1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400, 28800, 86400}

type metrics struct {
	duration     *prometheus.HistogramVec
	submissions  *prometheus.CounterVec
	failures     *prometheus.CounterVec
	panics       *prometheus.CounterVec
	saveFailures prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"type"})
	}
	m := &metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "seictl_task_execution_duration_seconds",
			Help:    "Duration of tasks, from their turn in the queue to their end.",
			Buckets: durationBuckets,
		}, []string{"type", "status"}),
		submissions: counter("seictl_task_submissions_total", "Tasks accepted to run."),
		failures:    counter("seictl_task_failures_total", "Tasks that ended in an error."),
		panics:      counter("seictl_task_panics_total", "Tasks whose handler panicked."),
		saveFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "seictl_task_save_failures_total",
			Help: "Failed attempts to store the outcome of a task; they are retried until one succeeds.",
		}),
	}
	for _, c := range []prometheus.Collector{m.duration, m.submissions, m.failures, m.panics, m.saveFailures} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering task metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) finished(t api.TaskType, status api.TaskStatus, took time.Duration) {
	m.duration.WithLabelValues(string(t), string(status)).Observe(took.Seconds())
	if status == api.TaskFailed {
		m.failures.WithLabelValues(string(t)).Inc()
	}
}
