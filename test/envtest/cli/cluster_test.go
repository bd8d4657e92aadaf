package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/cli"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// runAs runs a command line with a kubeconfig for a namespace, and returns what it printed.
func runAs(t *testing.T, config *rest.Config, namespace string, args ...string) (string, error) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		CurrentContext: "test",
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test", Namespace: namespace}},
		Clusters:       map[string]*clientcmdapi.Cluster{"test": {Server: config.Host, CertificateAuthorityData: config.CAData, CertificateAuthority: config.CAFile}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"test": {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, ClientCertificate: config.CertFile, ClientKey: config.KeyFile,
			Token: config.BearerToken, Impersonate: config.Impersonate.UserName, ImpersonateGroups: config.Impersonate.Groups,
		}},
	}, kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	var out, trouble bytes.Buffer
	factory := cli.NewFactory(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &trouble}, clock.RealClock{}, os.Getenv)
	root := cli.NewRoot(factory, "v0.0.0-test")
	root.SetArgs(append([]string{"--kubeconfig", kubeconfig}, args...))
	err = root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestCheck_OnARealAPIServer_SeesWhatIsThereAndWhatIsNot(t *testing.T) {
	env := envtest.Shared(t)
	got, err := runAs(t, env.Config, env.Namespace(t), "check")
	if err == nil {
		t.Error("a cluster without an operator is ready")
	}
	for _, line := range []string{
		"kubernetes OK version " + env.Version.GitVersion,
		"crds OK seinodes.sei.io has the fields of version v0.0.0-test",
		"operator FAILED no Deployment",
		"your-permissions OK",
		"volume-snapshots WARNING snapshot.storage.k8s.io/v1 is not served",
		"gateway-api WARNING",
		"clock OK",
		"sidecars OK",
	} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), line) {
			t.Errorf("there is no %q in\n%s", line, got)
		}
	}
}

func TestCheck_AUserWithoutRights_IsToldWhatIsMissing(t *testing.T) {
	env := envtest.Shared(t)
	got, _ := runAs(t, env.As("nobody"), env.Namespace(t), "check")
	got = strings.Join(strings.Fields(got), " ")
	for _, part := range []string{"your-permissions WARNING you may not: list seinodes.sei.io", "storage UNKNOWN", "sidecars UNKNOWN"} {
		if !strings.Contains(got, part) {
			t.Errorf("there is no %q in\n%s", part, got)
		}
	}
}

func TestReport_OnARealAPIServer_HoldsObjectsAndNoSecret(t *testing.T) {
	env := envtest.Shared(t)
	namespace := env.Namespace(t)
	const canary = "canary-0123456789-abcdef"
	secret, node := world.Secret("signing", "priv_validator_key.json", []byte(canary)), world.FullNode("n")
	secret.Namespace, node.Namespace = namespace, namespace
	if err := env.Client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if err := env.Client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	archive, err := runAs(t, env.Config, namespace, "report", "--file=-")
	if err != nil {
		t.Fatal(err)
	}
	files := unpack(t, archive)
	if !strings.Contains(files["objects/"+namespace+"/seinode/n.yaml"], "chainId") || !strings.Contains(files["objects/"+namespace+"/secrets.yaml"], "signing") {
		t.Errorf("node or Secret is missing in %d files", len(files))
	}
	if problems := files["problems.txt"]; problems != "" {
		t.Errorf("could not be collected: %s", problems)
	}
	for path, content := range files {
		if strings.Contains(content, canary) {
			t.Errorf("%s holds the content of a Secret", path)
		}
	}
}

// unpack returns the files of an archive, by their path below its folder.
func unpack(t *testing.T, archive string) map[string]string {
	t.Helper()
	zipped, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for reader := tar.NewReader(zipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		_, path, _ := strings.Cut(header.Name, "/")
		files[path] = string(content)
	}
}

func TestMigrate_OnARealAPIServer_PassesOverKindsThatAreNotThere(t *testing.T) {
	env := envtest.Shared(t)
	namespace := env.Namespace(t)
	node := world.FullNode("n")
	node.Namespace = namespace
	if err := env.Client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	got, err := runAs(t, env.Config, namespace, "migrate", "--dry-run")
	if err == nil || !strings.Contains(got, "SeiNode "+namespace+"/n") || !strings.Contains(got, "is not brought up yet") {
		t.Errorf("%v:\n%s", err, got)
	}
}
