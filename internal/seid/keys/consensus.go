package keys

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// ConsensusKeyFile is the name of the file, and of the Secret's data key, that
// holds the key a validator signs blocks with.
const ConsensusKeyFile = "priv_validator_key.json"

// ConsensusKey is the public side of a validator's signing key.
type ConsensusKey struct {
	// Address is 40 upper-case hex digits. Two nodes that sign with the same
	// address are slashed, so it is what the operator reserves.
	Address string
	// PublicKey is the key in base64, as genesis files spell it.
	PublicKey string
}

// ParseConsensusKey checks the content of a validator key file.
func ParseConsensusKey(data []byte) (ConsensusKey, error) {
	key, err := parseConsensusKey(data)
	if err != nil {
		return ConsensusKey{}, fmt.Errorf("%s: %w", ConsensusKeyFile, err)
	}
	return key, nil
}

func parseConsensusKey(data []byte) (ConsensusKey, error) {
	var file struct {
		Address string     `json:"address"`
		PubKey  *taggedKey `json:"pub_key"`
		PrivKey *taggedKey `json:"priv_key"`
	}
	if err := decodeObject(data, &file); err != nil {
		return ConsensusKey{}, err
	}
	derived, err := privateKey(file.PrivKey)
	if err != nil {
		return ConsensusKey{}, err
	}
	stated, err := file.PubKey.decode("pub_key", typePublicKey, ed25519.PublicKeySize)
	if err != nil {
		return ConsensusKey{}, err
	}
	if !bytes.Equal(stated, derived) {
		return ConsensusKey{}, errors.New("pub_key does not belong to priv_key")
	}
	want := strings.ToUpper(hex.EncodeToString(address(derived)))
	switch {
	case file.Address == "":
		return ConsensusKey{}, errors.New("address is missing")
	case !strings.EqualFold(file.Address, want):
		return ConsensusKey{}, fmt.Errorf("address is %q but the key's address is %q", file.Address, want)
	}
	return ConsensusKey{Address: want, PublicKey: base64.StdEncoding.EncodeToString(derived)}, nil
}
