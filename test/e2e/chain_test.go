package e2e

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// chain is a new chain of one validator, made on this machine as its founder would: the genesis for everyone, the keys
// for the one validator.
type chain struct {
	id         string
	genesis    []byte
	signingKey []byte
	nodeKey    []byte
}

// newChain makes the genesis with the chain's own commands. folder is where seid is.
func newChain(t *testing.T, folder, id string) chain {
	t.Helper()
	home := filepath.Join(t.TempDir(), "founder")
	seid := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(folder, "seid"), append(args, "--home", home)...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		if out, err := cmd.CombinedOutput(); err != nil {
			// What seid prints after keys add holds a mnemonic, of a key nobody will use again.
			t.Fatalf("seid %s: %v\n%s", args[0], err, out)
		}
	}
	keyring := []string{"--keyring-backend", "test"}
	seid("init", "founder", "--chain-id", id, "--mode", "validator")
	seid(append([]string{"keys", "add", "founder"}, keyring...)...)
	seid(append([]string{"add-genesis-account", "founder", "1000000000000usei"}, keyring...)...)
	seid(append([]string{"gentx", "founder", "100000000usei", "--chain-id", id}, keyring...)...)
	seid("collect-gentxs")
	read := func(name string) []byte {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(home, "config", name))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	c := chain{id: id, signingKey: read(v1alpha1.SecretKeySigningKey), nodeKey: read(v1alpha1.SecretKeyNodeKey)}
	c.genesis = withValidator(t, read("genesis.json"), c.signingKey)
	return c
}

// withValidator names the validator in the genesis itself: a chain of one does not start from its genesis transaction
// alone. It also makes one block a second, which several chains at once can keep up on a small machine.
func withValidator(t *testing.T, genesis, signingKey []byte) []byte {
	t.Helper()
	var key struct {
		Address string          `json:"address"`
		PubKey  json.RawMessage `json:"pub_key"`
	}
	var document map[string]json.RawMessage
	var params map[string]any
	decode(t, signingKey, &key)
	decode(t, genesis, &document)
	decode(t, document["consensus_params"], &params)
	timeouts, ok := params["timeout"].(map[string]any)
	if !ok {
		t.Fatalf("the genesis has no consensus_params.timeout: %v", params)
	}
	timeouts["commit"] = "1000000000"
	document["consensus_params"] = encode(t, params)
	document["validators"] = encode(t, []map[string]any{
		{"address": key.Address, "pub_key": key.PubKey, "power": "100", "name": "founder"},
	})
	return encode(t, document)
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// genesisMap is the genesis as the operator finds it in a namespace.
func (c chain) genesisMap(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(c.genesis); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(c.genesis)
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: "genesis", Labels: map[string]string{v1alpha1.LabelGenesis: c.id},
			Annotations: map[string]string{v1alpha1.AnnotationGenesisHash: hex.EncodeToString(hash[:])},
		},
		BinaryData: map[string][]byte{v1alpha1.GenesisDataKey: packed.Bytes()},
	}
}

// keySecrets are the validator's keys.
func (c chain) keySecrets() []*corev1.Secret {
	secret := func(name, key string, value []byte) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{key: value}}
	}
	return []*corev1.Secret{
		secret("signing-key", v1alpha1.SecretKeySigningKey, c.signingKey),
		secret("node-key", v1alpha1.SecretKeyNodeKey, c.nodeKey),
	}
}
