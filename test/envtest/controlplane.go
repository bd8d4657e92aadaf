package envtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// DefaultControllers are the controllers of kube-controller-manager that
// tests get: those that act on the objects an operator like ours makes. That of
// EndpointSlices is none of them: simulated pods have loopback addresses, which no slice
// may hold, and it would try to write them again and again.
var DefaultControllers = []string{
	"statefulset-controller",
	"job-controller",
	"garbage-collector-controller",
	"namespace-controller",
	"disruption-controller",
	"serviceaccount-controller",
	"serviceaccount-token-controller",
	"root-ca-certificate-publisher-controller",
	"persistentvolume-binder-controller",
	"persistentvolume-expander-controller",
	"persistentvolumeclaim-protection-controller",
	"persistentvolume-protection-controller",
}

// ControlPlane is a running etcd, kube-apiserver and kube-controller-manager.
type ControlPlane struct {
	// Config is an administrator's. Kubeconfig is the same as a file.
	Config     *rest.Config
	Kubeconfig string
	// Version of the API server.
	Version *version.Info
	// StartTime is how long it took until the API server was ready.
	StartTime time.Duration
	// Etcd, APIServer and ControllerManager are the processes, for those who
	// measure them.
	Etcd, APIServer, ControllerManager *Process

	dir      string
	programs map[string]string // paths by name
	runner   *runner
}

// StartControlPlane starts a control plane. Stop ends it; it also ends with
// this process.
func StartControlPlane(ctx context.Context, opts ...Option) (*ControlPlane, error) {
	programs, err := findPrograms()
	if err != nil {
		return nil, err
	}
	o := newOptions(opts)
	// Ports are picked free and used a moment later; somebody else may have
	// taken one in between.
	var errs []error
	for range 3 {
		cp, err := startOnce(ctx, programs, o)
		if err == nil {
			return cp, nil
		}
		errs = append(errs, err)
		if !strings.Contains(err.Error(), "address already in use") {
			break
		}
	}
	return nil, fmt.Errorf("starting a control plane: %w", errors.Join(errs...))
}

func startOnce(ctx context.Context, programs map[string]string, o *options) (cp *ControlPlane, err error) {
	dir, err := NewWorkdir()
	if err != nil {
		return nil, err
	}
	cp = &ControlPlane{dir: dir, programs: programs, runner: newRunner(dir), Kubeconfig: filepath.Join(dir, "kubeconfig")}
	defer func() {
		if err != nil {
			cp.Stop()
		}
	}()
	began := time.Now()
	startControllers, err := cp.launch(o)
	if err != nil {
		return nil, err
	}
	if err := cp.awaitReady(ctx); err != nil {
		return nil, err
	}
	if err := startControllers(); err != nil {
		return nil, err
	}
	cp.StartTime = time.Since(began)
	return cp, nil
}

// launch starts etcd and the API server at once: the second retries until the first is
// up. The controller manager would give up on an API server that needs more than ten
// seconds, so it is left to be started once that is ready.
func (cp *ControlPlane) launch(o *options) (startControllers func() error, err error) {
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	creds, err := newCredentials(cp.dir)
	if err != nil {
		return nil, err
	}
	etcdURL := "http://127.0.0.1:" + ports[0]
	host := "https://127.0.0.1:" + ports[2]
	cp.Config = creds.config(host)
	if err := creds.writeKubeconfig(cp.Kubeconfig, host); err != nil {
		return nil, err
	}
	if cp.Etcd, err = cp.run("etcd", etcdArgs(cp.dir, etcdURL, "http://127.0.0.1:"+ports[1])); err != nil {
		return nil, err
	}
	if cp.APIServer, err = cp.run("kube-apiserver", slices.Concat(apiServerArgs(creds, etcdURL, host, ports[2]), o.apiServerArgs)); err != nil {
		return nil, err
	}
	return func() (err error) {
		args := slices.Concat(controllerManagerArgs(creds, cp.Kubeconfig, o.controllers), o.controllerManagerArgs)
		cp.ControllerManager, err = cp.run("kube-controller-manager", args)
		return err
	}, nil
}

func (cp *ControlPlane) run(name string, args []string) (*Process, error) {
	return cp.runner.run(cp.programs[name], args...)
}

// awaitReady asks /readyz until it answers 200 or a process has ended.
func (cp *ControlPlane) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	client, err := rest.HTTPClientFor(cp.Config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for !answersReady(ctx, client, cp.Config.Host+"/readyz") {
		select {
		case <-tick.C:
		case <-cp.Etcd.Exited():
			return cp.Etcd.Failure()
		case <-cp.APIServer.Exited():
			return cp.APIServer.Failure()
		case <-ctx.Done():
			return fmt.Errorf("waiting for the API server: %w\n%s", ctx.Err(), cp.runner.logTails())
		}
	}
	d, err := discovery.NewDiscoveryClientForConfig(cp.Config)
	if err != nil {
		return fmt.Errorf("making a discovery client: %w", err)
	}
	if cp.Version, err = d.ServerVersion(); err != nil {
		return fmt.Errorf("asking the API server for its version: %w", err)
	}
	return nil
}

func answersReady(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// Stop kills the control plane and removes what it wrote.
func (cp *ControlPlane) Stop() {
	cp.runner.stop()
	_ = os.RemoveAll(cp.dir)
}

// AtLeast reports whether the API server is of this minor version of
// Kubernetes 1 or a newer one.
func (cp *ControlPlane) AtLeast(minor int) bool {
	m, err := strconv.Atoi(strings.TrimRight(cp.Version.Minor, "+"))
	return err == nil && m >= minor
}

// ControllersAtLeast is AtLeast for kube-controller-manager, which may be of the minor version before that
// of the API server.
func (cp *ControlPlane) ControllersAtLeast(ctx context.Context, minor uint) (bool, error) {
	out, err := exec.CommandContext(ctx, cp.programs["kube-controller-manager"], "--version").Output()
	if err != nil {
		return false, fmt.Errorf("asking kube-controller-manager for its version: %w", err)
	}
	is, err := utilversion.ParseGeneric(strings.TrimPrefix(strings.TrimSpace(string(out)), "Kubernetes "))
	if err != nil {
		return false, fmt.Errorf("reading the version of kube-controller-manager: %w", err)
	}
	return is.AtLeast(utilversion.MajorMinor(1, minor)), nil
}

// freePorts finds ports nobody listens on.
func freePorts(n int) ([]string, error) {
	ports := make([]string, 0, n)
	for range n {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("finding a free port: %w", err)
		}
		// All stay open until the last is found, so that none comes twice.
		defer func() { _ = l.Close() }()
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, fmt.Errorf("finding a free port: %w", err)
		}
		ports = append(ports, port)
	}
	return ports, nil
}
