package ceremony

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

var errTooOld = errors.New("its sidecar is too old to export its genesis")

// restoreGenesis makes the ConfigMap of a finished ceremony again from the file of whichever node
// has the genesis that the chain began with. Nothing is published: what was, still is.
func restoreGenesis(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) plan.Outcome {
	hash, o := beganWith(ctx, env)
	if !o.IsDone() {
		return o
	}
	var refused []string
	var waits, fails bool
	old := 0
	nodes := slices.Concat(env.Members, env.Others)
	for _, m := range nodes {
		found, o := exported(ctx, m, memberID(task.ID, "restore", m), hash)
		if o.IsDone() {
			return storeRestored(ctx, env, m, found.Genesis, hash)
		}
		if errors.Is(o.Err, errTooOld) {
			old++
		}
		waits, fails = waits || o.IsWait(), fails || o.IsRetry()
		refused = append(refused, wordsOf(m, o))
	}
	text := fmt.Sprintf("no node serves the genesis with SHA-256 %s: %s", hash, strings.Join(refused, "; "))
	switch {
	case waits:
		return plan.Wait(ReasonValidatorNotReady, text, shortly)
	case old == len(nodes):
		return assembleAgain(ctx, env, task, hash)
	case fails:
		return plan.Retry(errors.New(text))
	default:
		return plan.Terminal(ReasonGenesisLost, fmt.Errorf("%s. Restore ConfigMap %s from a backup", text, fleet.GenesisName(env.Fleet.Name)))
	}
}

// beganWith is the hash of the genesis that the chain began with. Of a chain that another operator has
// started no hash was kept: it is that of all validators that run on it.
func beganWith(ctx context.Context, env *Env) (string, plan.Outcome) {
	hash, of := env.Fleet.Status.GenesisHash, ""
	if hash != "" {
		return hash, plan.Done("")
	}
	for _, m := range env.Members {
		has, o := startedWith(ctx, m)
		switch {
		case !o.IsDone():
			return "", o
		case hash != "" && has != "" && has != hash:
			return "", plan.Terminal(ReasonGenesisConflict, fmt.Errorf("%s runs on the genesis with SHA-256 %s, and %s on %s: "+
				"remove from the fleet what is not of its chain, or create ConfigMap %s with the genesis of the chain",
				of, hash, m.Name, has, fleet.GenesisName(env.Fleet.Name)))
		case has != "":
			hash, of = has, m.Name
		}
	}
	if hash == "" {
		return "", plan.Wait(ReasonValidatorNotReady, "no validator has started yet with the genesis that the chain began with", shortly)
	}
	return hash, plan.Done("")
}

// startedWith is the hash of the genesis that a validator has blocks of; empty when it has none.
func startedWith(ctx context.Context, m Member) (string, plan.Outcome) {
	if m.Sidecar == nil {
		return "", plan.Wait(ReasonValidatorNotReady, fmt.Sprintf("waiting for the sidecar of %s", m.Name), shortly)
	}
	seen, err := m.Sidecar.Node(ctx)
	if err != nil {
		return "", callFailed(m, api.ExportGenesis, err)
	}
	if !hasBlocks(seen) {
		return "", plan.Done("")
	}
	return seen.Home.GenesisHash, plan.Done("")
}

func wordsOf(m Member, o plan.Outcome) string {
	if o.IsWait() {
		return o.Message
	}
	return strings.TrimPrefix(o.Err.Error(), m.Name+": ") + " (" + m.Name + ")"
}

// exported is the genesis of one node, if it is the one with the hash.
func exported(ctx context.Context, m Member, id, hash string) (wire.ExportedGenesis, plan.Outcome) {
	var result wire.ExportedGenesis
	level, o := levelOf(ctx, m)
	if !o.IsDone() {
		return result, o
	}
	if level < api.LevelGenesis {
		return result, plan.Terminal(ReasonSidecarTooOld, errTooOld)
	}
	params := func() (any, error) { return wire.ExportGenesis{ExpectedGenesisHash: hash}, nil }
	return result, run(ctx, m, id, api.ExportGenesis, params, &result)
}

func storeRestored(ctx context.Context, env *Env, m Member, genesis, hash string) plan.Outcome {
	packed, file, err := verified(genesis, hash)
	if err != nil {
		return plan.Retry(fmt.Errorf("%s: %w", m.Name, err))
	}
	return store(ctx, env, packed, file)
}

// assembleAgain is the way of sidecars that hand out no genesis: the first validator gives the
// same bytes for the same transactions.
func assembleAgain(ctx context.Context, env *Env, task *v1alpha1.PlannedTask, hash string) plan.Outcome {
	if o := fetch(ctx, env, task.ID); !o.IsDone() {
		return o
	}
	first := env.Members[0]
	var made wire.AssembledGenesis
	if o := run(ctx, first, memberID(task.ID, "assemble", first), api.AssembleGenesis, assembleParams(env), &made); !o.IsDone() {
		return o
	}
	if made.GenesisHash != hash {
		return plan.Terminal(ReasonHashDiffers, fmt.Errorf("the genesis that %s makes has SHA-256 %s, but the chain started with %s: "+
			"restore ConfigMap %s from a backup", first.Name, made.GenesisHash, hash, fleet.GenesisName(env.Fleet.Name)))
	}
	return storeRestored(ctx, env, first, made.Genesis, hash)
}
