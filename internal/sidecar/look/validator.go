package look

import (
	"context"
	"fmt"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/seid/validator"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// validatorState is how a validator stands in its chain.
type validatorState struct {
	validator.Signing

	jailed bool
	// allowed is how many of the last blocks it may miss.
	allowed int64
}

// validatorState asks the chain's state about a node that signs; nil for others, without an answer, and
// for a key that is no validator's yet.
func (l *Look) validatorState(ctx context.Context, doc api.Node) *validatorState {
	if !doc.Home.Signs || doc.Sync.Height == 0 || l.RPC == nil {
		return nil
	}
	return l.validators.get(ctx, processOf(doc.Seid), func(ctx context.Context) *validatorState {
		s, err := askValidator(ctx, l.RPC(), doc.Home.ConsensusAddress)
		if err != nil {
			l.Log.Debug("asking how the validator stands", "error", err)
			return nil
		}
		return s
	})
}

// askValidator asks for what is known of a consensus address: that of the key on the volume or, with a
// signer elsewhere, the one that the node names.
func askValidator(ctx context.Context, node *rpc.Client, address string) (*validatorState, error) {
	if address == "" {
		status, err := node.Status(ctx)
		if err != nil {
			return nil, err
		}
		address = status.ValidatorInfo.Address
	}
	consensus, err := validator.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	operator, err := query(ctx, node, validator.StakingPath, validator.OperatorKey(consensus))
	if err != nil {
		return nil, fmt.Errorf("querying the operator: %w", err)
	}
	if err := validator.CheckOperator(operator); err != nil {
		return nil, err
	}
	record, err := query(ctx, node, validator.StakingPath, validator.Key(operator))
	if err != nil {
		return nil, fmt.Errorf("querying the validator: %w", err)
	}
	info, err := query(ctx, node, validator.SlashingPath, validator.SigningInfoKey(consensus))
	if err != nil {
		return nil, fmt.Errorf("querying the signing info: %w", err)
	}
	params, err := query(ctx, node, validator.ParamsPath, nil)
	if err != nil {
		return nil, fmt.Errorf("querying the slashing params: %w", err)
	}
	allowed, err := validator.DecodeAllowed(params)
	if err != nil {
		return nil, err
	}
	return &validatorState{Signing: validator.DecodeSigning(info), jailed: validator.Jailed(record), allowed: allowed}, nil
}
