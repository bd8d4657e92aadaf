package look

import (
	"cmp"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// settings is the part of the configuration on disk that a look depends on.
type settings struct {
	// Present: there is a config.toml that can be read.
	Present bool
	Mode    seid.Mode
	// P2PPort and RPCPort are 0 when the configuration opens no such port.
	P2PPort, RPCPort int
	// Quiet: seid makes no block while there are no transactions, or few.
	Quiet bool
	// MetricsURL is where seid serves its metrics; empty: nowhere.
	MetricsURL string
	// StateSync: the node fetches its first state, with LocalSnapshot from the volume.
	StateSync, LocalSnapshot bool
	// ChunkDir is where seid keeps chunks that it has fetched.
	ChunkDir string
	// KeyFile is the consensus key; with RemoteSigner another process has it.
	KeyFile      string
	RemoteSigner bool
	NodeKeyFile  string
	SnapshotDir  string
	// SnapshotInterval is after how many blocks seid makes a snapshot; 0: it makes none.
	SnapshotInterval int64
}

// settings reads the configuration, when it has changed.
func (l *Look) settings() settings {
	return l.config.get(func() settings { return readSettings(l.home) }, l.home.ConfigToml(), l.home.AppToml())
}

func readSettings(dir home.Dir) settings {
	// What seid would do without files that can be read.
	set := settings{
		Mode: seid.ModeFull, P2PPort: int(seid.PortP2P), RPCPort: int(seid.PortRPC), ChunkDir: dir.Tmp(),
		KeyFile: dir.ConsensusKey(), NodeKeyFile: dir.NodeKey(), SnapshotDir: dir.Snapshots(),
	}
	files, err := config.Read(dir.Config())
	if err != nil || files.Config == nil {
		return set
	}
	set.Present = true
	top, p2p, rpc := table(files.Config), section(files.Config, "p2p"), section(files.Config, "rpc")
	set.Mode = seid.Mode(cmp.Or(top.text("mode"), string(seid.ModeFull)))
	if config.Signs(files) { // in whatever spelling
		set.Mode = seid.ModeValidator
	}
	set.P2PPort = portOf(p2p.textOr("laddr", "tcp://0.0.0.0:26656"))
	set.RPCPort = portOf(rpc.textOr("laddr", "tcp://127.0.0.1:26657"))
	set.NodeKeyFile = inHome(dir, cmp.Or(top.text("node-key-file"), set.NodeKeyFile))

	sync := section(files.Config, "statesync")
	set.StateSync, set.LocalSnapshot = sync.flag("enable"), sync.flag("use-local-snapshot")
	set.ChunkDir = cmp.Or(sync.text("temp-dir"), set.ChunkDir)

	set.KeyFile = config.SigningKey(files, dir)
	set.RemoteSigner = config.RemoteSigner(files) != ""

	set.Quiet = quiet(section(files.Config, "consensus"))

	if metrics := section(files.Config, "instrumentation"); metrics.flag("prometheus") {
		if port := portOf(metrics.textOr("prometheus-listen-addr", ":26660")); port != 0 {
			set.MetricsURL = "http://localhost:" + strconv.Itoa(port) + "/metrics"
		}
	}
	snapshots := section(files.App, "state-sync")
	set.SnapshotInterval = snapshots.count("snapshot-interval")
	if custom := snapshots.text("snapshot-directory"); filepath.IsAbs(custom) {
		set.SnapshotDir = custom // seid resolves others against its own working directory
	}
	return set
}

// signs: seid signs blocks with this configuration when its key is in the validator set.
func (s settings) signs(hasKey bool) bool {
	return s.Present && s.Mode == seid.ModeValidator && (hasKey || s.RemoteSigner)
}

// quiet is seid's own rule: it waits for transactions also when an interval is set, and then
// no longer than that.
func quiet(consensus table) bool {
	if always, ok := consensus["create-empty-blocks"].(bool); ok && !always {
		return true
	}
	interval, err := time.ParseDuration(consensus.text("create-empty-blocks-interval"))
	return err == nil && interval >= freshBlock
}

// inHome completes a path as seid does.
func inHome(dir home.Dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir.Path(path)
}

// portOf is the port of a listen address; 0 when there is none.
func portOf(address string) int {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		rest = address
	}
	_, port, err := net.SplitHostPort(rest)
	if err != nil {
		return 0
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return 0
	}
	return number
}

// table is one table of a configuration file. Values of another type count as missing.
type table map[string]any

func section(tree config.Tree, name string) table {
	t, _ := tree[name].(map[string]any)
	return t
}

func (t table) text(key string) string {
	value, _ := t[key].(string)
	return value
}

// textOr is text for keys where empty means something else than missing.
func (t table) textOr(key, fallback string) string {
	if value, ok := t[key].(string); ok {
		return value
	}
	return fallback
}

// count is a number; 0 where there is none.
func (t table) count(key string) int64 {
	value, _ := t[key].(int64)
	return max(value, 0)
}

func (t table) flag(key string) bool {
	value, _ := t[key].(bool)
	return value
}
