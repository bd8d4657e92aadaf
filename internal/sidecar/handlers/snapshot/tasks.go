// Package snapshot moves state snapshots between a node and a bucket. A restore
// fetches the archive in a way that survives kills, unpacks beside the node's
// snapshots, checks everything and only then swaps it in; an upload works on links to
// the chunks, so that seid may delete its own, and publishes the archive's digest after
// the archive. Memory stays bounded whatever the size.
package snapshot

import (
	"context"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

// The defaults of the settings.
const (
	// DefaultUploadTimeout bounds one upload.
	DefaultUploadTimeout = 2 * time.Hour
	// DefaultUploadInterval lies between two uploads of snapshot-upload.
	DefaultUploadInterval = 168 * time.Hour
)

const doneMark = "snapshot"

// Tasks are the snapshot tasks of one node.
type Tasks struct {
	Node *node.Node
	// CheckStopped refuses while the node runs: it has its snapshots open.
	CheckStopped func(context.Context) error
	// BlockTime is when the node's block at a height was made; nil means that it is unknown.
	BlockTime func(ctx context.Context, height int64) (time.Time, error)
	// UploadTimeout bounds one upload; 0 means DefaultUploadTimeout.
	UploadTimeout time.Duration
	// UploadInterval lies between two uploads of the task that continues forever; 0 means
	// DefaultUploadInterval.
	UploadInterval time.Duration
	// RetryPause is the pause after a lost connection; 0 means 2 seconds.
	RetryPause time.Duration
	Metrics    *Metrics

	uploading uploading
}

// Abandon ends the upload that runs, if any: the node's data is about to be deleted.
func (t *Tasks) Abandon() { t.uploading.abandon(errReset) }

// Handlers are the task types of this package.
func (t *Tasks) Handlers() []engine.Handler {
	return []engine.Handler{
		node.Handler(api.SnapshotRestore, []engine.Group{engine.GroupData}, t.restore),
		// An upload takes hours and changes nothing of the node's, so nothing waits for it,
		// least of all reset-data.
		node.Handler(api.SnapshotUploadOnce, nil, t.uploadOnce),
		node.Handler(api.SnapshotUpload, nil, t.uploadOften),
		node.Handler(api.PublishSnapshots, nil, t.set),
	}
}

func (t *Tasks) prefix() string { return t.Node.ChainID + "/state-sync/" }

// snapshots is where the node keeps its snapshots, as its configuration has it.
func (t *Tasks) snapshots() (string, error) {
	files, err := config.Read(t.Node.Home.Config())
	if err != nil {
		return "", fmt.Errorf("finding out where the snapshots are: %w", err)
	}
	dir, err := config.SnapshotDir(files, t.Node.Home)
	if err != nil {
		return "", api.Terminal(api.CodePrecondition, err)
	}
	return dir, nil
}

func (t *Tasks) retryPause() time.Duration {
	if t.RetryPause > 0 {
		return t.RetryPause
	}
	return 2 * time.Second
}
