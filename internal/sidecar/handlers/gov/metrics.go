package gov

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// Metrics count transactions by their outcome.
type Metrics struct{ broadcasts *prometheus.CounterVec }

// NewMetrics makes the metrics and registers them, if there is a registry.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{broadcasts: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "seictl_tx_broadcast_total", Help: "Transactions by task type and outcome.",
	}, []string{"type", "outcome"})}
	if registry != nil {
		registry.MustRegister(m.broadcasts)
	}
	return m
}

func (m *Metrics) sent(task api.TaskType, result *wire.GovTxResult, err error) {
	if m == nil {
		return
	}
	outcome := "not_sent"
	if _, rejected := errors.AsType[*rejection](err); rejected {
		outcome = "rejected"
	}
	if result != nil {
		outcome = result.InclusionStatus
	}
	m.broadcasts.WithLabelValues(string(task), outcome).Inc()
}
