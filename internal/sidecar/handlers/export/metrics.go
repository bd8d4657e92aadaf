package export

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count comparisons.
type Metrics struct {
	blocks      *prometheus.CounterVec
	divergences *prometheus.CounterVec
}

// NewMetrics makes the metrics and registers them, if there is a registry.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		blocks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "seictl_shadow_blocks_compared_total", Help: "Blocks compared with the canonical node.",
		}, []string{"chain_id", "pod_name"}),
		divergences: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "seictl_shadow_divergences_total", Help: "Blocks that differ from the canonical node's, by layer.",
		}, []string{"chain_id", "pod_name", "divergence_layer"}),
	}
	if registry != nil {
		registry.MustRegister(m.blocks, m.divergences)
	}
	return m
}

func (m *Metrics) compared(chain, pod string, found []Difference) {
	if m == nil {
		return
	}
	m.blocks.WithLabelValues(chain, pod).Inc()
	if len(found) > 0 {
		m.divergences.WithLabelValues(chain, pod, strconv.Itoa(found[0].Layer)).Inc()
	}
}
