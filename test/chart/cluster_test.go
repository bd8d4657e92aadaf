package chart

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"helm.sh/helm/v4/pkg/action"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const releaseName = "operator"

// cluster is an API server and Helm's way to it.
type cluster struct {
	client.Client
	kubeconfig string
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	log.SetLogger(logr.Discard())
	const patience = 2 * time.Minute
	environment := &envtest.Environment{
		BinaryAssetsDirectory: assets(), ControlPlaneStartTimeout: patience, ControlPlaneStopTimeout: patience,
	}
	config, err := environment.Start()
	if err != nil {
		t.Fatalf("starting an API server: %v", err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Errorf("stopping the API server: %v", err)
		}
	})
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, environment.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return &cluster{Client: c, kubeconfig: kubeconfig}
}

// helm is a fresh configuration, as each call of the command line has.
func (c *cluster) helm(t *testing.T) *action.Configuration {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = &c.kubeconfig, new(namespace)
	configuration := action.NewConfiguration()
	if err := configuration.Init(flags, namespace, ""); err != nil {
		t.Fatal(err)
	}
	return configuration
}

func (c *cluster) install(t *testing.T, chart *chartv2.Chart, v values, takeOwnership bool) error {
	t.Helper()
	install := action.NewInstall(c.helm(t))
	install.ReleaseName, install.Namespace, install.CreateNamespace = releaseName, namespace, true
	install.WaitStrategy = kube.HookOnlyStrategy
	install.TakeOwnership, install.ForceConflicts = takeOwnership, takeOwnership
	_, err := install.RunWithContext(t.Context(), chart, withRegistry(v))
	return err
}

func (c *cluster) upgrade(t *testing.T, chart *chartv2.Chart, v values) {
	t.Helper()
	upgrade := action.NewUpgrade(c.helm(t))
	upgrade.Namespace, upgrade.WaitStrategy = namespace, kube.HookOnlyStrategy
	if _, err := upgrade.RunWithContext(t.Context(), releaseName, chart, withRegistry(v)); err != nil {
		t.Fatalf("upgrading: %v", err)
	}
}

func (c *cluster) rollback(t *testing.T) {
	t.Helper()
	rollback := action.NewRollback(c.helm(t))
	rollback.WaitStrategy = kube.HookOnlyStrategy
	if err := rollback.Run(releaseName); err != nil {
		t.Fatalf("rolling back: %v", err)
	}
}

func (c *cluster) uninstall(t *testing.T) {
	t.Helper()
	uninstall := action.NewUninstall(c.helm(t))
	uninstall.WaitStrategy = kube.HookOnlyStrategy
	if _, err := uninstall.Run(releaseName); err != nil {
		t.Fatalf("uninstalling: %v", err)
	}
}

// get reads an object as it is now.
func (c *cluster) get(t *testing.T, like *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(like.GroupVersionKind())
	return object, c.Get(t.Context(), client.ObjectKeyFromObject(like), object)
}
