package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// rules are checked in this order, and diagnostics come in it.
var rules = []func(*view){
	ruleModeAndVersion,
	ruleSigningSpelling,
	ruleChain,
	ruleNoNegativeSizes,
	ruleMempool,
	ruleLogging,
	ruleStateSync,
	rulePruning,
	ruleStoreModes,
	ruleStateStore,
	ruleSnapshots,
	ruleEVM,
	ruleSeed,
	ruleGasPrices,
	rulePeers,
	ruleListenAddresses,
	ruleLogLevel,
	ruleIndexer,
	ruleBackends,
	ruleWriteModes,
	ruleStateSyncTimes,
}

func ruleModeAndVersion(v *view) {
	mode := modeOf(v.files)
	if mode == "" {
		v.errorf("mode", "is not set")
	} else if _, err := seid.ParseMode(mode); err != nil {
		v.errorf("mode", "%v", err)
	}
	engine, _ := v.files.lookup(placeEngineMode)
	if engine != any(string(seid.Mode(mode).ConsensusEngineMode())) && mode != "" {
		v.errorf("mode", "is %q but config.toml says %q", mode, engine)
	}
	if n, ok := v.integer("version"); ok && (n < MinVersion || n > CurrentVersion) {
		v.errorf("version", "is %d: want %d to %d", n, MinVersion, CurrentVersion)
	}
}

func ruleChain(v *view) {
	if n, ok := v.integer("chain.concurrency_workers"); ok && n < -1 {
		v.errorf("chain.concurrency_workers", "is %d: want -1 (no limit) or more", n)
	}
}

// ruleNoNegativeSizes covers every number of the consensus engine: none of them
// has a meaning below zero.
func ruleNoNegativeSizes(v *view) {
	for _, name := range Keys() {
		if !strings.HasPrefix(name, "network.") && !strings.HasPrefix(name, "consensus.") && !strings.HasPrefix(name, "mempool.") {
			continue
		}
		if n, ok := v.number(name); ok && n < 0 {
			v.errorf(name, "is negative")
		}
	}
}

func ruleMempool(v *view) {
	const field = "mempool.drop_utilisation_threshold"
	if n, ok := v.number(field); ok && n > 1 {
		v.errorf(field, "is %v: want a share between 0 and 1", n)
	}
}

func ruleLogging(v *view) {
	if _, ok := v.value("logging.format"); ok {
		v.oneOf("logging.format", v.text("logging.format"), "plain", "text", "json")
	}
}

var hexHash = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

func ruleStateSync(v *view) {
	if n, ok := v.integer("state_sync.backfill_blocks"); ok && n < 0 {
		v.errorf("state_sync.backfill_blocks", "is negative")
	}
	if !v.flag("state_sync.enable") {
		return
	}
	if n := len(v.list("state_sync.rpc_servers")); n < 2 && !v.flag("state_sync.use_p2p") {
		v.errorf("state_sync.rpc_servers", "has %d servers: state sync needs at least 2 to check one against the other", n)
	}
	for _, field := range []string{"state_sync.trust_period", "state_sync.trust_height", "state_sync.fetchers"} {
		if n, ok := v.number(field); ok && n <= 0 {
			v.errorf(field, "must be above 0 while state sync is on")
		}
	}
	if hash := v.text("state_sync.trust_hash"); !hexHash.MatchString(hash) {
		v.errorf("state_sync.trust_hash", "is %q: want the 64 hex digits of a block hash", hash)
	}
}

func rulePruning(v *view) {
	strategy := v.text("storage.pruning")
	if strategy == "" {
		return // seid's own default
	}
	v.oneOf("storage.pruning", strategy, "default", "nothing", "everything", "custom")
	if strategy == "custom" {
		rulePruningInterval(v)
	}
}

// rulePruningInterval repeats the checks that seid makes before it panics.
func rulePruningInterval(v *view) {
	const field = "storage.pruning_interval"
	every, interval := v.text("storage.pruning_keep_every"), v.text(field)
	switch {
	case every == "1" && interval != "0":
		v.errorf(field, "is %s but keep_every is 1, which prunes nothing: want 0", interval)
	case every != "1" && (interval == "0" || interval == ""):
		v.errorf(field, "must be above 0 for custom pruning")
	}
}

var (
	writeModes = []string{
		"memiavl_only", "migrate_evm", "evm_migrated", "migrate_all_but_bank", "all_migrated_but_bank", "migrate_bank",
		"flatkv_only", "test_only_dual_write",
		"cosmos_only", "dual_write", "split_write", // version 1
	}
	readModes = []string{"cosmos_only", "evm_first", "split_read"}
)

func ruleStoreModes(v *view) {
	for _, store := range []string{"storage.state_commit", "storage.state_store"} {
		if mode := v.text(store + ".write_mode"); mode != "" {
			v.oneOf(store+".write_mode", mode, writeModes...)
			if mode == "test_only_dual_write" {
				v.warnf(store+".write_mode", "is for tests only")
			}
		}
		if mode := v.text(store + ".read_mode"); mode != "" {
			v.oneOf(store+".read_mode", mode, readModes...)
		}
	}
}

func ruleStateStore(v *view) {
	on := v.flag("storage.state_store.enable")
	if backend := v.text("storage.state_store.backend"); backend != "" && !slices.Contains([]string{"pebbledb", "rocksdb"}, backend) {
		v.warnf("storage.state_store.backend", "is %q: pebbledb and rocksdb are what nodes run", backend)
	}
	if v.flag("storage.state_store.evm_ss_split") && !on {
		v.errorf("storage.state_store.evm_ss_split", "needs storage.state_store.enable")
	}
	// A store in a place of the user's own was not looked at.
	if on && v.facts.StateWithoutStore && v.text("storage.state_store.db_directory") == "" {
		v.errorf("storage.state_store.enable",
			"is on, but this node's data was written without a state store and seid panics on that: reset the data and sync again, or leave it off")
	}
}

func ruleSnapshots(v *view) {
	const field = "storage.snapshot_interval"
	interval, _ := v.integer(field)
	if interval <= 0 {
		return
	}
	if v.text("storage.pruning") == "everything" {
		v.errorf(field, "is %d but storage.pruning is everything: snapshots need the pruned heights", interval)
	}
	if commit, ok := v.value("storage.state_commit.enable"); !ok || commit == true {
		if !v.flag("storage.state_store.enable") {
			v.errorf(field, "is %d but storage.state_store.enable is false: seid panics on that", interval)
		}
	}
}

func ruleEVM(v *view) {
	const maxPort = 65535
	serving := false
	for _, side := range []string{"http", "ws"} {
		field := "evm." + side + "_port"
		if !v.flag("evm." + side + "_enabled") {
			continue
		}
		serving = true
		if n, ok := v.integer(field); ok && (n <= 0 || n > maxPort) {
			v.errorf(field, "is %d: want a port between 1 and %d", n, maxPort)
		}
	}
	if serving && modeOf(v.files) == string(seid.ModeValidator) {
		v.warnf("evm.http_enabled", "a validator that serves EVM clients shares its resources with them")
	}
}

func ruleSeed(v *view) {
	if pex, ok := v.value("network.p2p.pex"); ok && pex == false && modeOf(v.files) == string(seid.ModeSeed) {
		v.errorf("network.p2p.pex", "is false: a seed exists to exchange peers")
	}
}
