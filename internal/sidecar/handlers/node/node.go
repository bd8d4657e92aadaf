// Package node is what all handlers know of the node they work on: where its
// home is, which chain it belongs to, how to run its binary, which buckets it
// has. It holds no task's logic.
package node

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/keys"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// Node is the node a sidecar works on.
type Node struct {
	Home    home.Dir
	ChainID string
	Seid    seidcmd.Runner
	// GenesisBucket and SnapshotBucket are bucket addresses; empty means none.
	GenesisBucket  string
	SnapshotBucket string
	// RPCEndpoint is the node's own RPC; empty means what config.toml says.
	RPCEndpoint string
	// Private is a directory that seid's container does not have; empty means the home's own.
	Private string
}

// Scratch makes a throw-away directory in the home, where a child process may
// scribble and results can be renamed from. Leftovers of killed runs of the same
// name are swept first, so a name must not be used by two tasks at once.
func (n *Node) Scratch(name string) (dir string, cleanup func(), err error) {
	return scratch(n.Home.Tmp(), name)
}

// PrivateScratch makes a throw-away directory for what is about to be signed: in the home a seid that
// was taken over could exchange it. Nothing can be renamed from there into the home.
func (n *Node) PrivateScratch(name string) (dir string, cleanup func(), err error) {
	return scratch(cmp.Or(n.Private, n.Home.Tmp()), name)
}

func scratch(parent, name string) (dir string, cleanup func(), err error) {
	if err := durable.Sweep(parent, name); err != nil {
		return "", nil, err
	}
	dir, err = durable.TempDir(parent, name)
	if err != nil {
		return "", nil, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// Mark leaves the empty file by which the public sidecar knows that a step is
// done, so that a home can go back to it.
func (n *Node) Mark(name string) error {
	return durable.WriteFile(n.marker(name), nil, 0o600)
}

// Marked reports whether a step was marked as done.
func (n *Node) Marked(name string) (bool, error) {
	return durable.Exists(n.marker(name))
}

// Unmark removes marks.
func (n *Node) Unmark(names ...string) error {
	for _, name := range names {
		if err := durable.Remove(n.marker(name)); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) marker(name string) string {
	return n.Home.Path(".sei-sidecar-" + name + "-done")
}

// ID is what peers call the node.
func (n *Node) ID() (string, error) {
	data, err := os.ReadFile(n.Home.NodeKey())
	if err != nil {
		return "", fmt.Errorf("reading the node key: %w", err)
	}
	key, err := keys.ParseNodeKey(data)
	if err != nil {
		return "", fmt.Errorf("reading the node key: %w", err)
	}
	return key.ID, nil
}

// ConsensusKey is the public side of the key the node signs blocks with.
func (n *Node) ConsensusKey() (keys.ConsensusKey, error) {
	data, err := os.ReadFile(n.Home.ConsensusKey())
	if err != nil {
		return keys.ConsensusKey{}, fmt.Errorf("reading the consensus key: %w", err)
	}
	key, err := keys.ParseConsensusKey(data)
	if err != nil {
		return keys.ConsensusKey{}, fmt.Errorf("reading the consensus key: %w", err)
	}
	return key, nil
}

// CheckChain refuses a task that was meant for another chain.
func (n *Node) CheckChain(chainID string) error {
	if chainID != n.ChainID {
		return api.InvalidField("chainId", "is %q, but this node is on %q", chainID, n.ChainID)
	}
	return nil
}

// Bucket opens a bucket for the length of a task.
func Bucket(ctx context.Context, address, setting string) (*objectstore.Bucket, error) {
	if address == "" {
		return nil, api.Terminal(api.CodePrecondition, fmt.Errorf("no %s is configured", setting)).
			WithHint("set the %s of the sidecar", setting)
	}
	b, err := objectstore.Open(ctx, address)
	if err != nil {
		return nil, BucketError(err)
	}
	return b, nil
}
