// Package export writes what blocks did to a bucket, page by page, or compares it
// with what another node says about the same blocks. It only reads from nodes.
package export

import (
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
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
)

// What other tasks and other sidecars leave in the home.
const (
	stateFile  = ".sei-sidecar-last-export.json"
	heightFile = ".sei-sidecar-snapshot-height"
)

// The contract's sizes.
const (
	defaultExportPage  = 1000
	defaultComparePage = 100
	defaultPoll        = 5 * time.Second
	// defaultPatience is how long a node may be silent before that is told.
	defaultPatience = time.Minute
)

// Tasks are the export tasks of one node.
type Tasks struct {
	Node *node.Node
	// RPC is a client of the node's own RPC.
	RPC func() *rpc.Client
	// PodName labels the metrics.
	PodName string
	Metrics *Metrics
	// Refused is the block that this node's seid itself refuses; nil when it refuses none.
	Refused func() *api.Divergence
	// ExportPage, ComparePage, Poll, Patience and Pause are for tests; 0 means the contract's.
	ExportPage, ComparePage int64
	Poll, Patience, Pause   time.Duration
	// Standing is the export that the sidecar sees to by itself.
	Standing Standing
}

// Handlers are the task types of this package.
func (t *Tasks) Handlers() []engine.Handler {
	// A comparison may run for weeks, and it changes nothing on the node, so it
	// holds nobody up.
	return []engine.Handler{
		node.Handler(api.ResultExport, nil, t.run),
		node.Handler(api.SetResultExport, []engine.Group{engine.GroupExport}, t.set),
	}
}

// shadow is the node whose results are exported: this one, unless another is named.
func (t *Tasks) shadow(endpoint string) *rpc.Client {
	if endpoint != "" {
		return rpc.New(endpoint)
	}
	return t.RPC()
}

func (t *Tasks) run(ctx context.Context, task engine.Task, p wire.ResultExport) (any, error) {
	bucket, err := objectstore.Open(ctx, objectstore.URL(p.Bucket, p.Region))
	if err != nil {
		return nil, node.BucketError(err)
	}
	defer func() { _ = bucket.Close() }()
	job := &job{Tasks: t, params: p, bucket: bucket, task: task, shadow: t.shadow(p.RPCEndpoint), trouble: func(string) {}}
	job.keep = func() error { return notes.Keep(task, progressNote, job.exported()) }
	if err := job.resume(); err != nil {
		return nil, err
	}
	switch {
	case job.divergedAt > 0 && !p.ContinueOnDivergence:
		// An earlier run came to its end; only its result was lost.
	case p.CanonicalRPC != "":
		err = job.compare(ctx)
	default:
		err = job.export(ctx)
	}
	return job.exported(), node.BucketError(err)
}

// job is one run of an export.
type job struct {
	*Tasks
	params wire.ResultExport
	bucket *objectstore.Bucket
	shadow *rpc.Client
	task   engine.Task
	// keep stores how far this run has come, before the next one of the same place is told.
	keep func() error
	// trouble tells that nothing can be compared now, and why; empty when it can.
	trouble func(string)

	// last is the last height that is safely in the bucket.
	last       int64
	pages      int
	divergedAt int64
	// divergence is the first difference of a run that ends with one.
	divergence *api.Divergence
}

// record is where the export to a place continues. Exports to several places may run
// at the same time.
func record(p wire.ResultExport) string { return "export/" + p.Bucket + " " + p.Prefix }

// lastHeight is where the export to this place left off: its own record, or the
// note of a public sidecar, or the height of the snapshot the node began with.
func (t *Tasks) lastHeight(records engine.Records, p wire.ResultExport) (int64, error) {
	data, err := records.Get(record(p))
	if err != nil {
		return 0, fmt.Errorf("reading where the export left off: %w", err)
	}
	if data != nil {
		return parseHeight(data)
	}
	var noted struct {
		LastExportedHeight int64 `json:"lastExportedHeight"`
	}
	data, err = readIfThere(t.Node.Home.Path(stateFile))
	if err != nil {
		return 0, err
	}
	if data != nil {
		if err := json.Unmarshal(data, &noted); err != nil {
			return 0, fmt.Errorf("reading where the export left off: %w", err)
		}
		return noted.LastExportedHeight, nil
	}
	if data, err = readIfThere(t.Node.Home.Path(heightFile)); err != nil || data == nil {
		return 0, err
	}
	return parseHeight(data)
}

func readIfThere(file string) ([]byte, error) {
	data, err := os.ReadFile(file) //nolint:gosec // a file of the node's home
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the start height: %w", err)
	}
	return data, nil
}

func parseHeight(data []byte) (int64, error) {
	height, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the start height: %w", err)
	}
	return height, nil
}

const progressNote = "exported pages"

func (j *job) exported() wire.Exported {
	return wire.Exported{Pages: j.pages, LastHeight: j.last, DivergedAt: j.divergedAt}
}

// resume begins where the export to this place left off, with what a killed run of
// the same task has done already.
func (j *job) resume() error {
	last, err := j.lastHeight(j.task.Records, j.params)
	if err != nil {
		return err
	}
	var done wire.Exported
	if _, err := notes.Find(j.task, progressNote, &done); err != nil {
		return err
	}
	j.last, j.pages, j.divergedAt = max(last, done.LastHeight), done.Pages, done.DivergedAt
	return nil
}

// advance notes that everything up to a height is in the bucket: first for this
// task, then for all that come.
func (j *job) advance(height int64) error {
	j.last = height
	j.pages++
	if err := j.keep(); err != nil {
		return err
	}
	if err := j.task.Records.Put(record(j.params), strconv.AppendInt(nil, height, 10)); err != nil {
		return fmt.Errorf("recording the export: %w", err)
	}
	return nil
}
