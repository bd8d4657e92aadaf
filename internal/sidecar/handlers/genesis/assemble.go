package genesis

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/publicchain"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// blueprint is everything an assembled genesis depends on. Equal blueprints give
// equal bytes, so a killed and repeated assembly cannot split a network.
type blueprint struct {
	ChainID        string
	GenesisTime    time.Time
	AccountBalance string
	Gentxs         []json.RawMessage
	Accounts       []wire.Account
	Overrides      map[string]json.RawMessage
}

func invalid(field string, err error) error { return api.InvalidField(field, "%w", err) }

// genesisTime is when the chain starts: as asked for, or when `seid init` made
// this home, which does not change between runs.
func (t *Tasks) genesisTime(asked string) (time.Time, error) {
	if asked != "" {
		at, err := time.Parse(time.RFC3339, asked)
		if err != nil {
			return at, invalid("genesisTime", err)
		}
		return at, nil
	}
	data, err := os.ReadFile(t.Node.Home.Genesis())
	if err != nil {
		return time.Time{}, needsIdentity(fmt.Errorf("reading the genesis time of this home: %w", err))
	}
	var head struct {
		GenesisTime time.Time `json:"genesis_time"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return time.Time{}, fmt.Errorf("reading the genesis time of this home: %w", err)
	}
	return head.GenesisTime.UTC(), nil
}

// build assembles a genesis from the binary's own defaults in a scratch home.
func (t *Tasks) build(ctx context.Context, plan blueprint, label func(int) string) ([]byte, error) {
	if publicchain.Known(plan.ChainID) {
		return nil, api.Terminal(api.CodePrecondition, fmt.Errorf("%s is a public chain; its genesis exists already", plan.ChainID))
	}
	txs, err := parseGentxs(plan.Gentxs, label)
	if err != nil {
		return nil, err
	}
	scratch, cleanup, err := t.Node.Scratch("assemble")
	if err != nil {
		return nil, err
	}
	defer cleanup()
	if err := t.initHome(ctx, scratch, "assembler"); err != nil {
		return nil, err
	}
	file := filepath.Join(scratch, "config", "genesis.json")
	if err := edit(file, func(doc document) error { doc.setTime(plan.GenesisTime); return nil }); err != nil {
		return nil, err
	}
	if err := t.addAccounts(ctx, scratch, plan, txs); err != nil {
		return nil, err
	}
	if err := t.collect(ctx, scratch, txs); err != nil {
		return nil, err
	}
	if err := edit(file, func(doc document) error { return finishDocument(doc, plan, txs) }); err != nil {
		return nil, err
	}
	if _, err := t.Node.Seid.Run(ctx, seidcmd.Call{Args: []string{"validate-genesis", file, "--home", scratch}}); err != nil {
		return nil, api.Terminal(api.CodeInvalidParams, err).WithHint("check the overrides: the binary refuses the genesis they make")
	}
	data, err := os.ReadFile(file) //nolint:gosec // a file of the node's home
	if err != nil {
		return nil, fmt.Errorf("reading the assembled genesis: %w", err)
	}
	return data, nil
}

func finishDocument(doc document, plan blueprint, txs []gentx) error {
	if err := doc.associate(txs); err != nil {
		return err
	}
	if err := doc.override(plan.Overrides); err != nil {
		return err
	}
	return doc.setValidators(txs)
}

func edit(file string, change func(document) error) error {
	data, err := os.ReadFile(file) //nolint:gosec // a file of the node's home
	if err != nil {
		return fmt.Errorf("reading the genesis: %w", err)
	}
	doc, err := parseDocument(data)
	if err != nil {
		return err
	}
	if err := change(doc); err != nil {
		return err
	}
	if data, err = doc.encode(); err != nil {
		return err
	}
	return durable.WriteFile(file, data, 0o644)
}

// addAccounts gives every validator and every extra account its balance.
func (t *Tasks) addAccounts(ctx context.Context, scratch string, plan blueprint, txs []gentx) error {
	validators := map[string]bool{}
	for _, tx := range txs {
		validators[tx.Delegator] = true
		if err := t.addAccount(ctx, scratch, tx.Delegator, plan.AccountBalance); err != nil {
			return fmt.Errorf("adding the account of validator %s: %w", tx.Moniker, err)
		}
	}
	for i, account := range plan.Accounts {
		field := fmt.Sprintf("accounts[%d]", i)
		if validators[account.Address] {
			return invalid(field+".address", fmt.Errorf("%s is the account of a validator", account.Address))
		}
		flags, err := vestingFlags(account.Vesting, plan.GenesisTime)
		if err != nil {
			return invalid(field+".vesting.endTime", err)
		}
		if err := t.addAccount(ctx, scratch, account.Address, account.Balance, flags...); err != nil {
			return invalid(field, err)
		}
	}
	return nil
}

func vestingFlags(v *wire.Vesting, start time.Time) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	if v.EndTime <= start.Unix() {
		return nil, fmt.Errorf("%d is not after the genesis time %d", v.EndTime, start.Unix())
	}
	flags := []string{"--vesting-amount", v.Amount, "--vesting-end-time", strconv.FormatInt(v.EndTime, 10)}
	if !v.Delayed {
		flags = append(flags, "--vesting-start-time", strconv.FormatInt(start.Unix(), 10))
	}
	return flags, nil
}

// collect puts the transactions into the genesis, in the order they were given.
func (t *Tasks) collect(ctx context.Context, scratch string, txs []gentx) error {
	dir := filepath.Join(scratch, "gentxs")
	if err := os.Mkdir(dir, 0o750); err != nil {
		return fmt.Errorf("collecting gentxs: %w", err)
	}
	for i, tx := range txs {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.json", i)), tx.raw, 0o600); err != nil {
			return fmt.Errorf("collecting gentxs: %w", err)
		}
	}
	_, err := t.Node.Seid.Run(ctx, seidcmd.Call{Args: []string{"collect-gentxs", "--gentx-dir", dir, "--home", scratch}})
	if err != nil {
		return api.Terminal(api.CodeInvalidParams, err).WithHint("check the gentxs and the accountBalance, which has to cover each stake")
	}
	return nil
}
