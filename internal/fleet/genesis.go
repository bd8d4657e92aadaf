package fleet

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// CheckGenesis finds what is wrong with a ceremony's inputs and can be seen without
// the chain binary. A ceremony with such inputs would fail at its end, after every
// validator was made.
func CheckGenesis(g *v1alpha1.GenesisCeremony) error {
	stake, err := parseCoins(g.StakingAmount)
	if err != nil {
		return fmt.Errorf("spec.genesis.stakingAmount: %w", err)
	}
	balance, err := parseCoins(g.AccountBalance)
	if err != nil {
		return fmt.Errorf("spec.genesis.accountBalance: %w", err)
	}
	if missing := balance.lacks(stake); missing != "" {
		return fmt.Errorf("spec.genesis.accountBalance is below the stakingAmount of %s: a validator stakes from its own account", missing)
	}
	for i := range g.Accounts {
		if err := checkAccount(&g.Accounts[i]); err != nil {
			return fmt.Errorf("spec.genesis.accounts[%d].%w", i, err)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(g.Overrides)) {
		if parts := strings.Split(path, "."); len(parts) < 2 || slices.Contains(parts, "") {
			return fmt.Errorf("spec.genesis.overrides[%s]: a key is module.field, for example gov.voting_params.voting_period", path)
		}
	}
	return nil
}

func checkAccount(a *v1alpha1.GenesisAccount) error {
	if err := checkAddress(a.Address); err != nil {
		return fmt.Errorf("address: %w", err)
	}
	balance, err := parseCoins(a.Balance)
	if err != nil {
		return fmt.Errorf("balance: %w", err)
	}
	if a.Vesting == nil {
		return nil
	}
	locked, err := parseCoins(a.Vesting.Amount)
	if err != nil {
		return fmt.Errorf("vesting.amount: %w", err)
	}
	if missing := balance.lacks(locked); missing != "" {
		return fmt.Errorf("vesting.amount: %s is more than the balance", missing)
	}
	return nil
}

// coins are amounts by denomination.
type coins map[string]*big.Int

var coinPattern = regexp.MustCompile(`^([0-9]+)([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$`)

func parseCoins(text string) (coins, error) {
	found := coins{}
	for part := range strings.SplitSeq(text, ",") {
		match := coinPattern.FindStringSubmatch(part)
		if match == nil {
			return nil, fmt.Errorf("%q is not an amount with a denomination, such as 1000usei", part)
		}
		amount, _ := new(big.Int).SetString(match[1], 10)
		if amount.Sign() <= 0 {
			return nil, fmt.Errorf("%q is not more than zero", part)
		}
		if _, twice := found[match[2]]; twice {
			return nil, fmt.Errorf("%s appears twice", match[2])
		}
		found[match[2]] = amount
	}
	return found, nil
}

// lacks is the first amount of other that is more than what is there; empty when none is.
func (c coins) lacks(other coins) string {
	for _, denomination := range slices.Sorted(maps.Keys(other)) {
		have := c[denomination]
		if have == nil || have.Cmp(other[denomination]) < 0 {
			return other[denomination].String() + denomination
		}
	}
	return ""
}
