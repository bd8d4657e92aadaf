package install_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"testing"
)

// newKeys makes the files of a validator's two keys; no chain knows them.
func newKeys(t *testing.T) (signing, node []byte) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.StdEncoding.EncodeToString
	address := sha256.Sum256(public)
	signing = fmt.Appendf(nil,
		`{"address":"%X","pub_key":{"type":"tendermint/PubKeyEd25519","value":%q},"priv_key":{"type":"tendermint/PrivKeyEd25519","value":%q}}`,
		address[:20], encode(public), encode(private))
	_, private, err = ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	node = fmt.Appendf(nil, `{"priv_key":{"type":"tendermint/PrivKeyEd25519","value":%q}}`, encode(private))
	return signing, node
}
