package config

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var nodeID = regexp.MustCompile(`^[0-9a-f]{40}$`)

// CheckPeer checks a peer address of the form nodeid@host:port.
func CheckPeer(peer string) error {
	id, hostPort, ok := strings.Cut(peer, "@")
	if !ok || !nodeID.MatchString(id) {
		return fmt.Errorf("peer %q: want nodeid@host:port with a node id of 40 lower-case hex digits", peer)
	}
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil || host == "" {
		return fmt.Errorf("peer %q: %q is not host:port", peer, hostPort)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("peer %q: %q is not a port", peer, port)
	}
	return nil
}

// SetPeers replaces the persistent peers.
func SetPeers(files Files, peers []string) (Files, error) {
	for _, p := range peers {
		if err := CheckPeer(p); err != nil {
			return Files{}, err
		}
	}
	unique := []string{}
	for _, p := range peers {
		if !slices.Contains(unique, p) {
			unique = append(unique, p)
		}
	}
	out := files.clone()
	err := write(&out, registry["network.p2p.persistent_peers"], strings.Join(unique, ","))
	return out, err
}

// Peers lists the persistent peers of a configuration.
func Peers(files Files) []string {
	items, _ := parseList(newView(files).text("network.p2p.persistent_peers"))
	return items
}

// ExternalAddress is the host:port that a node announces; empty when it announces none.
func ExternalAddress(files Files) string { return newView(files).text(keyExternalAddress) }

// StateSync is what a node needs to sync its state from the network.
type StateSync struct {
	// RPCServers are the witnesses, host:port; at least two.
	RPCServers  []string
	TrustHeight int64
	// TrustHash is the hash of the block at TrustHeight, 64 hex digits.
	TrustHash        string
	UseLocalSnapshot bool
	// TrustPeriod and BackfillBlocks keep what is configured when they are zero.
	TrustPeriod    time.Duration
	BackfillBlocks int64
}

// SetStateSync switches state sync on. The result is checked: a configuration
// that seid would refuse is an error.
func SetStateSync(files Files, s StateSync) (Files, error) {
	settings := []setting{
		{key: "state_sync.enable", value: "true"},
		{key: "state_sync.trust_height", value: strconv.FormatInt(s.TrustHeight, 10)},
		{key: "state_sync.trust_hash", value: s.TrustHash},
		{key: "state_sync.rpc_servers", value: strings.Join(s.RPCServers, ",")},
		{key: "state_sync.use_local_snapshot", value: strconv.FormatBool(s.UseLocalSnapshot)},
	}
	if s.TrustPeriod != 0 {
		settings = append(settings, setting{key: "state_sync.trust_period", value: s.TrustPeriod.String()})
	}
	if s.BackfillBlocks != 0 {
		settings = append(settings, setting{key: "state_sync.backfill_blocks", value: strconv.FormatInt(s.BackfillBlocks, 10)})
	}
	out := files.clone()
	for _, line := range settings {
		if err := applySetting(&out, line); err != nil {
			return Files{}, err
		}
	}
	v := newView(out)
	ruleStateSync(v)
	ruleStateSyncTimes(v)
	if v.found.HasErrors() {
		return Files{}, &ValidationError{Diagnostics: v.found}
	}
	return out, nil
}
