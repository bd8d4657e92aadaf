package genesis

import (
	"encoding/hex"
	"strings"
	"testing"
)

func TestEVMAddress(t *testing.T) {
	// The point of private key 1, and the one opposite.
	const x = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
	tests := map[string]struct{ key, want, problem string }{
		"even":           {"02" + x, "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf", ""},
		"odd":            {"03" + x, "0x80c0dbf239224071c59dd8970ab9d542e3414ab2", ""},
		"uncompressed":   {"04" + x + x, "", "is of 33 bytes, and this one of 65"},
		"other format":   {"05" + x, "", "reading a secp256k1 key"},
		"not on it":      {"02" + strings.Repeat("0", 63) + "5", "", "reading a secp256k1 key"},
		"above the rest": {"02" + strings.Repeat("f", 64), "", "reading a secp256k1 key"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			key, err := hex.DecodeString(tc.key)
			if err != nil {
				t.Fatal(err)
			}
			got, err := evmAddress(key)
			if got != tc.want || (err == nil) != (tc.problem == "") || err != nil && !strings.Contains(err.Error(), tc.problem) {
				t.Errorf("evmAddress = %q, %v, want %q, %q", got, err, tc.want, tc.problem)
			}
		})
	}
}
