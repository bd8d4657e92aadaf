package genesis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/completion"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

const (
	assembleMark  = "assemble"
	assembledFile = "genesis-assembled.json"
	// maxArtifact bounds what is read of another node's upload.
	maxArtifact = 1 << 20
)

// assemble builds a genesis from gentxs that were handed in and hands it back.
func (t *Tasks) assemble(ctx context.Context, task engine.Task, p wire.AssembleGenesis) (any, error) {
	at, err := t.genesisTime(p.GenesisTime)
	if err != nil {
		return nil, err
	}
	plan := blueprint{ChainID: t.Node.ChainID, GenesisTime: at, AccountBalance: p.AccountBalance,
		Gentxs: p.Gentxs, Accounts: p.Accounts, Overrides: p.Overrides}
	label := func(i int) string { return fmt.Sprintf("gentxs[%d]", i) }
	data, hash, err := t.assembled(ctx, task.Records, plan, label)
	if err != nil {
		return nil, err
	}
	packed, err := packGenesis(data)
	if err != nil {
		return nil, err
	}
	return wire.AssembledGenesis{Genesis: packed, GenesisHash: hash, Warnings: warnings(plan)}, nil
}

// assembled builds the genesis of a blueprint once and keeps it: a repeat gives
// the same bytes, another blueprint builds again.
func (t *Tasks) assembled(ctx context.Context, records engine.Records, plan blueprint, label func(int) string) ([]byte, string, error) {
	rec, err := completion.Find(records, api.AssembleGenesis)
	if err != nil {
		return nil, "", err
	}
	file := t.Node.Home.ConfigFile(assembledFile)
	if rec.Matches(plan) {
		data, hash, err := readHashed(file)
		if err == nil && string(rec.Result) == `"`+hash+`"` {
			return data, hash, nil
		}
	}
	data, err := t.build(ctx, plan, label)
	if err != nil {
		return nil, "", err
	}
	if err := durable.WriteFile(file, data, 0o644); err != nil {
		return nil, "", err
	}
	hash := hashOf(data)
	return data, hash, completion.Save(records, api.AssembleGenesis, plan, hash)
}

// warnings names what makes a valid genesis useless. A node leaves block sync
// only with two peers, or when it is the only validator.
func warnings(plan blueprint) []string {
	if len(plan.Gentxs) != 2 {
		return nil
	}
	return []string{"a chain of two validators starts only when a third node is connected to both"}
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func readHashed(file string) ([]byte, string, error) {
	data, err := os.ReadFile(file) //nolint:gosec // a file of the node's home
	if err != nil {
		return nil, "", fmt.Errorf("reading %s: %w", file, err)
	}
	return data, hashOf(data), nil
}

// assembleAndUpload builds the genesis from what the validators uploaded. The
// genesis goes up before the peers, and both are the same however often this
// runs, so nodes that poll the bucket never see two truths. Another genesis
// that is there already stays.
func (t *Tasks) assembleAndUpload(ctx context.Context, task engine.Task, p wire.AssembleAndUploadGenesis) (any, error) {
	bucket, err := node.Bucket(ctx, t.Node.GenesisBucket, "genesis bucket")
	if err != nil {
		return nil, err
	}
	defer func() { _ = bucket.Close() }()
	at, err := t.genesisTime(p.GenesisTime)
	if err != nil {
		return nil, err
	}
	plan := blueprint{ChainID: t.Node.ChainID, GenesisTime: at, AccountBalance: p.AccountBalance, Accounts: p.Accounts, Overrides: p.Overrides}
	peers := make([]string, 0, len(p.Nodes))
	for i, n := range p.Nodes {
		task.Progress(api.Progress{Done: int64(i), Total: int64(len(p.Nodes)), Unit: "nodes", Message: "reading the artifacts of " + n.Name})
		gentx, id, err := t.artifacts(ctx, bucket, n.Name)
		if err != nil {
			return nil, err
		}
		plan.Gentxs = append(plan.Gentxs, gentx)
		peers = append(peers, fmt.Sprintf("%s@%s:%d", id, api.PodHost(p.Namespace, n.Name), seid.PortP2P))
	}
	label := func(i int) string { return fmt.Sprintf("nodes[%d] (%s)", i, p.Nodes[i].Name) }
	data, hash, err := t.assembled(ctx, task.Records, plan, label)
	if err != nil {
		return nil, err
	}
	if want := strings.ToLower(p.ExpectedGenesisHash); want != "" && want != hash {
		return nil, api.Terminal(api.CodeIntegrity, fmt.Errorf("the validators' uploads make a genesis with SHA-256 %s, expected %s", hash, want)).
			WithHint("another chain of this id may use the same bucket; nothing was published")
	}
	if err := t.publish(ctx, bucket, data, peers); err != nil {
		return nil, err
	}
	return wire.UploadedGenesis{GenesisHash: hash, Warnings: warnings(plan)}, t.Node.Mark(assembleMark)
}

func (t *Tasks) key(name string) string { return t.Node.ChainID + "/" + name }
