package task

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

var openGate = onSidecar(api.MarkReady, markReadyParams)

// markReady opens the gate.
func markReady(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) plan.Outcome {
	if task.SubmittedAt == nil {
		if outcome, copied := copiedKey(ctx, env); copied {
			return outcome
		}
	}
	return openGate(ctx, env, task)
}

// copiedKey finds the key of a validator on the volume of a node that does not sign: the volume is
// a copy of that validator's. Such a node would not sign, but the key of a live validator does not
// belong there. It is looked for while the node is brought up; one that was up is not taken down for a
// key that it does not use.
func copiedKey(ctx context.Context, env *Env) (outcome plan.Outcome, copied bool) {
	spec := &env.Node.Spec
	if spec.Signs() || !mayBeCopy(env) || domain.Initialized(&env.Node.Status) || env.level() < api.LevelNode {
		return plan.Outcome{}, false
	}
	address := env.Document.Home.ConsensusAddress
	if address == "" {
		return plan.Outcome{}, false
	}
	holder, err := otherHolder(ctx, env, address)
	switch {
	case apierrors.IsNotFound(err) || err == nil && holder == nil:
		return plan.Outcome{}, false
	case err != nil:
		return APIOutcome("looking for the holder of the consensus key", err), true
	}
	return plan.Wait(v1alpha1.ReasonKeyInUse, fmt.Sprintf(
		"the volume holds consensus key %s, which is in use by SeiNode %s: it is a copy of a validator's volume. "+
			"Remove config/priv_validator_key.json and data/priv_validator_state.json from it, or use another volume",
		address, holderName(holder)), someTime), true
}

// mayBeCopy reports whether the node's volume may have held data before the node was made. One that
// was made empty for the node is not worth a question to the API server.
func mayBeCopy(env *Env) bool {
	claim := env.Observed.Claim
	return env.Node.Spec.ImportedClaim() != "" || claim != nil &&
		(claim.Spec.DataSource != nil || claim.Spec.DataSourceRef != nil || claim.CreationTimestamp.Before(&env.Node.CreationTimestamp))
}
