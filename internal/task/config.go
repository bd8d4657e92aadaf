package task

import (
	"context"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// ConfigParams is what a configuration task keeps in its plan: which configuration it
// has written. The configuration itself goes to the sidecar only.
type ConfigParams struct {
	ConfigHash string `json:"configHash"`
}

// noteConfig records in the plan which configuration a task writes.
func noteConfig(env *Env, task *v1alpha1.PlannedTask) error {
	raw, err := json.Marshal(ConfigParams{ConfigHash: env.Wanted.ConfigHash})
	if err != nil {
		return fmt.Errorf("encoding parameters: %w", err)
	}
	task.Params = &apiextensionsv1.JSON{Raw: raw}
	return nil
}

func configApplyParams(_ context.Context, env *Env, task *v1alpha1.PlannedTask) (any, error) {
	if err := noteConfig(env, task); err != nil {
		return nil, err
	}
	return wire.ConfigApply{Mode: env.Config.Mode, Overrides: env.Config.Overrides, Moniker: env.Node.Name}, nil
}

func snapshotRestoreParams(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	return wire.SnapshotRestore{TargetHeight: env.Node.Spec.Snapshot().S3.TargetHeight}, nil
}

// stateSyncParams names the witnesses: those of the spec, then those the operator is
// configured with for the chain; with neither the sidecar asks the peers.
func stateSyncParams(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	s := env.Node.Spec.Snapshot()
	servers := make([]string, 0, len(s.RPCServers))
	for _, server := range s.RPCServers {
		servers = append(servers, string(server))
	}
	if len(servers) == 0 {
		servers = env.Render.Platform.StateSync.Syncers[env.Node.Spec.ChainID]
	}
	return wire.ConfigureStateSync{
		UseLocalSnapshot: s.S3 != nil,
		TrustPeriod:      s.TrustPeriod,
		BackfillBlocks:   s.BackfillBlocks,
		RPCServers:       servers,
	}, nil
}
