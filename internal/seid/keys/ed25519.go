package keys

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The type tags that key files carry. Nodes of this chain use no other curve.
const (
	typePrivateKey = "tendermint/PrivKeyEd25519"
	typePublicKey  = "tendermint/PubKeyEd25519"
)

// addressLength is how much of the public key's SHA-256 makes an address.
const addressLength = 20

// taggedKey is how key files hold one key.
type taggedKey struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

func (k *taggedKey) decode(field, wantType string, wantLength int) ([]byte, error) {
	switch {
	case k == nil:
		return nil, fmt.Errorf("%s is missing", field)
	case k.Type == "":
		return nil, fmt.Errorf("%s.type is missing", field)
	case k.Type != wantType:
		return nil, fmt.Errorf("%s.type is %q, want %q", field, k.Type, wantType)
	case k.Value == "":
		return nil, fmt.Errorf("%s.value is missing", field)
	}
	raw, err := base64.StdEncoding.DecodeString(k.Value)
	if err != nil {
		// The decoder's error names an offset only, but nothing about a private
		// key's text needs to be told.
		return nil, fmt.Errorf("%s.value is not base64", field)
	}
	if len(raw) != wantLength {
		return nil, fmt.Errorf("%s.value is %d bytes long, want %d", field, len(raw), wantLength)
	}
	return raw, nil
}

// privateKey decodes priv_key and checks that its second half, which the format
// repeats, is the public key of its first.
func privateKey(k *taggedKey) (ed25519.PublicKey, error) {
	raw, err := k.decode("priv_key", typePrivateKey, ed25519.PrivateKeySize)
	if err != nil {
		return nil, err
	}
	public, _ := ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize]).Public().(ed25519.PublicKey)
	if !bytes.Equal(public, raw[ed25519.SeedSize:]) {
		return nil, errors.New("priv_key.value is damaged: its public half does not belong to its private half")
	}
	return public, nil
}

func address(public ed25519.PublicKey) []byte {
	sum := sha256.Sum256(public)
	return sum[:addressLength]
}

// decodeObject reads exactly one JSON object. Syntax errors are told by their
// offset alone: the text around it may be a key.
func decodeObject(data []byte, into any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("is empty")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	err := dec.Decode(into)
	if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if typeErr.Field == "" {
			return errors.New("is not a JSON object")
		}
		return fmt.Errorf("%s is not a JSON %s", typeErr.Field, jsonKind(typeErr))
	}
	if err != nil {
		return fmt.Errorf("is not valid JSON (at byte %d)", dec.InputOffset())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("holds more than one JSON value")
	}
	return nil
}

func jsonKind(err *json.UnmarshalTypeError) string {
	if err.Type.Kind().String() == "string" {
		return "string"
	}
	return "object"
}
