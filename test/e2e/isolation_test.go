package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// The secrets of the test. The token's beginning is that of every token.
const (
	testPassphrase = "isolation-passphrase-4711"
	testAccountKey = "isolation-account-key-4711"
	tokenBeginning = "eyJhbGciOi"
	// snoop is where the test's sidecar image puts it: as the program that opens buckets, which this node has none of.
	snoop = "/opt/sei/sidecar-storage"
)

// Code that runs as seid, in its container, finds no secret of the sidecar: not in files, not in environments or memory,
// not through other processes. The same code in the sidecar's container finds them all, so that it would.
func TestIsolation_CodeInSeidsContainer_FindsNoSecretOfTheSidecar(t *testing.T) {
	s := found(t, "isolation")
	address, ring := s.operatorKeyring()
	node := s.validator("v")
	node.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: imageSnoop}
	node.Spec.Validator.OperatorKeyring = &v1alpha1.OperatorKeyringSource{Secret: &v1alpha1.OperatorKeyringSecret{
		SecretName: "ring", KeyName: "operator", PassphraseSecretRef: v1alpha1.SecretKeyRef{SecretName: "phrase", Key: "phrase"},
	}}
	s.create(node)
	s.awaitInSync("v")

	account := filepath.Join(home.Dir(home.DefaultPath).KeyringTest(), "planted.info")
	s.inContainer(render.ContainerSidecar, []byte(testAccountKey), account)
	if out, err := s.tryIn(render.ContainerSeid, []byte("x"), home.Dir(home.DefaultPath).Path("sidecar.bolt")); err == nil {
		t.Errorf("seid's container may write to the store of tasks: %s", out)
	}
	secrets := map[string]string{"passphrase": testPassphrase, "keyring": ring, "token": tokenBeginning, "account": testAccountKey}
	sidecar, seid := s.probe(render.ContainerSidecar, secrets), s.probe(render.ContainerSeid, secrets)
	for name := range secrets {
		if len(sidecar.Found[name]) == 0 {
			t.Errorf("the %s was not found in the sidecar's container: the test proves nothing: %+v", name, sidecar)
		}
		if places := seid.Found[name]; len(places) > 0 {
			t.Errorf("seid's container has the %s in %v", name, places)
		}
	}
	if seid.Files == 0 {
		t.Error("no file was read in seid's container")
	}
	s.wantOnlyItsOwn(seid)
	s.signsWithTheFile(address)
	s.awaitBlocks("v", 2)
}

// probed is what the snoop has found, see the program of that name.
type probed struct {
	Found     map[string][]string
	Processes []struct {
		PID                   int
		Command               string
		Environ, Root, Memory bool
	}
	Files int
}

// wantOnlyItsOwn checks that seid's container shows its own processes alone, of which only seid may be opened, whose user
// the code has. The gate is closed to it.
func (s *scenario) wantOnlyItsOwn(found probed) {
	s.t.Helper()
	commands := make([]string, 0, len(found.Processes))
	for _, p := range found.Processes {
		commands = append(commands, p.Command)
		if (p.Environ || p.Root || p.Memory) && p.Command != "seid" {
			s.t.Errorf("process %+v can be read", p)
		}
		if p.Command == "seid" && !p.Environ {
			s.t.Errorf("process %+v was not read although it could be: the test proves nothing", p)
		}
	}
	if diff := cmp.Diff([]string{"sidecar", "seid"}, commands); diff != "" {
		s.t.Errorf("processes that are visible (-want +got):\n%s", diff)
	}
}

func (s *scenario) probe(container string, secrets map[string]string) (found probed) {
	s.t.Helper()
	wanted, err := json.Marshal(secrets)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(s.inContainer(container, wanted), &found); err != nil {
		s.t.Fatalf("reading what was found in %s: %v", container, err)
	}
	return found
}

// tryIn runs the snoop. Secrets are handed over by its input: arguments are in the API server's audit log.
func (s *scenario) tryIn(container string, input []byte, args ...string) ([]byte, error) {
	command := append([]string{"-n", s.namespace, "exec", "-i", "v-0", "-c", container, "--", snoop}, args...)
	return s.kubectl(s.t.Context(), input, command...)
}

func (s *scenario) inContainer(container string, input []byte, args ...string) []byte {
	s.t.Helper()
	out, err := s.tryIn(container, input, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// operatorKeyring makes the Secrets of an encrypted keyring with one account. It returns the account's address and what
// its file begins with.
func (s *scenario) operatorKeyring() (address, beginning string) {
	s.t.Helper()
	dir := s.t.TempDir()
	run := func(args ...string) string {
		args = append(args, "--keyring-backend", "file", "--keyring-dir", dir, "--home", s.t.TempDir())
		cmd := exec.CommandContext(s.t.Context(), filepath.Join(s.seid, "seid"), args...)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		cmd.Stdin = strings.NewReader(strings.Repeat(testPassphrase+"\n", 4))
		out, err := cmd.Output()
		if err != nil {
			s.t.Fatalf("seid %s: %v", args[1], err)
		}
		return strings.TrimSpace(string(out))
	}
	run("keys", "add", "operator", "--no-backup")
	address = run("keys", "show", "operator", "--address")
	ring := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "ring"}, Data: map[string][]byte{}}
	files, err := filepath.Glob(filepath.Join(dir, "keyring-file", "*"))
	if err != nil || len(files) == 0 {
		s.t.Fatalf("the keyring has files %v, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		ring.Data[filepath.Base(file)] = content
	}
	s.create(ring)
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "phrase"}, StringData: map[string]string{"phrase": testPassphrase}})
	const enough = 300
	return address, string(ring.Data["operator.info"][:enough])
}

// signsWithTheFile has the sidecar open the keyring with the passphrase that it is given as a file. The account is not on
// the chain, which is as far as the task gets, and it names the account for that.
func (s *scenario) signsWithTheFile(address string) {
	s.t.Helper()
	s.runTask("vote", "v", func(spec *v1alpha1.SeiNodeTaskSpec) {
		spec.Kind = v1alpha1.TaskKindGovVote
		spec.GovVote = &v1alpha1.GovVote{GovTx: s.govTx(), ProposalID: 1, Option: "yes"}
	})
	await(s.t, taskTimeout, "the vote to be refused for its account", func(context.Context) (bool, string, error) {
		task := &v1alpha1.SeiNodeTask{}
		err := s.get("vote", task)
		said := describeTask(task)
		return task.Status.Phase == v1alpha1.NodeTaskFailed && strings.Contains(said, address), said, err
	})
}
