package genesis

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/seid/keys"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

const identityMark = "identity"

// homeFiles are what `seid init` makes, in the order in which they are moved
// into a home that lacks them.
var homeFiles = []string{
	"config/" + keys.NodeKeyFile,
	"config/" + keys.ConsensusKeyFile,
	"data/priv_validator_state.json",
	"config/client.toml",
	"config/app.toml",
	"config/config.toml",
	"config/genesis.json",
}

// generateIdentity gives the home every file of `seid init` that it lacks and
// sets the node's name. Keys that exist are kept, whoever made them. A file that
// is there is complete, because it was renamed into place; so the state of the
// home is the record of how far an earlier run came.
func (t *Tasks) generateIdentity(ctx context.Context, _ engine.Task, p wire.GenerateIdentity) (any, error) {
	if err := t.Node.CheckChain(p.ChainID); err != nil {
		return nil, err
	}
	if err := t.fillHome(ctx, p.Moniker); err != nil {
		return nil, err
	}
	if err := t.SetMoniker(ctx, p.Moniker); err != nil {
		return nil, err
	}
	nodeID, err := t.Node.ID()
	if err != nil {
		return nil, err
	}
	consensus, err := t.Node.ConsensusKey()
	if err != nil {
		return nil, err
	}
	if err := t.Node.Mark(identityMark); err != nil {
		return nil, err
	}
	return wire.Identity{NodeID: nodeID, ConsensusAddress: consensus.Address}, nil
}

func (t *Tasks) fillHome(ctx context.Context, moniker string) error {
	missing, err := t.missingFiles()
	if err != nil || len(missing) == 0 {
		return err
	}
	scratch, cleanup, err := t.Node.Scratch("identity")
	if err != nil {
		return err
	}
	defer cleanup()
	if err := t.initHome(ctx, scratch, moniker); err != nil {
		return err
	}
	for _, name := range missing {
		target := t.Node.Home.Path(name)
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			return fmt.Errorf("creating the home directory: %w", err)
		}
		if err := durable.Rename(filepath.Join(scratch, name), target); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tasks) missingFiles() ([]string, error) {
	var missing []string
	for _, name := range homeFiles {
		there, err := durable.Exists(t.Node.Home.Path(name))
		if err != nil {
			return nil, err
		}
		if !there {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// initHome runs `seid init` on an empty home.
func (t *Tasks) initHome(ctx context.Context, home, moniker string) error {
	return t.Node.Seid.InitHome(ctx, seidcmd.Init{Moniker: moniker, ChainID: t.Node.ChainID, Home: home})
}
