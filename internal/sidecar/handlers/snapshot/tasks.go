// Package snapshot moves state snapshots between a node and a bucket. A restore
// unpacks beside the node's data, checks the whole archive and only then swaps
// it in; an upload publishes the archive's digest after the archive. Memory stays
// bounded whatever the size.
package snapshot

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

// DefaultUploadTimeout bounds one upload.
const DefaultUploadTimeout = 2 * time.Hour

const (
	doneMark   = "snapshot"
	heightFile = ".sei-sidecar-snapshot-height"
	stateFile  = ".sei-sidecar-last-upload.json"
)

// Tasks are the snapshot tasks of one node.
type Tasks struct {
	Node *node.Node
	// CheckStopped refuses while the node runs: it has its snapshots open.
	CheckStopped func(context.Context) error
	// UploadTimeout bounds one upload; 0 means DefaultUploadTimeout.
	UploadTimeout time.Duration
	Metrics       *Metrics
}

// Handlers are the task types of this package.
func (t *Tasks) Handlers() []engine.Handler {
	return []engine.Handler{
		node.Handler(api.SnapshotRestore, []engine.Group{engine.GroupData}, t.restore),
		node.Handler(api.SnapshotUploadOnce, []engine.Group{engine.GroupData}, t.uploadOnce),
	}
}

func (t *Tasks) prefix() string { return t.Node.ChainID + "/state-sync/" }

func (t *Tasks) key(height int64) string { return fmt.Sprintf("%s%d.tar.gz", t.prefix(), height) }

var archiveName = regexp.MustCompile(`^([0-9]{1,18})\.tar\.gz$`)

// heightOf reads the height from an archive's key.
func heightOf(key string) (int64, bool) {
	m := archiveName.FindStringSubmatch(path.Base(key))
	if m == nil {
		return 0, false
	}
	height, err := strconv.ParseInt(m[1], 10, 64)
	return height, err == nil
}
