package task

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/peers"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// noteConfig records in the plan which configuration a task writes.
func noteConfig(env *Env, task *v1alpha1.PlannedTask) error {
	raw, err := json.Marshal(domain.ConfigParams{ConfigHash: env.Config.Hash()})
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
	params := wire.ConfigApply{Mode: env.Config.Mode, Overrides: env.Config.Overrides, Moniker: env.Node.Name}
	if env.level() >= api.LevelNode {
		params.ConfigHash = env.Config.Hash()
	}
	return params, nil
}

// markReadyParams say what the gate is opened for, so that it stays closed if anything else is
// there by then: another configuration, another key.
func markReadyParams(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	if env.level() < api.LevelNode {
		return nil, nil
	}
	hash := cmp.Or(domain.WrittenConfig(env.Node.Status.Plan), env.Document.Home.ConfigHash)
	return Opening(env.Node, hash, env.Facts.ConsensusAddress, env.Render.Platform.Sidecar.StandingPermission.Duration), nil
}

// Opening asks to open a node's gate for a configuration and, if the node signs, for the consensus
// address that is reserved for it. Nodes that do not sign get a standing permission.
func Opening(node *v1alpha1.SeiNode, configHash, address string, permission time.Duration) wire.MarkReady {
	params := wire.MarkReady{Expect: &wire.Expectation{ConfigHash: configHash}}
	if node.Spec.Signs() {
		params.Expect.ConsensusAddress = address
	} else if permission > 0 {
		params.Permission = permission.String()
	}
	return params
}

var errNoSource = errors.New("the spec no longer has this snapshot source")

func snapshotRestoreParams(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	if s := env.Node.Spec.Snapshot(); s == nil || s.S3 == nil {
		return nil, errNoSource
	}
	source := env.Node.Spec.Snapshot().S3
	// A sidecar that does not know requireVerified refuses the task, and rightly so.
	params := wire.SnapshotRestore{TargetHeight: source.TargetHeight, RequireVerified: source.RequireVerified}
	if env.level() >= api.LevelNode {
		params.TrustPeriod = env.Node.Spec.Snapshot().TrustPeriod
	}
	return params, nil
}

// ReasonNoWitness says that nobody can be asked for a block to trust yet.
const ReasonNoWitness = "NoWitness"

// stateSyncParams names the witnesses.
func stateSyncParams(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	s := env.Node.Spec.Snapshot()
	if s == nil {
		return nil, errNoSource
	}
	servers, err := witnesses(ctx, env, s)
	if err != nil {
		return nil, err
	}
	return wire.ConfigureStateSync{
		UseLocalSnapshot: s.S3 != nil,
		TrustPeriod:      s.TrustPeriod,
		BackfillBlocks:   s.BackfillBlocks,
		RPCServers:       servers,
	}, nil
}

func witnesses(ctx context.Context, env *Env, s *v1alpha1.SnapshotSource) ([]string, error) {
	servers, waiting, err := Witnesses(ctx, env.Client, env.Node, env.Observed.Peers, s.RPCServers, env.Render.Platform)
	if waiting != "" {
		return nil, &missingInputError{reason: ReasonNoWitness, message: waiting, after: shortly, untimed: true}
	}
	return servers, err
}

// Witnesses are who vouches for a block to trust: those that are named, then those the operator is
// configured with for the chain, then the peers of the cluster that are in sync; waiting says that
// there will be some. With none the sidecar asks the peers.
func Witnesses(
	ctx context.Context, nodes client.Reader, node *v1alpha1.SeiNode, resolved []string, named []v1alpha1.HostPort, settings *platform.Config,
) (servers []string, waiting string, err error) {
	for _, server := range named {
		servers = append(servers, string(server))
	}
	if len(servers) > 0 {
		return servers, "", nil
	}
	if servers = settings.StateSync.Syncers[node.Spec.ChainID]; len(servers) > 0 {
		return servers, "", nil
	}
	servers, waiting, err = peers.Witnesses(ctx, nodes, node, resolved, settings)
	if err != nil {
		return nil, "", fmt.Errorf("looking for witnesses: %w", err)
	}
	return servers, waiting, nil
}
