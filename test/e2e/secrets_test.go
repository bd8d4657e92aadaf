package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// leakerPod writes a secret to its log.
const leakerPod = "leaker"

// A validator that has every kind of Secret uses all of them: it signs blocks and, with the passphrase of its keyring, a
// proposal. TestMain looks for them afterwards, as for those of all other scenarios, in all that was written down. A pod
// that leaks on purpose shows that it would find them.
func TestSecrets_OfAValidatorThatUsesThemAll_AreWrittenDownNowhere(t *testing.T) {
	s := begin(t, "secrets")
	s.leakOnPurpose()
	passphrase := rand.Text()
	s.chain = s.chainWithKeyring("secrets-1", passphrase)
	s.create(s.chain.genesisMap(t))
	for _, secret := range s.chain.keySecrets() {
		s.create(secret)
	}
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "passphrase"}, Data: map[string][]byte{"passphrase": []byte(passphrase)}})
	s.giveAPullSecret()
	validator := s.validator("validator")
	validator.Spec.Validator.OperatorKeyring = &v1alpha1.OperatorKeyringSource{Secret: &v1alpha1.OperatorKeyringSecret{
		SecretName: "keyring", KeyName: keyringAccount,
		PassphraseSecretRef: v1alpha1.SecretKeyRef{SecretName: "passphrase", Key: "passphrase"},
	}}
	s.create(validator)
	s.awaitInSync("validator")
	s.runTask("propose", "validator", func(spec *v1alpha1.SeiNodeTaskSpec) {
		spec.Kind = v1alpha1.TaskKindGovSoftwareUpgrade
		spec.GovSoftwareUpgrade = &v1alpha1.GovSoftwareUpgrade{
			GovTx: s.govTx(), Title: "t", Description: "d", InitialDeposit: deposit, UpgradeName: plannedUpgrade, UpgradeHeight: plannedUpgradeHeight,
		}
	})
	if out := s.awaitTask("propose").Status.Outputs; out == nil || out.GovSoftwareUpgrade == nil || out.GovSoftwareUpgrade.TxHash == "" {
		t.Errorf("outputs of the proposal: %+v", out)
	}
}

// leakOnPurpose has a pod write a Secret to its log, and be gone.
func (s *scenario) leakOnPurpose() {
	s.t.Helper()
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "leaked"}, Data: map[string][]byte{"value": []byte(rand.Text())}})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: leakerPod}, Spec: restrictedPod(corev1.Container{
		// A client says which address it cannot reach.
		Name: "poller", Image: imagePoller, Args: []string{"http://127.0.0.1:1/$(VALUE)"},
		Env: []corev1.EnvVar{{Name: "VALUE", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "leaked"}, Key: "value",
		}}}},
	})}
	s.create(pod)
	await(s.t, inSyncTimeout, "the leak", func(ctx context.Context) (bool, string, error) {
		log, err := s.log(ctx, pod, "poller", false)
		return bytes.Contains(log, []byte("127.0.0.1:1/")), "", err
	})
	if err := s.Delete(s.t.Context(), pod); err != nil {
		s.t.Fatal(err)
	}
	s.evidence.mu.Lock()
	defer s.evidence.mu.Unlock()
	s.evidence.control = "Secret " + s.namespace + "/leaked"
}

// giveAPullSecret has all pods of the namespace come with credentials for a registry.
func (s *scenario) giveAPullSecret() {
	s.t.Helper()
	credentials := encode(s.t, map[string]any{"auths": map[string]any{
		"registry.invalid": map[string]string{"username": "puller", "password": rand.Text(), "auth": rand.Text()},
	}})
	s.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: credentials},
	})
	account := &corev1.ServiceAccount{}
	await(s.t, inSyncTimeout, "the account of the namespace", func(context.Context) (bool, string, error) {
		err := s.get("default", account)
		return err == nil, "", err
	})
	before := account.DeepCopy()
	account.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}}
	if err := s.Patch(s.t.Context(), account, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
}

// keyringAccount is the account in the keyring.
const keyringAccount = "proposer"

// chainWithKeyring is a chain on which an account has money whose key is in an encrypted keyring. The keyring is put
// into Secret keyring.
func (s *scenario) chainWithKeyring(id, passphrase string) chain {
	s.t.Helper()
	f := newFounder(s.t, s.seid, id)
	f.seid("add-genesis-account", f.account(), "1000000000000usei")
	ring := s.t.TempDir()
	f.seidWith(passphrase, "keys", "add", keyringAccount, "--no-backup", "--keyring-backend", "file", "--keyring-dir", ring)
	address := f.seidWith(passphrase, "keys", "show", keyringAccount, "-a", "--keyring-backend", "file", "--keyring-dir", ring)
	f.seid("add-genesis-account", address, "1000000000000usei", "--keyring-backend", "memory")
	f.seid("gentx", "founder", "100000000usei", "--chain-id", id, "--keyring-backend", "test")
	f.seid("collect-gentxs")
	signing := f.read(v1alpha1.SecretKeySigningKey)

	files, err := filepath.Glob(filepath.Join(ring, "keyring-file", "*"))
	if err != nil || len(files) == 0 {
		s.t.Fatalf("the keyring has %d files, %v", len(files), err)
	}
	data := map[string][]byte{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		data[filepath.Base(file)] = content
	}
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keyring"}, Data: data})
	return chain{
		id: id, genesis: withValidators(s.t, f.read("genesis.json"), [][]byte{signing}),
		signingKey: signing, nodeKey: f.read(v1alpha1.SecretKeyNodeKey),
	}
}

// seidWith runs a command that asks for a passphrase. What it says on the way is not shown.
func (f founder) seidWith(passphrase string, args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), f.binary, append(args, "--home", f.home)...)
	cmd.Env = []string{"HOME=" + f.home, "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = strings.NewReader(strings.Repeat(passphrase+"\n", 3))
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("seid %s: %v", strings.Join(args[:2], " "), err)
	}
	return strings.TrimSpace(string(out))
}
