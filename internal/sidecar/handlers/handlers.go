// Package handlers puts the sidecar's tasks together: one handler for every task
// type that works on the node. The families live in the packages below; here
// they get what they share. Nothing in here knows HTTP or how tasks are stored.
package handlers

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/configfiles"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/export"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/genesis"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/gov"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/lifecycle"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/snapshot"
	"github.com/sei-operator/sei-operator/internal/sidecar/podnet"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
	"github.com/sei-operator/sei-operator/internal/sidecar/trial"
)

// Config is what the handlers have to know of the node.
type Config struct {
	// Home is the node's home directory.
	Home string
	// ChainID is the chain the node is on.
	ChainID string
	// SeidPath is the chain binary; empty means seid from PATH.
	SeidPath string
	// GenesisBucket and SnapshotBucket are bucket addresses such as
	// s3://name?region=eu-central-1; empty means none.
	GenesisBucket  string
	SnapshotBucket string
	// UploadTimeout bounds one snapshot upload, UploadInterval lies between two of
	// snapshot-upload; 0 means the default.
	UploadTimeout, UploadInterval time.Duration
	// RPCEndpoint is the node's own RPC; empty means what its configuration says.
	RPCEndpoint string
	// Keyring is what governance tasks sign with; the zero value disables them.
	Keyring Keyring
	// PrivateDir is for what is about to be signed; empty means the home's own directory for
	// temporary files.
	PrivateDir string
	// PodName labels the metrics of comparisons.
	PodName string
	// Registry gets the handlers' metrics; nil means none.
	Registry prometheus.Registerer
}

// Keyring says where the operator's keys are.
type Keyring = gov.Keyring

func nodeOf(cfg Config) *node.Node {
	return &node.Node{
		Home: home.Dir(cfg.Home), ChainID: cfg.ChainID, Seid: seidcmd.Runner{Path: cmp.Or(cfg.SeidPath, seid.BinaryName)},
		GenesisBucket: cfg.GenesisBucket, SnapshotBucket: cfg.SnapshotBucket, RPCEndpoint: cfg.RPCEndpoint,
		Private: cfg.PrivateDir,
	}
}

// View is what whoever looks at the node needs of its tasks.
type View struct {
	// RPC is a client of the node's own RPC, wherever the configuration of this moment says.
	RPC func() *rpc.Client
	// Draining reports whether a task is about to restart the node.
	Draining func() bool
	// ResultExport is the standing export; nil when there is none.
	ResultExport func() *api.StandingExport
	// StartExport has the standing export continue until ctx ends.
	StartExport func(ctx context.Context, records engine.Records) error
	// Publisher publishes the node's snapshots; whoever runs it gives it a look at the node.
	Publisher *snapshot.Publisher
}

// All are the handlers of every task type but those that move the gate, and what a look at
// the node needs of them.
func All(cfg Config) ([]engine.Handler, View) {
	n := nodeOf(cfg)
	files := &configfiles.Tasks{Node: n, Witness: func(address string) configfiles.Witness { return rpc.New(address, rpc.AsSeidDoes()) }}
	files.Trial = func(ctx context.Context, version string) (trial.Result, error) {
		return trial.Ask(ctx, cfg.Home, version, trial.AskTimeout)
	}
	// Wherever the node's configuration of this moment says.
	local := func() *rpc.Client { return localClient(files.LocalRPC(), 5*time.Second) }
	running := &lifecycle.Tasks{
		Node: n, Processes: process.Table{Home: cfg.Home}, RPC: local, OpensRPC: files.OpensRPC,
		ConfigHash: func() (string, error) {
			state, err := configstate.Read(cfg.Home)
			return state.ConfigHash, err
		},
		RestartDue: func() ([]string, error) { return configstate.RestartDue(cfg.Home, false) },
	}
	files.InSync = running.InSync
	ceremony := &genesis.Tasks{Node: n, SetPeers: files.SetPeers, SetMoniker: files.SetMoniker, Moniker: files.Moniker}
	snapshots := &snapshot.Tasks{
		Node: n, CheckStopped: running.CheckStopped, BlockTime: blockTime(local), UploadTimeout: cfg.UploadTimeout,
		UploadInterval: cfg.UploadInterval, Metrics: snapshot.NewMetrics(cfg.Registry),
	}
	votes := &gov.Tasks{Node: n, Keyring: cfg.Keyring, RPC: func() gov.RPC { return local() }, Metrics: gov.NewMetrics(cfg.Registry)}
	results := &export.Tasks{
		Node: n, RPC: func() *rpc.Client { return localClient(files.LocalRPC(), rpc.DefaultTimeout) },
		PodName: cfg.PodName, Metrics: export.NewMetrics(cfg.Registry), Refused: refusedBlock(cfg.Home),
	}
	publisher := &snapshot.Publisher{Tasks: snapshots}
	all := slices.Concat(files.Handlers(), running.Handlers(), ceremony.Handlers(), snapshots.Handlers(), votes.Handlers(), results.Handlers())
	if podnet.Here().IPv6Only {
		all = onIPv6(all)
	}
	sweep := sweepOnce(n.Home, snapshots.SweepUploads)
	publisher.Sweep = sweep
	all = afterSweep(sweep, withoutUpload(snapshots.Abandon, withoutChunks(n.Home, running.CheckStopped, all)))
	return all, View{
		RPC: local, Draining: running.Draining, ResultExport: results.Standing.Document, StartExport: results.Start, Publisher: publisher,
	}
}

// refusedBlock is the block that seid refuses because its state has come to something else. A record
// that cannot be read reports none; whoever looks at the node says why.
func refusedBlock(dir string) func() *api.Divergence {
	return func() *api.Divergence {
		record, err := supervision.Read(dir)
		if err != nil {
			return nil
		}
		return record.Refused()
	}
}

// sweepOnce removes the leftovers of a killed process, once.
func sweepOnce(dir home.Dir, uploads func() error) func() {
	return sync.OnceFunc(func() {
		for _, d := range []string{string(dir), dir.Config(), dir.Gentx(), dir.Data(), dir.Tmp(), dir.KeyringTest()} {
			// What cannot be removed does no harm: nothing reads it.
			_ = durable.SweepAll(d)
		}
		_ = uploads()
	})
}

// afterSweep lets the first task of a process find a home without the leftovers of
// a killed one. It waits for a task because only then this process surely is the
// one that owns the home.
func afterSweep(sweep func(), all []engine.Handler) []engine.Handler {
	for i, h := range all {
		all[i].Run = func(ctx context.Context, task engine.Task, params json.RawMessage) (any, error) {
			sweep()
			return h.Run(ctx, task, params)
		}
	}
	return all
}
