package install_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// output keeps what a process writes while it runs.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// await waits until something is in the output.
func (o *output) await(t *testing.T, text string) {
	t.Helper()
	timeout := time.After(envtest.WaitTimeout)
	for tick := time.Tick(10 * time.Millisecond); !strings.Contains(o.String(), text); {
		select {
		case <-timeout:
			t.Fatalf("%q is not in the output:\n%s", text, o.String())
		case <-tick:
		}
	}
}

// The binary itself, as the pod would run it: it takes the lease, ends on SIGTERM
// with status 0, gives the lease back, and every line it logs is JSON.
func TestBinary_Signal_EndsCleanly(t *testing.T) {
	env := install(t)
	dir := t.TempDir()
	binary := filepath.Join(dir, "manager")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/manager")
	build.Dir = env.Root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the manager: %v\n%s", err, out)
	}
	tokenFile := filepath.Join(dir, "token")
	if err := os.WriteFile(tokenFile, []byte(token(t, env, namespace, account, "sei-sidecar")), 0o600); err != nil {
		t.Fatal(err)
	}
	var log output
	cmd := exec.CommandContext(t.Context(), binary, "--kubeconfig="+kubeconfig(t, env, dir), "--sidecar-token-file="+tokenFile,
		"--metrics-bind-address="+freeAddress(t), "--health-probe-bind-address="+freeAddress(t))
	cmd.Env = append(os.Environ(), "POD_NAMESPACE="+namespace, "TMPDIR="+dir)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })

	envtest.WaitFor(t, env, namespace, "sei-operator.sei.io", func(l *coordinationv1.Lease) bool {
		return l != nil && ptr.Deref(l.Spec.HolderIdentity, "") != ""
	})
	// A signal between the lease's being written and the answer's being read would leave
	// a lease that the process does not know it has.
	log.await(t, "Starting Controller")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the manager ended with %v:\n%s", err, log.String())
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("the manager did not end:\n%s", log.String())
	}
	lease := envtest.WaitFor(t, env, namespace, "sei-operator.sei.io", func(l *coordinationv1.Lease) bool { return l != nil })
	if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" {
		t.Errorf("the lease is still held by %s", holder)
	}
	checkLog(t, log.String())
}

func checkLog(t *testing.T, text string) {
	t.Helper()
	messages := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewBufferString(text))
	for lines.Scan() {
		var line map[string]any
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Errorf("not JSON: %s", lines.Text())
			continue
		}
		for _, key := range []string{"ts", "level", "msg"} {
			if _, ok := line[key]; !ok {
				t.Errorf("no %s in %s", key, lines.Text())
			}
		}
		messages[line["msg"].(string)] = true
	}
	if !messages["starting"] || !messages["stopped"] {
		t.Errorf("start or end is not in the log:\n%s", text)
	}
}

// kubeconfig lets the binary be the manifests' service account.
func kubeconfig(t *testing.T, env *envtest.Env, dir string) string {
	t.Helper()
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: env.Config.Host, CertificateAuthorityData: env.Config.CAData}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token(t, env, namespace, account)}
	k.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "c"
	path := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		t.Fatal(err)
	}
	return path
}
