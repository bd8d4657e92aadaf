// Package genesis holds the tasks that bring a chain into being: a node's
// identity, its genesis transaction, the genesis file and the first peers. The
// chain binary does the work in scratch homes; finished files are renamed into
// the node's home, so a killed task leaves the home as it was.
package genesis

import (
	"context"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

// Tasks are the genesis tasks of one node.
type Tasks struct {
	Node *node.Node
	// SetPeers writes the persistent peers into the node's configuration.
	SetPeers func(ctx context.Context, peers []string) error
	// SetMoniker writes the node's name into its configuration.
	SetMoniker func(ctx context.Context, moniker string) error
	// Moniker reads the node's name from its configuration.
	Moniker func(ctx context.Context) (string, error)
}

// Handlers are the task types of this package.
func (t *Tasks) Handlers() []engine.Handler {
	keysAndConfig := []engine.Group{engine.GroupKeys, engine.GroupConfig}
	keysOnly := []engine.Group{engine.GroupKeys}
	configOnly := []engine.Group{engine.GroupConfig}
	return []engine.Handler{
		node.Handler(api.GenerateIdentity, keysAndConfig, t.generateIdentity),
		node.Handler(api.GenerateGentx, keysOnly, t.generateGentx),
		node.Handler(api.ExportGentx, keysOnly, t.exportGentx),
		node.Handler(api.UploadGenesisArtifacts, keysOnly, t.uploadArtifacts),
		node.Handler(api.AssembleGenesis, configOnly, t.assemble),
		node.Handler(api.AssembleAndUploadGenesis, configOnly, t.assembleAndUpload),
		node.Handler(api.ConfigureGenesis, configOnly, t.configure),
		node.Handler(api.ExportGenesis, configOnly, t.exportGenesis),
		node.Handler(api.SetGenesisPeers, configOnly, t.setPeers),
	}
}
