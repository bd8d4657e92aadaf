package task

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// Reasons for waiting for a genesis.
const (
	// ReasonGenesisMissing says that the chain's genesis is not there yet.
	ReasonGenesisMissing = "GenesisMissing"
	// ReasonGenesisConflict says that there are two of them.
	ReasonGenesisConflict = "GenesisConflict"
)

// missingInputError is something a task needs that may still appear.
type missingInputError struct {
	reason, message string
	// after is how soon to look again; zero means that a watch tells.
	after time.Duration
	// untimed: it takes as long as it takes, for example a ceremony with a deadline of its own.
	untimed bool
}

func (e *missingInputError) Error() string { return e.message }

// wait is the outcome of a task whose input is missing.
func (e *missingInputError) wait() plan.Outcome {
	o := plan.Wait(e.reason, e.message, cmp.Or(e.after, someTime))
	if e.untimed {
		return o.Untimed()
	}
	return o
}

// findGenesis finds the genesis of the node's chain in its namespace; nil when there
// is none. A node that takes part in a ceremony takes that of its own fleet and no other.
func findGenesis(ctx context.Context, env *Env) (*corev1.ConfigMap, error) {
	list := &corev1.ConfigMapList{}
	err := env.Client.List(ctx, list, client.InNamespace(env.Node.Namespace),
		client.MatchingLabels{v1alpha1.LabelGenesis: env.Node.Spec.ChainID})
	if err != nil {
		return nil, fmt.Errorf("looking for the genesis of %s: %w", env.Node.Spec.ChainID, err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	return chooseGenesis(env.Node, list.Items)
}

// chooseGenesis picks the genesis that a node is meant to have. Two that differ are two chains of
// one name, and it is unclear which is meant.
func chooseGenesis(node *v1alpha1.SeiNode, found []corev1.ConfigMap) (*corev1.ConfigMap, error) {
	if owner := node.Labels[v1alpha1.LabelDeployment]; owner != "" && node.Spec.Validator != nil && node.Spec.Validator.GenesisCeremony != nil {
		found = slices.DeleteFunc(found, func(c corev1.ConfigMap) bool { return c.Name != fleet.GenesisName(owner) })
	}
	if len(found) == 0 {
		return nil, nil
	}
	for _, c := range found[1:] {
		if c.Annotations[v1alpha1.AnnotationGenesisHash] != found[0].Annotations[v1alpha1.AnnotationGenesisHash] {
			return nil, &missingInputError{reason: ReasonGenesisConflict, message: fmt.Sprintf(
				"ConfigMaps %s and %s hold different genesis files of chain %s: delete the wrong one", found[0].Name, c.Name, node.Spec.ChainID)}
		}
	}
	return &found[0], nil
}

// awaitGenesis waits until the ceremony this node takes part in has a result.
func awaitGenesis(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	genesis, err := findGenesis(ctx, env)
	if missing, ok := errors.AsType[*missingInputError](err); ok {
		return missing.wait()
	}
	if err != nil {
		return APIOutcome("waiting for the genesis", err)
	}
	if genesis == nil {
		return plan.Wait(ReasonGenesisMissing, "waiting for the ceremony of "+env.Node.Spec.ChainID, someTime)
	}
	return plan.Done("")
}

// configureGenesisParams hands the genesis over if there is one in the namespace, and
// waits for it while a fleet there is still making it. Otherwise the sidecar knows the
// chain, or fetches its genesis from the bucket.
func configureGenesisParams(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	genesis, err := findGenesis(ctx, env)
	if err != nil {
		return nil, err
	}
	if genesis == nil {
		return nil, ceremonyPending(ctx, env)
	}
	hash := genesis.Annotations[v1alpha1.AnnotationGenesisHash]
	if genesis.Annotations[v1alpha1.AnnotationGenesisInBucket] != "" {
		return wire.ConfigureGenesis{ExpectedGenesisHash: hash}, nil
	}
	data := genesis.BinaryData[v1alpha1.GenesisDataKey]
	if len(data) == 0 {
		return nil, &missingInputError{
			reason: ReasonGenesisMissing, message: fmt.Sprintf("ConfigMap %s has no binary data %s", genesis.Name, v1alpha1.GenesisDataKey),
		}
	}
	return wire.ConfigureGenesis{
		Genesis:             base64.StdEncoding.EncodeToString(data),
		ExpectedGenesisHash: hash,
	}, nil
}

// ceremonyPending is an error that asks to wait if a fleet of the namespace founds the
// node's chain.
func ceremonyPending(ctx context.Context, env *Env) error {
	fleets := &v1alpha1.SeiNodeDeploymentList{}
	if err := env.Client.List(ctx, fleets, client.InNamespace(env.Node.Namespace)); err != nil {
		return fmt.Errorf("looking for the founders of %s: %w", env.Node.Spec.ChainID, err)
	}
	for i := range fleets.Items {
		if g := fleets.Items[i].Spec.Genesis; g != nil && g.ChainID == env.Node.Spec.ChainID {
			return &missingInputError{reason: ReasonGenesisMissing, untimed: true, message: fmt.Sprintf(
				"waiting for the genesis of %s: the ceremony of SeiNodeDeployment %s is not complete, and its condition %s says why",
				env.Node.Spec.ChainID, fleets.Items[i].Name, v1alpha1.ConditionGenesisCeremonyComplete)}
		}
	}
	return nil
}

func identityParams(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	return wire.GenerateIdentity{ChainID: env.Node.Spec.ChainID, Moniker: env.Node.Name}, nil
}

func gentxParams(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	c := env.Node.Spec.Validator.GenesisCeremony
	return wire.GenerateGentx{ChainID: c.ChainID, StakingAmount: c.StakingAmount, AccountBalance: c.AccountBalance}, nil
}

func genesisPeersParams(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	peers := env.Observed.Peers
	if len(peers) == 0 && env.Render.Platform.Buckets.Genesis == "" {
		peers = []string{} // there is no list to take them from
	}
	return wire.SetGenesisPeers{Peers: peers}, nil
}
