package look

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/seid/snapshots"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// The names of the node's metrics. docs/reference/sidecar-metrics.md explains each.
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
	// Those that alerts compare snapshots by.
	MetricSnapshotTime     = "sei_node_snapshot_timestamp_seconds"
	MetricSnapshotInterval = "sei_node_snapshot_interval_blocks"
	// Those by which nodes of a chain are compared.
	MetricDiverged         = "sei_node_diverged"
	MetricCheckpointHeight = "sei_node_checkpoint_height"
	MetricCheckpointHash   = "sei_node_checkpoint_app_hash"
	// Those of a validator.
	MetricJailed     = "sei_node_validator_jailed"
	MetricTombstoned = "sei_node_validator_tombstoned"
	MetricMissed     = "sei_node_validator_missed_blocks"
	MetricAllowed    = "sei_node_validator_missed_blocks_allowed"

	MetricUpgradeHeight = "sei_node_upgrade_height"
	MetricUpgradeTime   = "sei_node_upgrade_estimated_timestamp_seconds"
	MetricStarts        = "sei_node_seid_starts_total"
	// Those of a node that publishes its snapshots.
	MetricPublishedHeight = "sei_node_published_height"
	MetricPublishedTime   = "sei_node_published_timestamp_seconds"
)

// MetricNames lists all of them.
func MetricNames() []string {
	return []string{
		MetricHeight, MetricLag, MetricPeers, MetricBlockAge, MetricSyncState, MetricSyncStalled, MetricDiskSize, MetricDiskFree,
		MetricHome, MetricSnapshotHeight, MetricUpgradeHeight, MetricUpgradeTime, MetricStarts, MetricPublishedHeight, MetricPublishedTime,
		MetricSnapshotTime, MetricSnapshotInterval, MetricDiverged, MetricCheckpointHeight, MetricCheckpointHash,
		MetricJailed, MetricTombstoned, MetricMissed, MetricAllowed,
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
	descSyncState = desc(MetricSyncState, "The node's sync state: 1 for the current state, 0 for the others.", "state")
	descStalled   = desc(MetricSyncStalled, "Whether the node makes no progress in its sync state (1) or does (0).")
	descDiskSize  = desc(MetricDiskSize, "Size of the home's file system.")
	descDiskFree  = desc(MetricDiskFree, "Free space on the home's file system.")
	descHome      = desc(MetricHome, "Space that the home uses on its file system, measured every few minutes.")
	descSnapshot  = desc(MetricSnapshotHeight, "Height of the newest finished state-sync snapshot.")
	descUpgrade   = desc(MetricUpgradeHeight, "Height of the upgrade that is planned, or that the node has stopped for.", "name")
	descUpgradeAt = desc(MetricUpgradeTime, "When the chain reaches the height of the planned upgrade, estimated from its latest blocks.", "name")
	descPublished = desc(MetricPublishedHeight, "Height of the newest snapshot of the node that is in the bucket.")
	descPublishAt = desc(MetricPublishedTime, "When the newest snapshot of the node was seen to be in the bucket.")
	descSnapTime  = desc(MetricSnapshotTime, "When the newest finished state-sync snapshot was made.")
	descSnapEvery = desc(MetricSnapshotInterval, "After how many blocks seid makes a state-sync snapshot; 0 when it makes none.")
	descDiverged  = desc(MetricDiverged, "Whether seid refuses a block because its own state differs (1) or not (0).")
	descCheckAt   = desc(MetricCheckpointHeight, "The last height of the node that is a multiple of 100.")
	descCheckHash = desc(MetricCheckpointHash, "The first 48 bits of the app hash in the header at that height, as a number.")
	descJailed    = desc(MetricJailed, "Whether the validator is jailed (1) or not (0).")
	descTombstone = desc(MetricTombstoned, "Whether the validator is tombstoned for double signing (1) or not (0).")
	descMissed    = desc(MetricMissed, "Blocks in the slashing window that the validator has missed.")
	descAllowed   = desc(MetricAllowed, "Blocks in the slashing window that the validator may miss before it is jailed.")
	descStarts    = desc(MetricStarts, "Starts of seid since the volume was created.")
)

// Describe implements prometheus.Collector.
func (l *Look) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descHeight, descLag, descPeers, descBlockAge, descSyncState, descStalled, descDiskSize, descDiskFree, descHome, descSnapshot,
		descUpgrade, descUpgradeAt, descStarts, descPublished, descPublishAt, descSnapTime, descSnapEvery,
		descDiverged, descCheckAt, descCheckHash, descJailed, descTombstone, descMissed, descAllowed,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector. It looks, as everybody does who asks. What is not
// known has no series.
func (l *Look) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), l.bound+l.wait)
	defer cancel()
	doc := l.Node(ctx)
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	l.collectCompared(ctx, doc, gauge)
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
	l.collectSnapshots(doc, gauge)
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

// newGauge gives a gauge with its value to whoever collects.
type newGauge func(d *prometheus.Desc, value float64, labels ...string)

func (l *Look) collectSnapshots(doc api.Node, gauge newGauge) {
	set := l.settings()
	if set.Present {
		gauge(descSnapEvery, float64(set.SnapshotInterval))
	}
	if len(doc.Snapshots) == 0 {
		return
	}
	newest := doc.Snapshots[0]
	gauge(descSnapshot, float64(newest.Height))
	if made, err := snapshots.MadeAt(set.SnapshotDir, snapshots.Snapshot(newest)); err == nil {
		gauge(descSnapTime, float64(made.Unix()))
	}
}

// collectCompared gives what only metrics tell: how the node compares with others of its chain.
func (l *Look) collectCompared(ctx context.Context, doc api.Node, gauge newGauge) {
	gauge(descDiverged, number(doc.Seid.Divergence != nil))
	if c := l.checkpoint(ctx, doc); c != nil {
		gauge(descCheckAt, float64(c.height))
		gauge(descCheckHash, c.appHash)
	}
	if s := l.validatorState(ctx, doc); s != nil {
		gauge(descJailed, number(s.jailed))
		gauge(descTombstone, number(s.Tombstoned))
		gauge(descMissed, float64(s.Missed))
		gauge(descAllowed, float64(s.allowed))
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
