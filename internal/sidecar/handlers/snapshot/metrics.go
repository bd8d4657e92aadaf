package snapshot

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// Metrics are the upload metrics of the contract.
type Metrics struct {
	outcomes    *prometheus.CounterVec
	lastRun     *prometheus.GaugeVec
	lastUpload  *prometheus.GaugeVec
	lastHeight  *prometheus.GaugeVec
	failures    prometheus.Counter
	currentTime func() time.Time
}

// MetricPublishFailures counts the tries to publish a snapshot that have failed.
const MetricPublishFailures = "sei_node_publish_failures_total"

// NewMetrics makes the metrics and registers them, if there is a registry.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "seictl_snapshot_upload_" + name, Help: help}, []string{"chain"})
	}
	m := &Metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "seictl_snapshot_upload_outcome_total", Help: "Snapshot uploads by outcome.",
		}, []string{"chain", "outcome"}),
		lastRun:     gauge("last_run_success_timestamp_seconds", "When an upload last ended without an error."),
		lastUpload:  gauge("last_uploaded_timestamp_seconds", "When a snapshot was last uploaded."),
		lastHeight:  gauge("last_uploaded_height", "Height of the last uploaded snapshot."),
		failures:    prometheus.NewCounter(prometheus.CounterOpts{Name: MetricPublishFailures, Help: "Failed attempts to publish a snapshot."}),
		currentTime: time.Now,
	}
	if registry != nil {
		registry.MustRegister(m.outcomes, m.lastRun, m.lastUpload, m.lastHeight, m.failures)
	}
	return m
}

func (m *Metrics) publishFailed() {
	if m != nil {
		m.failures.Inc()
	}
}

func (m *Metrics) uploaded(chain, outcome string, height int64) {
	if m == nil {
		return
	}
	m.outcomes.WithLabelValues(chain, outcome).Inc()
	if outcome == wire.OutcomeError {
		return
	}
	now := float64(m.currentTime().Unix())
	m.lastRun.WithLabelValues(chain).Set(now)
	if outcome == wire.OutcomeUploaded {
		m.lastUpload.WithLabelValues(chain).Set(now)
	}
	if height > 0 {
		m.lastHeight.WithLabelValues(chain).Set(float64(height))
	}
}
