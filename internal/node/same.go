package node

import (
	"reflect"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// SameFacts reports whether two documents lead to the same decision and the same report, so that
// the second needs no pass of its own.
func SameFacts(a, b *api.Node) bool { return reflect.DeepEqual(withoutFigures(a), withoutFigures(b)) }

// withoutFigures is a document without what moves on a healthy node by itself. Neither Decide nor
// Report may look at any of it.
func withoutFigures(document *api.Node) api.Node {
	bare := *document
	bare.Sync.Height, bare.Sync.Lag, bare.Sync.Peers = 0, 0, 0
	bare.Sync.BlockTime, bare.Sync.Progress = nil, nil
	bare.Snapshots, bare.Disk = nil, nil
	if export := bare.ResultExport; export != nil {
		still := *export
		still.Height = 0
		bare.ResultExport = &still
	}
	if upgrades := bare.Upgrades; upgrades != nil {
		still := *upgrades
		still.EstimatedTime = nil
		bare.Upgrades = &still
	}
	return bare
}
