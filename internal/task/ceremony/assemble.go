package ceremony

import (
	"context"
	"encoding/json"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
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
