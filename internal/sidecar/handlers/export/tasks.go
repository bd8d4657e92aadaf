// Package export writes what blocks did to a bucket, page by page, or compares it
// with what another node says about the same blocks. It only reads from nodes.
package export

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/wire"
)

const (
	stateFile  = ".sei-sidecar-last-export.json"
	heightFile = ".sei-sidecar-snapshot-height"
)

// The contract's sizes.
const (
	defaultExportPage  = 1000
	defaultComparePage = 100
	defaultPoll        = 5 * time.Second
)

// Tasks are the export tasks of one node.
type Tasks struct {
	Node *node.Node
	// LocalRPC is the address of the node's own RPC.
	LocalRPC func() string
	// PodName labels the metrics.
	PodName string
	Metrics *Metrics
	// ExportPage, ComparePage and Poll are for tests; 0 means the contract's.
	ExportPage, ComparePage int64
	Poll                    time.Duration
}

// Handlers are the task types of this package.
func (t *Tasks) Handlers() []engine.Handler {
	// A comparison may run for weeks, and it changes nothing on the node, so it
	// holds nobody up.
	return []engine.Handler{node.Handler(api.ResultExport, nil, t.run)}
}

func (t *Tasks) run(ctx context.Context, task engine.Task, p wire.ResultExport) (any, error) {
	bucket, err := objectstore.Open(ctx, objectstore.URL(p.Bucket, p.Region))
	if err != nil {
		return nil, node.BucketError(err)
	}
	defer func() { _ = bucket.Close() }()
	job := &job{
		Tasks: t, params: p, bucket: bucket, progress: task.Progress,
		shadow: rpc.New(cmp.Or(p.RPCEndpoint, t.LocalRPC())),
	}
	if job.last, err = t.lastHeight(p); err != nil {
		return nil, err
	}
	if p.CanonicalRPC != "" {
		err = job.compare(ctx)
	} else {
		err = job.export(ctx)
	}
	return wire.Exported{Pages: job.pages, LastHeight: job.last, DivergedAt: job.divergedAt}, node.BucketError(err)
}

// job is one run of an export.
type job struct {
	*Tasks
	params   wire.ResultExport
	bucket   *objectstore.Bucket
	shadow   *rpc.Client
	progress func(api.Progress)

	// last is the last height that is safely in the bucket.
	last       int64
	pages      int
	divergedAt int64
}

// state is where an export goes on.
type state struct {
	LastExportedHeight int64  `json:"lastExportedHeight"`
	Bucket             string `json:"bucket,omitempty"`
	Prefix             string `json:"prefix,omitempty"`
}

// lastHeight is where this export left off: its own note, or the height of the
// snapshot the node began with. The note of an export to another place does not
// count.
func (t *Tasks) lastHeight(p wire.ResultExport) (int64, error) {
	data, err := os.ReadFile(t.Node.Home.Path(stateFile))
	if err == nil {
		var s state
		if err := json.Unmarshal(data, &s); err != nil {
			return 0, fmt.Errorf("reading where the export left off: %w", err)
		}
		if s.Bucket == "" || (s.Bucket == p.Bucket && s.Prefix == p.Prefix) {
			return s.LastExportedHeight, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("reading where the export left off: %w", err)
	}
	data, err = os.ReadFile(t.Node.Home.Path(heightFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the snapshot height: %w", err)
	}
	height, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the snapshot height: %w", err)
	}
	return height, nil
}

// advance notes that everything up to a height is in the bucket.
func (j *job) advance(height int64) error {
	data, err := json.Marshal(state{LastExportedHeight: height, Bucket: j.params.Bucket, Prefix: j.params.Prefix})
	if err != nil {
		return fmt.Errorf("noting the export: %w", err)
	}
	if err := durable.WriteFile(j.Node.Home.Path(stateFile), data, 0o600); err != nil {
		return err
	}
	j.last = height
	j.pages++
	return nil
}
