package look

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// The names of the node's metrics. docs/sidecar.md explains each.
const (
	MetricHeight         = "sei_node_height"
	MetricLag            = "sei_node_lag_blocks"
	MetricPeers          = "sei_node_peers"
	MetricBlockAge       = "sei_node_block_age_seconds"
	MetricSyncState      = "sei_node_sync_state"
	MetricSyncStalled    = "sei_node_sync_stalled"
	MetricDiskSize       = "sei_node_disk_size_bytes"
	MetricDiskFree       = "sei_node_disk_free_bytes"
	MetricHome           = "sei_node_home_bytes"
	MetricSnapshotHeight = "sei_node_snapshot_height"
	MetricUpgradeHeight  = "sei_node_upgrade_height"
	MetricUpgradeTime    = "sei_node_upgrade_estimated_timestamp_seconds"
	MetricStarts         = "sei_node_seid_starts_total"
	// Those of a node that publishes its snapshots.
	MetricPublishedHeight = "sei_node_published_height"
	MetricPublishedTime   = "sei_node_published_timestamp_seconds"
)

// MetricNames lists all of them.
func MetricNames() []string {
	return []string{
		MetricHeight, MetricLag, MetricPeers, MetricBlockAge, MetricSyncState, MetricSyncStalled, MetricDiskSize, MetricDiskFree,
		MetricHome, MetricSnapshotHeight, MetricUpgradeHeight, MetricUpgradeTime, MetricStarts, MetricPublishedHeight, MetricPublishedTime,
	}
}

// States lists every state of a node in its chain.
func States() []api.SyncState {
	return []api.SyncState{
		api.SyncInSync, api.SyncNotRunning, api.SyncStarting, api.SyncReplaying, api.SyncStateSyncing, api.SyncCatchingUp, api.SyncBehind,
		api.SyncNoPeers, api.SyncNoBlocks, api.SyncHalted, api.SyncUpgradeNeeded, api.SyncNotAnswering,
	}
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	descHeight    = desc(MetricHeight, "Height of the node's latest block.")
	descLag       = desc(MetricLag, "Distance to the highest peer in blocks.")
	descPeers     = desc(MetricPeers, "Connected peers.")
	descBlockAge  = desc(MetricBlockAge, "Age of the node's latest block.")
	descSyncState = desc(MetricSyncState, "How the node stands to its chain: 1 for the current state, 0 for the others.", "state")
	descStalled   = desc(MetricSyncStalled, "Whether the node makes no progress in its state (1) or does (0).")
	descDiskSize  = desc(MetricDiskSize, "Size of the home's file system.")
	descDiskFree  = desc(MetricDiskFree, "Free space on the home's file system.")
	descHome      = desc(MetricHome, "What the home takes on its file system, measured every few minutes.")
	descSnapshot  = desc(MetricSnapshotHeight, "Height of the newest finished state-sync snapshot.")
	descUpgrade   = desc(MetricUpgradeHeight, "Height of the upgrade that is planned, or that the node has stopped for.", "name")
	descUpgradeAt = desc(MetricUpgradeTime, "About when the chain gets to the height of the upgrade that is planned, by the pace of its last blocks.", "name")
	descPublished = desc(MetricPublishedHeight, "Height of the newest snapshot of the node that is in the bucket.")
	descPublishAt = desc(MetricPublishedTime, "When the newest snapshot of the node was seen to be in the bucket.")
	descStarts    = desc(MetricStarts, "Starts of seid since the volume was made.")
)

// Describe implements prometheus.Collector.
func (l *Look) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descHeight, descLag, descPeers, descBlockAge, descSyncState, descStalled, descDiskSize, descDiskFree, descHome, descSnapshot,
		descUpgrade, descUpgradeAt, descStarts, descPublished, descPublishAt,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector. It looks, as everybody does who asks. What is not
// known has no series.
func (l *Look) Collect(out chan<- prometheus.Metric) {
	doc := l.Node(context.Background())
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for _, s := range States() {
		gauge(descSyncState, number(doc.Sync.State == s), string(s))
	}
	gauge(descStalled, number(doc.Sync.Stalled))
	out <- prometheus.MustNewConstMetric(descStarts, prometheus.CounterValue, float64(doc.Seid.Starts))
	if doc.Sync.Height > 0 {
		gauge(descHeight, float64(doc.Sync.Height))
		gauge(descLag, float64(doc.Sync.Lag))
		gauge(descPeers, float64(doc.Sync.Peers))
	}
	if doc.Sync.BlockTime != nil {
		gauge(descBlockAge, l.Clock.Since(*doc.Sync.BlockTime).Seconds())
	}
	if doc.Disk != nil {
		gauge(descDiskSize, float64(doc.Disk.Size))
		gauge(descDiskFree, float64(doc.Disk.Free))
	}
	if doc.Disk != nil && doc.Disk.Used > 0 {
		gauge(descHome, float64(doc.Disk.Used))
	}
	if len(doc.Snapshots) > 0 {
		gauge(descSnapshot, float64(doc.Snapshots[0].Height))
	}
	if p := doc.Published; p != nil && p.Keep > 0 && p.Time != nil {
		gauge(descPublished, float64(p.Height))
		gauge(descPublishAt, float64(p.Time.Unix()))
	}
	if doc.Upgrade != nil {
		gauge(descUpgrade, float64(doc.Upgrade.Height), doc.Upgrade.Name)
		if at := doc.Upgrades.EstimatedTime; at != nil {
			gauge(descUpgradeAt, float64(at.Unix()), doc.Upgrade.Name)
		}
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
