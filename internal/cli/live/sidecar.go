package live

import (
	"bytes"
	"context"
	"fmt"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// The metrics of the sidecar that are the node's facts. docs/reference/sidecar-metrics.md lists them; the package that
// makes them would bring the sidecar itself into the plugin.
const (
	metricHeight    = "sei_node_height"
	metricLag       = "sei_node_lag_blocks"
	metricPeers     = "sei_node_peers"
	metricSyncState = "sei_node_sync_state"
	metricDiskSize  = "sei_node_disk_size_bytes"
	metricDiskFree  = "sei_node_disk_free_bytes"
	metricUpgradeAt = "sei_node_upgrade_estimated_timestamp_seconds"
)

// askSidecar fills facts from the sidecar's metrics.
func askSidecar(ctx context.Context, proxy Proxy, pod types.NamespacedName, port int, facts *Facts) error {
	families, err := metricsOf(ctx, proxy, pod, port)
	if err != nil {
		return err
	}
	facts.Height = gauge(families[metricHeight])
	facts.Lag = gauge(families[metricLag])
	facts.Peers = gauge(families[metricPeers])
	facts.SyncState = stateOf(families[metricSyncState])
	if size, free := gauge(families[metricDiskSize]), gauge(families[metricDiskFree]); size != nil && free != nil {
		facts.Disk = &Disk{Size: *size, Free: *free}
	}
	facts.Upgrade = upgradeOf(families[metricUpgradeAt])
	return nil
}

// metricsOf asks the sidecar for its metrics. They are served in the clear, for scrapers, also where
// everything else takes TLS and a token.
func metricsOf(ctx context.Context, proxy Proxy, pod types.NamespacedName, port int) (map[string]*dto.MetricFamily, error) {
	body, err := proxy.Get(ctx, pod, "http", port, api.PathMetrics, nil)
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of the sidecar: %w", err)
	}
	return families, nil
}

func gauge(family *dto.MetricFamily) *int64 {
	if len(family.GetMetric()) != 1 {
		return nil
	}
	value := int64(family.GetMetric()[0].GetGauge().GetValue())
	return &value
}

// stateOf is the label of the series that is 1.
func stateOf(family *dto.MetricFamily) string {
	for _, m := range family.GetMetric() {
		if m.GetGauge().GetValue() != 1 {
			continue
		}
		return label(m, "state")
	}
	return ""
}

// label is the value of a label; empty when the series does not have it.
func label(series *dto.Metric, name string) string {
	for _, l := range series.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}
