package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

const (
	operatorNamespace = "sei-operator"
	operatorAccount   = "system:serviceaccount:sei-operator:sei-operator"
	// The images of hack/images.sh.
	imageSeid    = "localhost/sei-operator/seid:dev"
	imageNext    = "localhost/sei-operator/seid:next"
	imageSidecar = "localhost/sei-operator/sidecar:dev"
)

// cluster is the cluster under test with the operator on it.
type cluster struct {
	client.Client
	clients *kubernetes.Clientset
	config  *rest.Config
	web     *http.Client
	// root is the repository, state the cluster's folder, bin that of its programs, seid that of the chain.
	root, state, bin, seid string
	network                string
	// store has the buckets of the operator's configuration.
	store store
	// undisturbed is held by a scenario that takes something from all others, the operator or the Kubernetes node, and
	// by one that must not be taken anything from.
	undisturbed sync.Mutex
	// evidence is what is looked through for secrets at the end.
	evidence *evidence
}

// startCluster builds what is missing, starts a cluster and installs the operator.
func startCluster(ctx context.Context) (*cluster, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, fmt.Errorf("finding the repository: %w", err)
	}
	c := &cluster{root: root, state: filepath.Join(root, ".state", "e2e"), network: cmp.Or(os.Getenv("E2E_NETWORK"), "198.19.0.0/16")}
	images, err := c.script(ctx, "images.sh")
	if err != nil {
		return nil, err
	}
	if c.bin, err = c.script(ctx, "build-cluster.sh", "--node", "--print-path"); err != nil {
		return nil, err
	}
	if c.seid, err = c.script(ctx, "build-seid.sh", "--print-path"); err != nil {
		return nil, err
	}
	if os.Getenv("E2E_KEEP") == "" {
		// What an interrupted run has left would be tested in place of what is there now.
		c.down()
	}
	if err := c.cluster(ctx, "up"); err != nil {
		return c, err
	}
	if err := c.connect(); err != nil {
		return c, err
	}
	c.evidence = startEvidence(c)
	if err := c.startStore(ctx); err != nil {
		return c, err
	}
	tarballs := []string{"load-image"}
	for _, name := range []string{"manager", "sidecar", "seid", "seid-next"} {
		tarballs = append(tarballs, filepath.Join(images, name+".tar"))
	}
	ours, err := c.testImages(ctx)
	if err != nil {
		return c, err
	}
	upgrades, err := upgradeImages(images)
	if err != nil {
		return c, err
	}
	if err := c.cluster(ctx, append(append(tarballs, ours...), upgrades)...); err != nil {
		return c, err
	}
	return c, c.install(ctx)
}

// install applies the operator and waits until it works.
func (c *cluster) install(ctx context.Context) error {
	return c.installFrom(ctx, filepath.Join(c.root, "config", "demo", "operator"))
}

// installFrom applies the operator of a folder of manifests.
func (c *cluster) installFrom(ctx context.Context, folder string) error {
	manifests, err := c.kubectl(ctx, nil, "kustomize", folder)
	if err != nil {
		return err
	}
	// The tag stays the same when the image changes, and a kept cluster has the old one.
	stamp, err := os.ReadFile(filepath.Join(c.root, ".cache", "images", "manager.stamp"))
	if err != nil {
		return fmt.Errorf("reading the image's hash: %w", err)
	}
	manifests = bytes.Replace(manifests, []byte("demo.sei.io/image: unknown"), fmt.Appendf(nil, "demo.sei.io/image: %q", stamp[:16]), 1)
	buckets := fmt.Sprintf("    buckets: {snapshot: %q, resultExport: %q}\n", c.store.url(bucketSnapshots), c.store.url(bucketResults))
	manifests = bytes.Replace(manifests, []byte("    images:\n"), []byte(buckets+"    images:\n"), 1)
	if _, err := c.kubectl(ctx, manifests, "apply", "--server-side", "-f", "-"); err != nil {
		return err
	}
	return waitFor(ctx, inSyncTimeout, "the operator to be ready", func(ctx context.Context) (bool, string, error) {
		deployment := &appsv1.Deployment{}
		err := c.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: "sei-operator"}, deployment)
		is := deployment.Status
		ready := is.ObservedGeneration == deployment.Generation && is.UpdatedReplicas == 1 && is.ReadyReplicas == 1 && is.Replicas == 1
		return ready, fmt.Sprintf("%d of %d replicas updated, %d ready", is.UpdatedReplicas, is.Replicas, is.ReadyReplicas), err
	})
}

func (c *cluster) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(c.state, "kubeconfig"))
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	// The cluster is on this machine, whatever proxy the environment names.
	config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	config.QPS = -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("making the scheme: %w", err)
		}
	}
	if c.Client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if c.clients, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if c.web, err = rest.HTTPClientFor(config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	c.config = config
	return nil
}

// down leaves nothing on the machine.
func (c *cluster) down() {
	if err := c.cluster(context.Background(), "down"); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
	}
}

// cluster runs one of the cluster's commands.
func (c *cluster) cluster(ctx context.Context, args ...string) error {
	args = append([]string{args[0], "--state-dir=" + c.state, "--network=" + c.network}, args[1:]...)
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "cluster"), args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running cluster %s: %w: %s", args[0], err, out)
	}
	return nil
}

func (c *cluster) kubectl(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	args = append([]string{"--kubeconfig=" + filepath.Join(c.state, "kubeconfig")}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "kubectl"), args...)
	var out, complaints bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &complaints
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("running kubectl %s: %w: %s", args[1], err, complaints.Bytes())
	}
	return out.Bytes(), nil
}

// script runs a script of hack and returns the last line it prints. Its progress is shown.
func (c *cluster) script(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.root, "hack", name), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running hack/%s: %w", name, err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1], nil
}
