package ceremony

import (
	"context"
	"fmt"
	"sync"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// publishGenesis puts the genesis into the bucket, together with what it was made
// from. The sidecars do it: the operator has no access to buckets. A genesis that is there
// already is never replaced; a sidecar that would is not asked.
func publishGenesis(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) plan.Outcome {
	made, o := assembled(ctx, env)
	if !o.IsDone() {
		return o
	}
	if o := onAnotherChain(ctx, env, made.GenesisHash); !o.IsDone() {
		return o
	}
	if o := knowsLevel(ctx, env.Members, "publish a genesis without replacing another"); !o.IsDone() {
		return o
	}
	if o := uploadArtifacts(ctx, env, task.ID); !o.IsDone() {
		return o
	}
	params := func() (any, error) {
		spec := env.Fleet.Spec.Genesis
		nodes := make([]wire.NodeRef, 0, len(env.Members))
		for _, m := range env.Members {
			nodes = append(nodes, wire.NodeRef{Name: m.Name})
		}
		return wire.AssembleAndUploadGenesis{
			AccountBalance: spec.AccountBalance, Namespace: env.Fleet.Namespace, Nodes: nodes,
			Accounts: accounts(spec), Overrides: overrides(spec), ExpectedGenesisHash: made.GenesisHash,
		}, nil
	}
	var published wire.UploadedGenesis
	if o := run(ctx, env.Members[0], memberID(task.ID, "publish", env.Members[0]), api.AssembleAndUploadGenesis, params, &published); !o.IsDone() {
		return o
	}
	if published.GenesisHash != made.GenesisHash {
		return plan.Terminal(ReasonHashDiffers, fmt.Errorf("the bucket got a genesis with SHA-256 %s, the validators made %s: "+
			"another chain of this id may use the same bucket", published.GenesisHash, made.GenesisHash))
	}
	return plan.Done("")
}

// knowsLevel makes sure that the sidecars are not too old for what is asked of them.
func knowsLevel(ctx context.Context, members []Member, what string) plan.Outcome {
	for _, m := range members {
		level, o := levelOf(ctx, m)
		switch {
		case !o.IsDone():
			return o
		case level < api.LevelGenesis:
			return plan.Terminal(ReasonSidecarTooOld, fmt.Errorf("the sidecar of %s has API level %d and cannot %s: "+
				"use a sidecar image of API level %d, or unset buckets.genesis", m.Name, level, what, api.LevelGenesis))
		}
	}
	return plan.Done("")
}

func uploadArtifacts(ctx context.Context, env *Env, taskID string) plan.Outcome {
	outcomes := make([]plan.Outcome, len(env.Members))
	var all sync.WaitGroup
	for i, m := range env.Members {
		all.Go(func() {
			params := func() (any, error) { return wire.UploadGenesisArtifacts{NodeName: m.Name}, nil }
			outcomes[i] = run(ctx, m, memberID(taskID, "upload", m), api.UploadGenesisArtifacts, params, nil)
		})
	}
	all.Wait()
	if o, bad := worst(outcomes); bad {
		return o
	}
	return plan.Done("")
}
