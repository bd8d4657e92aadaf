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
	"strings"
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
	set := newSet(t, folder, id, 1)
	return set[0]
}

// newSet makes a chain of several validators. All have the same genesis, each has keys of its own.
func newSet(t *testing.T, folder, id string, size int) []chain {
	t.Helper()
	homes := make([]founder, size)
	first := &homes[0]
	for i := range homes {
		homes[i] = newFounder(t, folder, id)
		first.seid("add-genesis-account", homes[i].account(), "1000000000000usei")
	}
	for i := range homes {
		if i > 0 {
			homes[i].write("genesis.json", first.read("genesis.json"))
		}
		homes[i].seid("gentx", "founder", "100000000usei", "--chain-id", id, "--keyring-backend", "test")
		if i > 0 {
			first.takeGentx(homes[i])
		}
	}
	first.seid("collect-gentxs")
	set := make([]chain, size)
	keys := make([][]byte, size)
	for i, h := range homes {
		set[i] = chain{id: id, signingKey: h.read(v1alpha1.SecretKeySigningKey), nodeKey: h.read(v1alpha1.SecretKeyNodeKey)}
		keys[i] = set[i].signingKey
	}
	genesis := withValidators(t, first.read("genesis.json"), keys)
	for i := range set {
		set[i].genesis = genesis
	}
	return set
}

// founder is the home of somebody who founds a chain.
type founder struct {
	t            *testing.T
	binary, home string
}

func newFounder(t *testing.T, folder, id string) founder {
	t.Helper()
	f := founder{t: t, binary: filepath.Join(folder, "seid"), home: filepath.Join(t.TempDir(), "founder")}
	f.seid("init", "founder", "--chain-id", id, "--mode", "validator")
	f.seid("keys", "add", "founder", "--keyring-backend", "test")
	return f
}

func (f founder) seid(args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), f.binary, append(args, "--home", f.home)...)
	cmd.Env = []string{"HOME=" + f.home, "PATH=" + os.Getenv("PATH")}
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		// What seid prints after keys add holds a mnemonic, of a key nobody will use again.
		f.t.Fatalf("seid %s: %v\n%s%s", args[0], err, out.Bytes(), complaints.Bytes())
	}
	return strings.TrimSpace(out.String())
}

func (f founder) account() string {
	f.t.Helper()
	return f.seid("keys", "show", "founder", "-a", "--keyring-backend", "test")
}

func (f founder) read(name string) []byte {
	f.t.Helper()
	content, err := os.ReadFile(filepath.Join(f.home, "config", name))
	if err != nil {
		f.t.Fatal(err)
	}
	return content
}

func (f founder) write(name string, content []byte) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.home, "config", name), content, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// takeGentx adds another's genesis transaction to those of the founder.
func (f founder) takeGentx(other founder) {
	f.t.Helper()
	files, err := os.ReadDir(filepath.Join(other.home, "config", "gentx"))
	if err != nil || len(files) != 1 {
		f.t.Fatalf("%d genesis transactions, %v", len(files), err)
	}
	name := filepath.Join("gentx", files[0].Name())
	f.write(name, other.read(name))
}

// withValidators names the validators in the genesis itself: a chain of one does not start from its genesis transaction
// alone. It also makes one block a second, which several chains at once can keep up on a small machine.
func withValidators(t *testing.T, genesis []byte, signingKeys [][]byte) []byte {
	t.Helper()
	var document map[string]json.RawMessage
	var params map[string]any
	named := make([]map[string]any, 0, len(signingKeys))
	for _, file := range signingKeys {
		var key struct {
			Address string          `json:"address"`
			PubKey  json.RawMessage `json:"pub_key"`
		}
		decode(t, file, &key)
		named = append(named, map[string]any{"address": key.Address, "pub_key": key.PubKey, "power": "100", "name": "founder"})
	}
	decode(t, genesis, &document)
	decode(t, document["consensus_params"], &params)
	timeouts, ok := params["timeout"].(map[string]any)
	if !ok {
		t.Fatalf("the genesis has no consensus_params.timeout: %v", params)
	}
	timeouts["commit"] = "1000000000"
	document["consensus_params"] = encode(t, params)
	document["validators"] = encode(t, named)
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
