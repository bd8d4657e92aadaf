package genesis

import (
	"encoding/hex"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"golang.org/x/crypto/sha3"
)

// evmAddress is the address that the EVM side of the chain gives to a key: the
// end of the Keccak hash of the uncompressed point.
func evmAddress(compressed []byte) (string, error) {
	if len(compressed) != secp256k1.PubKeyBytesLenCompressed {
		return "", fmt.Errorf("a compressed secp256k1 key is of %d bytes, and this one of %d", secp256k1.PubKeyBytesLenCompressed, len(compressed))
	}
	key, err := secp256k1.ParsePubKey(compressed)
	if err != nil {
		return "", fmt.Errorf("reading a secp256k1 key: %w", err)
	}
	hash := sha3.NewLegacyKeccak256()
	hash.Write(key.SerializeUncompressed()[1:]) // without the byte that names the format
	return "0x" + hex.EncodeToString(hash.Sum(nil)[12:]), nil
}
