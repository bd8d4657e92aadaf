package configfiles

import (
	"cmp"
	"context"
	"errors"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/podnet"
)

// SetPeers makes peers the node's persistent peers.
func (t *Tasks) SetPeers(_ context.Context, peers []string) error {
	files, err := t.read()
	if err != nil {
		return err
	}
	if files.Config == nil {
		return errNotInitialised
	}
	files, err = config.SetPeers(files, peers)
	if err != nil {
		return refused(err)
	}
	return t.write(files)
}

// SetMoniker gives the node its name.
func (t *Tasks) SetMoniker(_ context.Context, moniker string) error {
	files, err := t.read()
	if err != nil {
		return err
	}
	if files.Config == nil {
		return errNotInitialised
	}
	files, err = config.Patch(files, map[string]map[string]any{string(config.ConfigToml): {"moniker": moniker}})
	if err != nil {
		return refused(err)
	}
	return t.write(files)
}

// Moniker is the node's name.
func (t *Tasks) Moniker(context.Context) (string, error) {
	files, err := t.read()
	if err != nil {
		return "", err
	}
	moniker, _ := files.Config["moniker"].(string)
	return cmp.Or(moniker, "node"), nil
}

var errNotInitialised = errors.New("config.toml is missing: seid init has not run")

// StateSyncEnabled reports whether the node is set to sync its state from peers.
func (t *Tasks) StateSyncEnabled() (bool, error) {
	files, err := t.read()
	if err != nil {
		return false, err
	}
	enabled, _ := section(files.Config, "statesync")["enable"].(bool)
	return enabled, nil
}

// LocalRPC is where the node's own RPC listens, as its configuration has it.
func (t *Tasks) LocalRPC() config.Endpoint {
	if t.Node.RPCEndpoint != "" {
		return config.Endpoint{URL: t.Node.RPCEndpoint}
	}
	files, err := t.read()
	if err != nil {
		return config.Endpoint{URL: rpc.LocalURL} // the task at hand meets the same error and tells it
	}
	return config.LocalEndpoint(files, t.Node.Home, podnet.Here().IPv4Loopback)
}

func section(tree config.Tree, name string) map[string]any {
	table, _ := tree[name].(map[string]any)
	return table
}
