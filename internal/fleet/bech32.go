package fleet

import (
	"errors"
	"fmt"
	"strings"
)

// addressPrefix is what account addresses of the chain begin with.
const addressPrefix = "sei"

const bech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// checkAddress verifies an account address: its prefix, its checksum, and that it is
// as long as an account's or a contract's.
func checkAddress(address string) error {
	prefix, data, found := strings.Cut(address, "1")
	if !found || prefix != addressPrefix {
		return fmt.Errorf("%q does not begin with %s1", address, addressPrefix)
	}
	values := make([]byte, 0, len(data))
	for _, c := range data {
		at := strings.IndexRune(bech32Alphabet, c)
		if at < 0 {
			return fmt.Errorf("%q holds the character %q, which addresses do not have", address, c)
		}
		values = append(values, byte(at))
	}
	const checksum = 6
	if len(values) <= checksum || bech32Polymod(append(bech32Expand(prefix), values...)) != 1 {
		return fmt.Errorf("the checksum of %q is wrong: a character was mistyped or left out", address)
	}
	if bytes := (len(values) - checksum) * 5 / 8; bytes != 20 && bytes != 32 {
		return errors.New("an address is of 20 or 32 bytes")
	}
	return nil
}

func bech32Expand(prefix string) []byte {
	out := make([]byte, 0, 2*len(prefix)+1)
	for i := range len(prefix) {
		out = append(out, prefix[i]>>5)
	}
	out = append(out, 0)
	for i := range len(prefix) {
		out = append(out, prefix[i]&31)
	}
	return out
}

func bech32Polymod(values []byte) uint32 {
	generator := [5]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3}
	sum := uint32(1)
	for _, v := range values {
		top := sum >> 25
		sum = (sum&0x1ffffff)<<5 ^ uint32(v)
		for i, g := range generator {
			if top>>i&1 == 1 {
				sum ^= g
			}
		}
	}
	return sum
}
