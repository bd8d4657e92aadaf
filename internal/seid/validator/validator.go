// Package validator knows how the state of the chain tells how a validator stands: whether it is
// jailed, and how many blocks it has missed of those it may miss. It asks nobody: callers send the
// queries and hand in the answers.
package validator

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sei-operator/sei-operator/internal/seid/protofield"
)

// The queries of the application. The stores are asked for a key and answer with what it holds,
// nothing when there is none.
const (
	StakingPath  = "/store/staking/key"
	SlashingPath = "/store/slashing/key"
	ParamsPath   = "/cosmos.slashing.v1beta1.Query/Params"
)

// Prefixes of keys in the stores. The length of the address and the address follow.
const (
	prefixSigningInfo byte = 0x01
	prefixValidator   byte = 0x21
	prefixByConsensus byte = 0x22
)

// The numbers of the fields in cosmos/staking/v1beta1 and cosmos/slashing/v1beta1.
const (
	validatorJailed      protowire.Number = 3
	signingTombstoned    protowire.Number = 5
	signingMissed        protowire.Number = 6
	answerParams         protowire.Number = 1
	paramsWindow         protowire.Number = 1
	paramsMinimumSigned  protowire.Number = 2
	decimalPlaces        int64            = 18
	addressLength                         = 20
	longestOperatorBytes                  = 255
)

// SigningInfoKey is the key of what the validator with a consensus address has signed.
func SigningInfoKey(consensus []byte) []byte { return key(prefixSigningInfo, consensus) }

// OperatorKey is the key of the address of the operator of the validator with a consensus address.
func OperatorKey(consensus []byte) []byte { return key(prefixByConsensus, consensus) }

// Key is the key of the validator of an operator.
func Key(operator []byte) []byte { return key(prefixValidator, operator) }

func key(prefix byte, address []byte) []byte {
	return append([]byte{prefix, byte(len(address))}, address...)
}

// ParseAddress reads a consensus address as seid writes it.
func ParseAddress(text string) ([]byte, error) {
	address, err := hex.DecodeString(text)
	if err != nil || len(address) != addressLength {
		return nil, fmt.Errorf("%q is not a consensus address: want %d hex digits", text, 2*addressLength)
	}
	return address, nil
}

// CheckOperator reports whether an answer can be the address of an operator.
func CheckOperator(answer []byte) error {
	if len(answer) == 0 || len(answer) > longestOperatorBytes {
		return errors.New("the chain knows no validator with this consensus address")
	}
	return nil
}

// Jailed reads from a validator whether it is jailed.
func Jailed(validator []byte) bool { return protofield.Varint(validator, validatorJailed) != 0 }

// Signing is what the chain has counted of a validator.
type Signing struct {
	// Missed is how many of the last blocks it has not signed.
	Missed int64
	// Tombstoned: it has signed twice and never comes back.
	Tombstoned bool
}

// DecodeSigning reads a validator's signing info.
func DecodeSigning(info []byte) Signing {
	return Signing{Missed: int64(protofield.Varint(info, signingMissed)), Tombstoned: protofield.Varint(info, signingTombstoned) != 0}
}

// DecodeAllowed reads from the answer to ParamsPath how many of the last blocks a validator may miss
// before it is jailed.
func DecodeAllowed(answer []byte) (int64, error) {
	params := protofield.Bytes(answer, answerParams)
	window := int64(protofield.Varint(params, paramsWindow))
	share, ok := new(big.Int).SetString(string(protofield.Bytes(params, paramsMinimumSigned)), 10)
	if window <= 0 || !ok || share.Sign() < 0 {
		return 0, errors.New("the answer holds no window of blocks, or no share of them that has to be signed")
	}
	one := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimalPlaces), nil)
	signed := share.Mul(share, big.NewInt(window))
	signed.Quo(signed, one)
	return max(window-signed.Int64(), 0), nil
}
