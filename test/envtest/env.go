package envtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	seiv1alpha1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Env is a control plane with this project's CRDs, and a client for the test
// itself. The code under test should get its own configuration, see Recorded.
type Env struct {
	*ControlPlane
	// Client is the test's own: an administrator, uncached, unrecorded.
	Client client.WithWatch
	// Scheme knows everything the operator works with.
	Scheme *runtime.Scheme
	// Root is the repository.
	Root string

	keepNamespaces bool
}

// Start starts a control plane with CRDs. Most tests want Shared instead.
func Start(ctx context.Context, opts ...Option) (_ *Env, err error) {
	root, err := RepositoryRoot()
	if err != nil {
		return nil, err
	}
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	cp, err := StartControlPlane(ctx, opts...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			cp.Stop()
		}
	}()
	chosen := newOptions(opts)
	env := &Env{ControlPlane: cp, Scheme: scheme, Root: root, keepNamespaces: chosen.keepNamespaces}
	if chosen.crds {
		if err := env.InstallCRDs(filepath.Join(root, "config", "crd")); err != nil {
			return nil, err
		}
	}
	if env.Client, err = client.NewWithWatch(cp.Config, client.Options{Scheme: scheme}); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if err := env.awaitControllers(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "envtest: Kubernetes %s ready in %.1f s, with CRDs and controllers in %.1f s\n",
		cp.Version.GitVersion, cp.StartTime.Seconds(), time.Since(began).Seconds())
	return env, nil
}

// NewScheme knows the built-in types, CRDs, the Gateway API and this project's types.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, gatewayv1.Install, seiv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building a scheme: %w", err)
		}
	}
	return scheme, nil
}

// InstallCRDs installs the CRDs of a folder and waits until they are served.
func (e *Env) InstallCRDs(paths ...string) error {
	_, err := crenvtest.InstallCRDs(e.Config, crenvtest.CRDInstallOptions{
		Paths: paths, ErrorIfPathMissing: true, MaxTime: time.Minute, PollInterval: 50 * time.Millisecond,
	})
	if err != nil {
		return fmt.Errorf("installing CRDs: %w", err)
	}
	return nil
}

// InstallGatewayAPI installs the CRDs of the Gateway API, from the version of
// its module that the project is built with. Without it they are absent.
func (e *Env) InstallGatewayAPI(tb testing.TB) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api")
	cmd.Dir = e.Root
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("finding the Gateway API's module: %v", err)
	}
	standard := filepath.Join(strings.TrimSpace(string(out)), "config", "crd", "standard")
	files, err := filepath.Glob(filepath.Join(standard, "gateway.networking.k8s.io_*s.yaml"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("finding the Gateway API's CRDs in %s: %v", standard, err)
	}
	var crds []string
	for _, f := range files {
		if !strings.Contains(f, "_vap_") {
			crds = append(crds, f)
		}
	}
	if err := e.InstallCRDs(crds...); err != nil {
		tb.Fatal(err)
	}
}

// As is a configuration for another user, for tests of permissions.
func (e *Env) As(user string, groups ...string) *rest.Config {
	config := rest.CopyConfig(e.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

// awaitControllers waits for the first sign of life of kube-controller-manager:
// the service account of the default namespace.
func (e *Env) awaitControllers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := await(ctx, e.Client, client.ObjectKey{Namespace: "default", Name: "default"},
		func(sa *corev1.ServiceAccount) bool { return sa != nil })
	if err == nil {
		return nil
	}
	select {
	case <-e.ControllerManager.Exited():
		return e.ControllerManager.Failure()
	default:
		return fmt.Errorf("waiting for kube-controller-manager: %w\n%s", err, e.runner.logTails())
	}
}
