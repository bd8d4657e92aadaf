package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/sidecar/crashtest"
)

// sidecar runs the real binary until it exits.
func sidecar(t *testing.T, env []string, args ...string) (code int, output string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), crashtest.Binary(t), args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	out, err := cmd.CombinedOutput()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestServe_BadEnvironment_EndsAtOnceWithTheReason(t *testing.T) {
	home := t.TempDir()
	for name, tc := range map[string]struct {
		env  []string
		want string
	}{
		"no chain":       {nil, "required environment variable SEI_CHAIN_ID is not set"},
		"unknown mode":   {[]string{"SEI_CHAIN_ID=x", "SEI_SIDECAR_AUTHN_MODE=magic"}, "SEI_SIDECAR_AUTHN_MODE"},
		"open anywhere":  {[]string{"SEI_CHAIN_ID=x", "SEI_SIDECAR_BIND_ADDRESS=0.0.0.0"}, "not a loopback address"},
		"bad port":       {[]string{"SEI_CHAIN_ID=x", "SEI_SIDECAR_PORT=http"}, "SEI_SIDECAR_PORT"},
		"store not ours": {[]string{"SEI_CHAIN_ID=x", "SEI_SIDECAR_PORT=0", "SEI_HOME=" + homeWithBrokenStore(t)}, "sidecar.bolt"},
	} {
		t.Run(name, func(t *testing.T) {
			code, output := sidecar(t, append([]string{"SEI_HOME=" + home}, tc.env...), "serve")
			if code != 1 || !strings.Contains(output, tc.want) {
				t.Errorf("exit %d: %s", code, output)
			}
		})
	}
}

func homeWithBrokenStore(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, storeName), []byte(strings.Repeat("garbage ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func TestInstall_CopiesItselfAndTheStorageProgram(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bin")
	for range 2 { // a pod that restarts installs again
		if code, output := sidecar(t, nil, "install", dir); code != 0 {
			t.Fatal(output)
		}
	}
	for name, source := range map[string]string{installedName: crashtest.Binary(t), storageName: storageBeside(crashtest.Binary(t))} {
		installed := filepath.Join(dir, name)
		info, err := os.Stat(installed)
		if err != nil || info.Mode().Perm() != 0o755 {
			t.Fatalf("%v %v, want no error and Perm 0o755", info, err)
		}
		want, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(installed); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: not the same bytes: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v %v, want no error and 2 of them", entries, err)
	}
}

func TestInit_WithoutAChain_SaysWhatIsMissing(t *testing.T) {
	if code, output := sidecar(t, nil, "init", "--home", t.TempDir()); code != 1 || !strings.Contains(output, "--chain-id or SEI_CHAIN_ID") {
		t.Errorf("exit %d: %s", code, output)
	}
	code, output := sidecar(t, []string{"SEI_CHAIN_ID=x", "SEI_KEYRING_BACKEND=pass"}, "init", "--home", t.TempDir())
	if code != 1 || !strings.Contains(output, "SEI_KEYRING_BACKEND") {
		t.Errorf("exit %d: %s", code, output)
	}
}

// gatePort opens the gate of a sidecar and returns the variable with its port.
func gatePort(s *crashtest.Sidecar) string {
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL(), "http://"))
	return "SEI_SIDECAR_PORT=" + port
}

func TestGate_OpensWhenTheSidecarIsMarkedReady(t *testing.T) {
	s := crashtest.Start(t, t.TempDir())
	cmd := exec.CommandContext(t.Context(), crashtest.Binary(t), "gate", "--", "sh", "-c", "echo passed $0 $PPID; exit 130", "with an argument")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), gatePort(s)}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.Run(api.MarkReady, nil)
	err := cmd.Wait()
	// The gate exits with the exit code of the command, and is its parent.
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 130 {
		t.Errorf("ended with %v", err)
	}
	if want := "passed with an argument "; !strings.HasPrefix(out.String(), want) ||
		strings.TrimSpace(strings.TrimPrefix(out.String(), want)) != pidOf(cmd) {
		t.Errorf("printed %q, pid %s", out.String(), pidOf(cmd))
	}
}

func pidOf(cmd *exec.Cmd) string {
	return strconv.Itoa(cmd.Process.Pid)
}

func TestGate_SignalWhileClosed_EndsIt(t *testing.T) {
	s := crashtest.Start(t, t.TempDir())
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := exec.CommandContext(t.Context(), crashtest.Binary(t), "gate", "--", "sh", "-c", "echo must not run")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), gatePort(s)}
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The first line says that it is waiting; from then on it handles signals.
		if _, err := stderr.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_, _ = bytes.NewBuffer(nil).ReadFrom(stderr)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exitTerminated {
			t.Errorf("%v: exit code %d", sig, code)
		}
	}
}

func TestGate_CommandThatDoesNotExist_Is127(t *testing.T) {
	if code, output := sidecar(t, nil, "gate", "--", "no-such-command"); code != exitNoCommand {
		t.Errorf("exit %d: %s", code, output)
	}
}

const operator = "system:serviceaccount:sei-system:sei-operator"

// startInPod starts the real binary in its default mode, as in the pod of node-0, and returns it with the signing
// key of the cluster's tokens.
func startInPod(t *testing.T, environment ...string) (*crashtest.Sidecar, *rsa.PrivateKey) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	apiServer := issuer(t, key)
	dir := t.TempDir()
	ca, podToken := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "token")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: apiServer.Certificate().Raw})
	if err := errors.Join(os.WriteFile(ca, block, 0o600), os.WriteFile(podToken, []byte("pod"), 0o600)); err != nil {
		t.Fatal(err)
	}
	environment = append(environment, "SEI_SIDECAR_AUTHN_MODE=kubernetes", "SEI_SIDECAR_BIND_ADDRESS=127.0.0.1",
		"SEI_SIDECAR_APISERVER_URL="+apiServer.URL, "SEI_SIDECAR_APISERVER_CA_FILE="+ca, "SEI_SIDECAR_APISERVER_TOKEN_FILE="+podToken,
		"SEI_SIDECAR_ALLOWED_SUBJECTS="+operator, "SEI_NODE_NAMESPACE=chain", "SEI_NODE_NAME=node-0", "SEI_POD_UID=7d2c")
	return crashtest.Start(t, t.TempDir(), environment...), key
}

// Tokens from the cluster's own issuer are accepted and others are not, and the sidecar knows which node it serves.
// A pod that does not have the UID of its node was made by an older operator, which has only the shared token.
func TestServe_KubernetesTokens(t *testing.T) {
	for name, c := range map[string]struct {
		environment      []string
		audience, closed string
	}{
		"its node's":                 {[]string{"SEI_NODE_UID=u-0"}, "sei-sidecar/chain/node-0/u-0", "sei-sidecar"},
		"a pod of an older operator": {nil, "sei-sidecar", "sei-sidecar/chain/node-0/u-0"},
	} {
		t.Run(name, func(t *testing.T) {
			s, key := startInPod(t, c.environment...)
			call := func(subject, audience, node string) error {
				pool := client.NewPool(client.Options{Tokens: token(sign(t, key, subject, audience, time.Hour))})
				defer pool.CloseIdle()
				_, err := pool.Sidecar(client.Target{Address: strings.TrimPrefix(s.URL(), "http://"), Node: node, PodUID: "7d2c"}).
					Submit(t.Context(), api.TaskRequest{Type: api.MarkReady})
				return err
			}
			if err := call(operator, c.audience, "chain/node-0"); err != nil {
				t.Errorf("the operator: %v", err)
			}
			if err := call(operator, c.closed, "chain/node-0"); !errors.Is(err, client.ErrUnauthorized) {
				t.Errorf("a token for %s: %v", c.closed, err)
			}
			if err := call(operator, c.audience, "chain/node-1"); !errors.Is(err, client.ErrWrongNode) {
				t.Errorf("another node: %v", err)
			}
			if err := call("system:serviceaccount:default:default", c.audience, "chain/node-0"); !errors.Is(err, client.ErrUnauthorized) {
				t.Errorf("another caller: %v", err)
			}
			if _, err := s.Client().List(t.Context()); !errors.Is(err, client.ErrUnauthorized) {
				t.Errorf("without a token: %v", err)
			}
			if _, err := s.Client().Health(t.Context()); err != nil {
				t.Errorf("probes need no token: %v", err)
			}
			if !strings.Contains(s.Log(), `"caller":"`+operator+`"`) {
				t.Error("the caller is not logged")
			}
		})
	}
}

type token string

func (s token) Token(context.Context, string) (string, error) { return string(s), nil }

func (token) Refused(string, string) {}

func issuer(t *testing.T, key *rsa.PrivateKey) *httptest.Server {
	t.Helper()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body any = map[string]string{"issuer": "https://issuer.example"}
		if r.URL.Path == "/openid/v1/jwks" {
			body = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}}
		}
		if err := json.NewEncoder(w).Encode(body); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

func sign(t *testing.T, key *rsa.PrivateKey, subject, audience string, valid time.Duration) string {
	t.Helper()
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", "k"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := jwt.Signed(s).Claims(jwt.Claims{
		Issuer: "https://issuer.example", Subject: subject, Audience: jwt.Audience{audience},
		Expiry: jwt.NewNumericDate(time.Now().Add(valid)),
	}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
