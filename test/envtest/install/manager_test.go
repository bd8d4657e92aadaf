package install_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/manager"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// freeAddress finds a port that is free just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// operator is a manager that runs as the manifests' service account.
type operator struct {
	metrics, probes string
	recorder        *envtest.Recorder
	stop            func() error
}

func startOperator(t *testing.T, env *envtest.Env) *operator {
	t.Helper()
	tokenFile := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte(token(t, env, namespace, account, "sei-sidecar")), 0o600); err != nil {
		t.Fatal(err)
	}
	op := &operator{metrics: freeAddress(t), probes: freeAddress(t), recorder: envtest.NewRecorder()}
	config := asAccount(env, token(t, env, namespace, account))
	config.Wrap(op.recorder.Wrap)
	ctx, cancel := context.WithCancel(t.Context())
	mgr, err := manager.New(ctx, config, manager.Config{
		Platform: platform.Default(), Namespace: namespace, Concurrency: 2,
		MetricsAddress: op.metrics, ProbeAddress: op.probes, LeaderElection: true,
		ShutdownTimeout: 10 * time.Second, SidecarTokenFile: tokenFile, Version: "test", Commit: "test",
	})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	op.stop = func() error { cancel(); return <-ended }
	t.Cleanup(cancel)
	select {
	case <-mgr.Elected():
	case err := <-ended:
		t.Fatalf("the operator ended: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("the operator was not elected within a minute")
	}
	awaitListener(t, op.metrics)
	awaitListener(t, op.probes)
	return op
}

// awaitListener waits for a server that starts beside the controllers.
func awaitListener(t *testing.T, address string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("nobody listens: %v", err)
		}
	}
}

// get asks an endpoint of the operator and returns code and body.
func get(t *testing.T, url, bearer string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	// The certificate was made at start; who we talk to is not in question here.
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	resp, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestManager_WithThePermissionsOfTheManifests_BringsUpNodes(t *testing.T) {
	env := install(t)
	op := startOperator(t, env)
	ns := env.Namespace(t)

	node := &seiv1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "rpc"},
		Spec:       seiv1.SeiNodeSpec{ChainID: "test-1", Image: "seid:1", FullNode: &seiv1.FullNodeSpec{}},
	}
	if err := env.Client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	envtest.WaitFor(t, env, ns, "rpc", func(s *appsv1.StatefulSet) bool { return s != nil })
	envtest.WaitFor(t, env, ns, "rpc", func(s *corev1.Service) bool { return s != nil })
	envtest.WaitFor(t, env, ns, "rpc", func(n *seiv1.SeiNode) bool { return n != nil && n.Status.Phase == seiv1.NodeInitializing })

	createValidator(t, env, ns)
	validator := envtest.WaitFor(t, env, ns, "val", func(n *seiv1.SeiNode) bool { return n != nil && n.Status.ConsensusAddress != "" })
	lease := "consensus-key-" + strings.ToLower(validator.Status.ConsensusAddress)
	envtest.WaitFor(t, env, namespace, lease, func(l *coordinationv1.Lease) bool { return l != nil })

	for _, n := range []*seiv1.SeiNode{node, validator} {
		if err := env.Client.Delete(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		envtest.WaitGone[seiv1.SeiNode](t, env, ns, n.Name)
	}
	envtest.WaitGone[coordinationv1.Lease](t, env, namespace, lease)

	if err := op.stop(); err != nil {
		t.Errorf("the operator ended with %v", err)
	}
	refused := op.recorder.All().Where(func(r envtest.Request) bool {
		return r.Code == http.StatusForbidden || r.Code == http.StatusUnauthorized
	})
	for _, r := range refused {
		t.Errorf("the manifests' role does not allow: %s", r)
	}
	held := envtest.WaitFor(t, env, namespace, "sei-operator.sei.io", func(l *coordinationv1.Lease) bool { return l != nil })
	if holder := ptr.Deref(held.Spec.HolderIdentity, ""); holder != "" {
		t.Errorf("leadership was not given back: held by %s", holder)
	}
}

func createValidator(t *testing.T, env *envtest.Env, ns string) {
	t.Helper()
	signing, nodeKey := newKeys(t)
	objects := []*corev1.Secret{
		{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "signing"}, Data: map[string][]byte{seiv1.SecretKeySigningKey: signing}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "identity"}, Data: map[string][]byte{seiv1.SecretKeyNodeKey: nodeKey}},
	}
	for _, obj := range objects {
		if err := env.Client.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	node := &seiv1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "val"},
		Spec: seiv1.SeiNodeSpec{ChainID: "test-1", Image: "seid:1", Validator: &seiv1.ValidatorSpec{
			SigningKey: &seiv1.SigningKeySource{Secret: seiv1.KeySecret{SecretName: "signing"}},
			NodeKey:    &seiv1.NodeKeySource{Secret: seiv1.KeySecret{SecretName: "identity"}},
		}},
	}
	if err := env.Client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
}

// A1, A3: one endpoint, with authentication, that carries the counters and loses
// the series of deleted objects.
func TestManager_MetricsNeedAPermittedToken(t *testing.T) {
	env := install(t)
	op := startOperator(t, env)
	ns := env.Namespace(t)
	newAccount(t, env, ns, "nobody", "")
	newAccount(t, env, ns, "prometheus", "sei-operator-metrics-reader")
	url := "https://" + op.metrics + "/metrics"

	for _, tc := range []struct {
		name, bearer string
		want         int
	}{
		{"no token", "", http.StatusUnauthorized},
		// controller-runtime answers a token that the API server rejects with 500.
		{"a token that is none", "x.y.z", http.StatusInternalServerError},
		{"a token without permission", token(t, env, ns, "nobody"), http.StatusForbidden},
		{"a token for somebody else", token(t, env, ns, "prometheus", "another-audience"), http.StatusInternalServerError},
		{"a permitted token", token(t, env, ns, "prometheus"), http.StatusOK},
	} {
		if code, body := get(t, url, tc.bearer); code != tc.want {
			t.Errorf("%s: %d, want %d: %.200s", tc.name, code, tc.want, body)
		} else if strings.Contains(body, "go_goroutines") != (code == http.StatusOK) {
			t.Errorf("%s: %d with metrics: %.200s", tc.name, code, body)
		}
	}

	node := &seiv1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "rpc"},
		Spec:       seiv1.SeiNodeSpec{ChainID: "test-1", Image: "seid:1", FullNode: &seiv1.FullNodeSpec{}},
	}
	if err := env.Client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	envtest.WaitFor(t, env, ns, "rpc", func(n *seiv1.SeiNode) bool { return n != nil && n.Status.Phase == seiv1.NodeInitializing })
	bearer := token(t, env, ns, "prometheus")
	_, body := get(t, url, bearer)
	for _, want := range []string{
		fmt.Sprintf(`seinode_status_patches_total{name="rpc",namespace=%q,result="changed"}`, ns),
		fmt.Sprintf(`seinode_phase{name="rpc",namespace=%q,phase="Initializing"} 1`, ns),
		`sei_operator_build_info{commit="test"`,
		"controller_runtime_reconcile_total",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if code, body := get(t, "http://"+op.probes+"/readyz", ""); code != http.StatusOK {
		t.Errorf("/readyz: %d %s", code, body)
	}
	if code, body := get(t, "http://"+op.probes+"/healthz", ""); code != http.StatusOK {
		t.Errorf("/healthz: %d %s", code, body)
	}
	if err := env.Client.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	envtest.WaitGone[seiv1.SeiNode](t, env, ns, "rpc")
	awaitNoSeries(t, url, bearer, fmt.Sprintf(`name="rpc",namespace=%q`, ns))
	if err := op.stop(); err != nil {
		t.Errorf("the operator ended with %v", err)
	}
}

// awaitNoSeries scrapes until the deleted object's series are gone: the operator
// learns of the end through its watch.
func awaitNoSeries(t *testing.T, url, bearer, labels string) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for {
		_, body := get(t, url, bearer)
		if !strings.Contains(body, labels) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Errorf("series of the deleted node are still there")
			return
		}
	}
}
