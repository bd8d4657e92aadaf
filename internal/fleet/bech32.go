package fleet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil/bech32"
)

// addressPrefix is what account addresses of the chain begin with.
const addressPrefix = "sei"

// checkAddress verifies an account address: its prefix, its checksum, and that it is
// as long as an account's or a contract's.
func checkAddress(address string) error {
	if !strings.HasPrefix(address, addressPrefix+"1") {
		return fmt.Errorf("%q does not begin with %s1", address, addressPrefix)
	}
	_, groups, version, err := bech32.DecodeGeneric(address)
	if character, ok := errors.AsType[bech32.ErrNonCharsetChar](err); ok {
		return fmt.Errorf("%q holds the character %q, which addresses do not have", address, rune(character))
	}
	if _, ok := errors.AsType[bech32.ErrInvalidChecksum](err); ok || err == nil && version != bech32.Version0 {
		return fmt.Errorf("the checksum of %q is wrong: a character was mistyped or left out", address)
	}
	if err != nil {
		return fmt.Errorf("%q is not an address: %w", address, err)
	}
	bytes, err := bech32.ConvertBits(groups, 5, 8, false)
	if err != nil || len(bytes) != 20 && len(bytes) != 32 {
		return fmt.Errorf("%q is not an address: those are of 20 or 32 bytes", address)
	}
	return nil
}
