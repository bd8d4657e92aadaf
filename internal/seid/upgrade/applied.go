package upgrade

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// AppliedPath is the application query that, asked with AppliedPrefix, answers with all upgrades that
// are applied.
const AppliedPath = "/store/upgrade/subspace"

// AppliedPrefix is the prefix of their keys in the store of the upgrade module.
var AppliedPrefix = []byte{0x01}

// Applied is an upgrade that is applied to a state.
type Applied struct {
	Name   string
	Height int64
}

// The numbers of the fields in cosmos/base/kv/v1beta1.
const (
	pairsPair protowire.Number = 1
	pairKey   protowire.Number = 1
	pairValue protowire.Number = 2
)

// DecodeApplied decodes the answer to AppliedPath, newest first.
func DecodeApplied(answer []byte) ([]Applied, error) {
	var all []Applied
	err := eachField(answer, func(number protowire.Number, value field) error {
		if number != pairsPair {
			return nil
		}
		applied, err := decodeApplied(value.bytes)
		all = append(all, applied)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("decoding the applied upgrades: %w", err)
	}
	slices.SortStableFunc(all, func(a, b Applied) int { return cmp.Compare(b.Height, a.Height) })
	return all, nil
}

// decodeApplied decodes a pair: the name follows the prefix in the key, and the value is the height.
func decodeApplied(message []byte) (Applied, error) {
	var key, value []byte
	err := eachField(message, func(number protowire.Number, found field) error {
		switch number {
		case pairKey:
			key = found.bytes
		case pairValue:
			value = found.bytes
		default: // a field we do not need
		}
		return nil
	})
	if err != nil {
		return Applied{}, err
	}
	name, ok := bytes.CutPrefix(key, AppliedPrefix)
	if !ok || len(value) != 8 {
		return Applied{}, fmt.Errorf("key %x with value %x", key, value)
	}
	return Applied{Name: string(name), Height: int64(binary.BigEndian.Uint64(value))}, nil
}
