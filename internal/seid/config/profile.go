package config

import (
	"strconv"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// setting is one line of a profile.
type setting struct {
	key   string
	value string
	// onlyIfPresent leaves files alone that do not have the key: the value is
	// what seid does without it, and not every version knows it.
	onlyIfPresent bool
}

// perMode holds one key's value for each mode.
type perMode struct {
	key                            string
	validator, full, seed, archive string
}

// modeTable is what makes a node of one mode. Every key is listed for every mode,
// so that a profile is right whatever mode the files were initialised for.
var modeTable = []perMode{
	{"tx_index.indexer", "null", "kv", "null", "kv"},
	// A validator's RPC and P2P listen on the pod's address: probes and peers
	// come from outside of it. A seed answers peers alone.
	{"network.rpc.listen_address", "tcp://0.0.0.0:26657", "tcp://0.0.0.0:26657", "tcp://127.0.0.1:26657", "tcp://0.0.0.0:26657"},
	{"network.p2p.listen_address", "tcp://0.0.0.0:26656", "tcp://0.0.0.0:26656", "tcp://0.0.0.0:26656", "tcp://0.0.0.0:26656"},
	{"network.p2p.max_connections", "100", "100", "1000", "100"},
	{"network.p2p.max_incoming_connection_attempts", "100", "100", "32", "100"},
	{"network.p2p.max_packet_msg_payload_size", "1000000", "1000000", "102400", "1000000"},
	{"network.p2p.allow_duplicate_ip", "false", "false", "true", "false"},
	{"api.rest.enable", "false", "true", "false", "true"},
	{"api.grpc.enable", "true", "true", "false", "true"},
	{"api.grpc_web.enable", "false", "true", "false", "true"},
	{"evm.http_enabled", "false", "true", "false", "true"},
	{"evm.ws_enabled", "false", "true", "false", "true"},
	{"evm.max_trace_lookback_blocks", "10000", "10000", "10000", "-1"},
	{"storage.state_store.enable", "false", "true", "false", "true"},
	{"storage.state_store.keep_recent", "100000", "100000", "100000", "0"},
	{"storage.pruning", "nothing", "custom", "everything", "nothing"},
	{"storage.pruning_keep_recent", "0", "86400", "0", "86400"},
	{"storage.pruning_keep_every", "0", "500", "0", "500"},
	{"storage.pruning_interval", "0", "10", "0", "10"},
	{"storage.state_commit.async_commit_buffer", "0", "100", "0", "100"},
	{"storage.receipt_store.keep_recent", "100000", "100000", "100000", "0"},
	{"storage.receipt_store.prune_interval_seconds", "600", "600", "600", "0"},
	{"chain.min_retain_blocks", "0", "100000", "0", "0"},
}

func (p perMode) of(mode seid.Mode) string {
	switch mode {
	case seid.ModeValidator:
		return p.validator
	case seid.ModeSeed:
		return p.seed
	case seid.ModeArchive:
		return p.archive
	}
	return p.full
}

// profile lists the settings of a mode on a machine with that many CPUs. With 0
// CPUs the worker pools stay as seid sized them.
func profile(mode seid.Mode, cpus int) []setting {
	settings := []setting{
		// The operator scrapes every node and asks /lag_status whether it is ready.
		{key: "metrics.enabled", value: "true"},
		{key: "network.rpc.lag_threshold", value: "300"},
		{key: "storage.state_store.evm_ss_split", value: strconv.FormatBool(mode == seid.ModeFull), onlyIfPresent: mode != seid.ModeFull},
	}
	for _, line := range modeTable {
		settings = append(settings, setting{key: line.key, value: line.of(mode)})
	}
	if mode == seid.ModeArchive {
		settings = append(settings,
			setting{key: "storage.state_commit.memiavl.snapshot_keep_recent", value: "1"},
			setting{key: "storage.state_commit.memiavl.snapshot_min_time_interval", value: "20000"},
		)
	}
	return append(settings, workers(mode, cpus)...)
}

// workers sizes the pools. Nodes that serve clients get the same large pool for
// executing transactions everywhere.
func workers(mode seid.Mode, cpus int) []setting {
	const serving = 500
	var settings []setting
	if mode.ServesRPC() {
		settings = append(settings, setting{key: "chain.concurrency_workers", value: strconv.Itoa(serving)})
	}
	if cpus <= 0 {
		return settings
	}
	if !mode.ServesRPC() {
		settings = append(settings, setting{key: "chain.concurrency_workers", value: strconv.Itoa(min(max(2*cpus, 10), 128))})
	}
	return append(settings, setting{key: "evm.worker_pool_size", value: strconv.Itoa(min(2*cpus, 64))})
}
