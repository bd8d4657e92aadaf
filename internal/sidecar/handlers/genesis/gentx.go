package genesis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/completion"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

const gentxMark = "gentx"

// gentxInputs is everything a gentx depends on.
type gentxInputs struct {
	wire.GenerateGentx
	NodeID, ConsensusKey, Account, Moniker string
}

// generateGentx makes the account key if there is none and signs the transaction
// that stakes for this node. The key is made once and kept; the transaction is
// made again when its inputs differ.
func (t *Tasks) generateGentx(ctx context.Context, task engine.Task, p wire.GenerateGentx) (any, error) {
	if err := t.Node.CheckChain(p.ChainID); err != nil {
		return nil, err
	}
	inputs, err := t.gentxInputs(ctx, p)
	if err != nil {
		return nil, err
	}
	rec, err := completion.Find(task.Records, api.GenerateGentx)
	if err != nil {
		return nil, err
	}
	if rec.Matches(inputs) {
		if result, err := t.readGentx(); err == nil {
			return result, nil
		}
	}
	if err := t.signGentx(ctx, inputs); err != nil {
		return nil, err
	}
	result, err := t.readGentx()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(completion.Save(task.Records, api.GenerateGentx, inputs, nil), t.Node.Mark(gentxMark)); err != nil {
		return nil, err
	}
	return result, nil
}

func (t *Tasks) gentxInputs(ctx context.Context, p wire.GenerateGentx) (gentxInputs, error) {
	inputs := gentxInputs{GenerateGentx: p}
	var err error
	if inputs.NodeID, err = t.Node.ID(); err != nil {
		return inputs, needsIdentity(err)
	}
	consensus, err := t.Node.ConsensusKey()
	if err != nil {
		return inputs, needsIdentity(err)
	}
	inputs.ConsensusKey = consensus.PublicKey
	if inputs.Moniker, err = t.Moniker(ctx); err != nil {
		return inputs, err
	}
	inputs.Account, err = t.accountKey(ctx)
	return inputs, err
}

func needsIdentity(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return api.Terminal(api.CodePrecondition, err).WithHint("run generate-identity first")
}

// signGentx signs in a scratch home, whose genesis holds just the one account
// that `seid gentx` wants to see there.
func (t *Tasks) signGentx(ctx context.Context, in gentxInputs) error {
	scratch, cleanup, err := t.Node.Scratch("gentx")
	if err != nil {
		return err
	}
	defer cleanup()
	if err := t.initHome(ctx, scratch, in.Moniker); err != nil {
		return err
	}
	if err := t.addAccount(ctx, scratch, in.Account, in.AccountBalance); err != nil {
		return err
	}
	pubkey, err := json.Marshal(map[string]string{"@type": "/cosmos.crypto.ed25519.PubKey", "key": in.ConsensusKey})
	if err != nil {
		return fmt.Errorf("encoding the consensus key: %w", err)
	}
	signed := filepath.Join(scratch, "signed.json")
	_, err = t.Node.Seid.Run(ctx, seidcmd.Call{Args: []string{
		"gentx", accountKeyName, in.StakingAmount, "--chain-id", t.Node.ChainID, "--home", scratch,
		"--keyring-backend", "test", "--keyring-dir", string(t.Node.Home),
		"--node-id", in.NodeID, "--pubkey", string(pubkey), "--moniker", in.Moniker,
		"--ip", "127.0.0.1", "--output-document", signed,
	}})
	if err != nil {
		return err
	}
	target := t.gentxFile(in.NodeID)
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return fmt.Errorf("making the gentx directory: %w", err)
	}
	return durable.Rename(signed, target)
}

func (t *Tasks) gentxFile(nodeID string) string {
	return filepath.Join(t.Node.Home.Gentx(), "gentx-"+nodeID+".json")
}

// exportGentx hands out what the assembler of the genesis needs of this node.
func (t *Tasks) exportGentx(context.Context, engine.Task, struct{}) (any, error) {
	result, err := t.readGentx()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, api.Terminal(api.CodePrecondition, err).WithHint("run generate-identity and generate-gentx first")
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (t *Tasks) readGentx() (wire.Gentx, error) {
	nodeID, err := t.Node.ID()
	if err != nil {
		return wire.Gentx{}, err
	}
	data, err := os.ReadFile(t.gentxFile(nodeID))
	if err != nil {
		return wire.Gentx{}, fmt.Errorf("reading the gentx: %w", err)
	}
	tx, err := parseGentx(data)
	if err != nil {
		return wire.Gentx{}, err
	}
	return wire.Gentx{Gentx: tx.raw, NodeID: nodeID, Account: tx.Delegator}, nil
}
