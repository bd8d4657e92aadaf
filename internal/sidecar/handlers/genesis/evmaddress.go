package genesis

import (
	"encoding/hex"
	"errors"
	"math/big"

	"golang.org/x/crypto/sha3"
)

// fieldPrime is the prime of the curve secp256k1: 2^256 - 2^32 - 977.
var fieldPrime, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f", 16)

// evmAddress is the address that the EVM side of the chain gives to a key: the
// end of the Keccak hash of the uncompressed point.
func evmAddress(compressed []byte) (string, error) {
	if len(compressed) != 33 || (compressed[0] != 2 && compressed[0] != 3) {
		return "", errors.New("not a compressed secp256k1 key")
	}
	x := new(big.Int).SetBytes(compressed[1:])
	square := new(big.Int).Exp(x, big.NewInt(3), fieldPrime)
	square.Add(square, big.NewInt(7)).Mod(square, fieldPrime)
	y := new(big.Int).ModSqrt(square, fieldPrime)
	if y == nil || x.Cmp(fieldPrime) >= 0 {
		return "", errors.New("not a point of the curve")
	}
	if y.Bit(0) != uint(compressed[0]&1) {
		y.Sub(fieldPrime, y)
	}
	point := make([]byte, 64)
	x.FillBytes(point[:32])
	y.FillBytes(point[32:])
	hash := sha3.NewLegacyKeccak256()
	hash.Write(point)
	return "0x" + hex.EncodeToString(hash.Sum(nil)[12:]), nil
}
