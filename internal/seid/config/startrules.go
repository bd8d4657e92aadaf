package config

import (
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The rules of this file are about values that seid reads only while it starts, and ends
// over.

var decCoin = regexp.MustCompile(`^[0-9]+(?:\.[0-9]{1,18})?\s*([a-zA-Z][a-zA-Z0-9/-]{2,127})$`)

// ruleGasPrices leaves an empty list alone: seid runs with it.
func ruleGasPrices(v *view) {
	const field = "chain.min_gas_prices"
	list := strings.TrimSpace(v.text(field))
	if list == "" {
		return
	}
	var denoms []string
	for price := range strings.SplitSeq(list, ",") {
		match := decCoin.FindStringSubmatch(strings.TrimSpace(price))
		switch {
		case match == nil:
			v.errorf(field, "is %q: %q is not an amount with a denomination, such as 0.01usei", list, price)
			return
		case slices.Contains(denoms, match[1]):
			v.errorf(field, "is %q: %s is named twice, want one price for each denomination", list, match[1])
			return
		}
		denoms = append(denoms, match[1])
	}
}

// peerLists are the keys that hold peer addresses.
var peerLists = []string{keyPersistentPeers, "network.p2p.bootstrap_peers", "network.p2p.blocksync_peers"}

// peerIDLists are the keys that hold node ids without addresses.
var peerIDLists = []string{"network.p2p.unconditional_peer_ids", "network.p2p.private_peer_ids"}

func rulePeers(v *view) {
	for _, field := range peerLists {
		for _, peer := range splitPeers(v.text(field)) {
			if err := checkPeerAddress(peer); err != nil {
				v.errorf(field, "peer %q: %v", peer, err)
			}
		}
	}
	for _, field := range peerIDLists {
		for _, id := range splitPeers(v.text(field)) {
			if !nodeID.MatchString(id) {
				v.errorf(field, "node id %q: want 40 lower-case hex digits", id)
			}
		}
	}
	if address := v.text(keyExternalAddress); address != "" && checkExternal(address) != nil {
		v.errorf(keyExternalAddress, "is %q: want host:port, as peers reach the node", address)
	}
}

func checkExternal(address string) error {
	return checkPeerAddress(strings.Repeat("0", 40) + "@" + withoutScheme(address))
}

func ruleListenAddresses(v *view) {
	for _, address := range splitPeers(v.text(keyRPCAddress)) {
		if err := checkListenURL(address); err != nil {
			v.errorf(keyRPCAddress, "is %q: %v, want tcp://host:port or unix://path", address, err)
		}
	}
	if address, ok := v.value(keyP2PAddress); ok {
		if err := checkP2PListen(v.text(keyP2PAddress)); err != nil {
			v.errorf(keyP2PAddress, "is %q: %v, want tcp://host:port", address, err)
		}
	}
	if v.flag("api.grpc.enable") {
		v.listens("api.grpc.address", "host:port", checkListen)
		if v.flag("api.grpc_web.enable") {
			v.listens("api.grpc_web.address", "host:port", checkListen)
		}
	}
	if v.flag("api.rest.enable") {
		v.listens("api.rest.address", "tcp://host:port", checkListenURL)
	}
}

func (v *view) listens(field, want string, check func(string) error) {
	if _, ok := v.value(field); !ok {
		return
	}
	if err := check(v.text(field)); err != nil {
		v.errorf(field, "is %q: %v, want %s", v.text(field), err, want)
	}
}

func ruleLogLevel(v *view) {
	const field = "logging.level"
	if _, ok := v.value(field); !ok {
		return
	}
	var level slog.Level
	if level.UnmarshalText([]byte(v.text(field))) != nil {
		v.errorf(field, "is %q: want one of debug, info, warn, error", v.text(field))
	}
}

func ruleIndexer(v *view) {
	const field = "tx_index.indexer"
	sinks := v.list(field)
	seen := make([]string, 0, len(sinks))
	for _, sink := range sinks {
		sink = strings.ToLower(sink)
		v.oneOf(field, sink, "null", "kv", "psql")
		if slices.Contains(seen, sink) {
			v.errorf(field, "names %s twice: want each indexer once", sink)
		}
		seen = append(seen, sink)
	}
	if slices.Contains(seen, "psql") && v.text("tx_index.psql_conn") == "" {
		v.errorf("tx_index.psql_conn", "is empty, and %s has psql: want the address of a PostgreSQL database", field)
	}
}

// taggedBackends need a seid that was built with the tag.
var taggedBackends = map[string]string{"cleveldb": "cleveldb", "boltdb": "boltdb", "rocksdb": "rocksdb", "badgerdb": "badgerdb"}

func ruleBackends(v *view) {
	const engine = "storage.db_backend"
	if backend := v.text(engine); backend != "" {
		tag, tagged := taggedBackends[backend]
		switch {
		case tagged && v.facts.lacksTag(tag):
			v.errorf(engine, "is %q, and this seid was built without it: want goleveldb", backend)
		case !tagged:
			v.oneOf(engine, backend, "goleveldb", "goleveldb-bloom", "memdb", "cleveldb", "boltdb", "rocksdb", "badgerdb")
		}
	}
	const receipts = "storage.receipt_store.backend"
	if _, ok := v.value(receipts); ok {
		v.oneOf(receipts, strings.ToLower(strings.TrimSpace(v.text(receipts))), "pebbledb", "pebble", "parquet")
	}
	const states = "storage.state_store.backend"
	if v.text(states) == "rocksdb" && v.flag("storage.state_store.enable") && v.facts.lacksTag("rocksdbBackend") {
		v.errorf(states, "is %q, and this seid was built without it: want pebbledb", "rocksdb")
	}
}

// firstWriteModes are what versions knew that knew no others yet.
var firstWriteModes = []string{"cosmos_only", "dual_write", "split_write"}

// ruleWriteModes compares with what `seid init` of the node's version writes: each version
// knows the names of one generation only.
func ruleWriteModes(v *view) {
	if v.facts.Defaults == nil {
		return
	}
	own := newView(*v.facts.Defaults).text("storage.state_commit.write_mode")
	mode := v.text("storage.state_commit.write_mode")
	if own == "" || mode == "" {
		return
	}
	if first := slices.Contains(firstWriteModes, own); first && !slices.Contains(firstWriteModes, mode) {
		v.errorf("storage.state_commit.write_mode", "is %q, which this version of seid does not know: want one of %s", mode, strings.Join(firstWriteModes, ", "))
	}
}

// ruleStateSyncTimes warns of times below those of seid's own check of config.toml, which no
// command of seid makes for a file that is there: it starts with them. It raises a short
// discovery time to the bound by itself, and only asks for chunks more often than is good with
// a short chunk timeout. A timeout that is not positive is another matter: seid runs, and
// panics when it fetches the first chunk, which a trial start does not reach.
func ruleStateSyncTimes(v *view) {
	if !v.flag("state_sync.enable") {
		return
	}
	const least = 5 * time.Second
	if d, ok := v.number("state_sync.discovery_time"); ok && d != 0 && d < float64(least) {
		v.warnf("state_sync.discovery_time", "is %s: seid waits for %s all the same", time.Duration(d), least)
	}
	d, ok := v.number("state_sync.chunk_request_timeout")
	switch {
	case ok && d <= 0:
		v.errorf("state_sync.chunk_request_timeout", "is %s: want at least %s while state sync is on", time.Duration(d), least)
	case ok && d < float64(least):
		v.warnf("state_sync.chunk_request_timeout", "is %s: below %s chunks that are on their way are asked for again", time.Duration(d), least)
	}
}
