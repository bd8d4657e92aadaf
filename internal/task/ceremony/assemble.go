package ceremony

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// assembleGenesis has the first validator make the genesis. It gives the same bytes
// for the same transactions, however often it is asked.
func assembleGenesis(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) plan.Outcome {
	if o := fetch(ctx, env, collectID(env)); !o.IsDone() {
		return o
	}
	return run(ctx, env.Members[0], task.ID, api.AssembleGenesis, assembleParams(env), nil)
}

func assembleParams(env *Env) func() (any, error) {
	return func() (any, error) {
		spec := env.Fleet.Spec.Genesis
		return wire.AssembleGenesis{
			AccountBalance: spec.AccountBalance, Gentxs: env.gentxs, Accounts: accounts(spec), Overrides: overrides(spec),
		}, nil
	}
}

// assembled is what the first validator assembled in this plan.
func assembled(ctx context.Context, env *Env) (wire.AssembledGenesis, plan.Outcome) {
	var result wire.AssembledGenesis
	task := plan.Find(env.Plan, fleet.TaskAssembleGenesis)
	if task == nil {
		return result, plan.Terminal(ReasonValidatorFailed, errNotAssembled)
	}
	return result, run(ctx, env.Members[0], task.ID, api.AssembleGenesis, nil, &result)
}

// onAnotherChain makes sure that no validator has blocks of a chain with another genesis: volumes
// that an earlier fleet of the name left behind still have theirs.
func onAnotherChain(ctx context.Context, env *Env, hash string) plan.Outcome {
	for _, m := range env.Members {
		if m.Sidecar == nil {
			return plan.Wait(ReasonValidatorNotReady, fmt.Sprintf("waiting for the sidecar of %s", m.Name), shortly)
		}
		seen, err := m.Sidecar.Node(ctx)
		if errors.Is(err, sidecar.ErrNotFound) {
			continue // an older sidecar cannot tell
		}
		if err != nil {
			return callFailed(m, api.AssembleGenesis, err)
		}
		if has := seen.Home.GenesisHash; hasBlocks(seen) && has != "" && has != hash {
			return plan.Terminal(ReasonGenesisConflict, fmt.Errorf("the volume of validator %s has blocks of a chain with the genesis %s, "+
				"and the fleet would start one with %s: delete the volumes of its validators to start a new chain, "+
				"or ask for the genesis that they have", m.Name, has, hash))
		}
	}
	return plan.Done("")
}

// hasBlocks reports whether seid has run on a volume.
func hasBlocks(seen api.Node) bool {
	return seen.Home.Stage == api.HomeFirstSync || seen.Home.Stage == api.HomeSynced
}

func accounts(spec *v1alpha1.GenesisCeremony) []wire.Account {
	list := make([]wire.Account, 0, len(spec.Accounts))
	for _, a := range spec.Accounts {
		account := wire.Account{Address: a.Address, Balance: a.Balance}
		if v := a.Vesting; v != nil {
			account.Vesting = &wire.Vesting{Amount: v.Amount, EndTime: v.EndTime, Delayed: v.Delayed}
		}
		list = append(list, account)
	}
	return list
}

func overrides(spec *v1alpha1.GenesisCeremony) map[string]json.RawMessage {
	values := make(map[string]json.RawMessage, len(spec.Overrides))
	for path, value := range spec.Overrides {
		values[path] = value.Raw
	}
	return values
}
