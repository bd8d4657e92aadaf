package node

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/manager"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(envtest.Main(m))
}

// world is one test's namespace with kubelets, sidecars and, once started, an operator.
type world struct {
	*envtest.Env

	t        *testing.T
	ns       string
	sim      *podsim.Simulator
	sidecars *sidecarsim.Sidecars
	config   *rest.Config
	recorder *envtest.Recorder
	platform *platform.Config
	// metricsAddress is where the operator serves metrics; "0" for nowhere.
	metricsAddress string
	stop           func()
}

// newWorld makes a world without an operator.
func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Shared(t)
	w := &world{Env: env, t: t, ns: env.Namespace(t)}
	w.sidecars = sidecarsim.Start(t, sidecarsim.Options{})
	w.sim = podsim.Start(t, env.Config, podsim.Options{Namespace: w.ns, Runtime: w.sidecars, CrashBackOff: 200 * time.Millisecond})
	w.config, w.recorder = env.Recorded()
	w.platform = platform.Default()
	w.platform.Images.Sidecar = "sidecar:1"
	w.platform.Storage.Default.Size = new(resource.MustParse("1Gi"))
	w.metricsAddress = "0"
	w.stop = func() {}
	t.Cleanup(func() { w.stop() })
	return w
}

// newOperatedWorld makes a world whose operator runs.
func newOperatedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.startOperator()
	return w
}

// startOperator starts an operator for the world's namespace. Its token file is any
// token: the simulated sidecars want one and take it.
func (w *world) startOperator() {
	w.t.Helper()
	token := filepath.Join(w.t.TempDir(), "token")
	// {"alg":"none"}.{"sub":"system:serviceaccount:sei:operator"}.
	jwt := "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6c2VpOm9wZXJhdG9yIn0.c2ln"
	if err := os.WriteFile(token, []byte(jwt), 0o600); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	mgr, err := manager.New(ctx, w.config, manager.Config{
		Platform: w.platform, Namespace: w.ns, WatchNamespaces: []string{w.ns}, Concurrency: manager.DefaultConcurrency,
		MetricsAddress: w.metricsAddress, InsecureMetrics: true, ProbeAddress: "0", ShutdownTimeout: 10 * time.Second, SidecarTokenFile: token,
	})
	if err != nil {
		cancel()
		w.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stopped := false
	w.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("the operator ended with: %v", err)
		}
	}
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		w.t.Fatal("the operator's caches did not fill")
	}
}

// restartOperator ends the operator and starts another.
func (w *world) restartOperator() {
	w.t.Helper()
	w.stop()
	w.startOperator()
}

// fullNode is the smallest valid SeiNode.
func fullNode(name string) *v1alpha1.SeiNode {
	return &v1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}},
	}
}

// create stores an object in the world's namespace.
func (w *world) create(obj client.Object) {
	w.t.Helper()
	obj.SetNamespace(w.ns)
	if err := w.Client.Create(w.t.Context(), obj); err != nil {
		w.t.Fatal(err)
	}
}

// edit changes a node's spec or metadata, as a user would.
func (w *world) edit(name string, change func(*v1alpha1.SeiNode)) *v1alpha1.SeiNode {
	w.t.Helper()
	node := w.node(name)
	before := node.DeepCopy()
	change(node)
	if err := w.Client.Patch(w.t.Context(), node, client.MergeFrom(before)); err != nil {
		w.t.Fatal(err)
	}
	return node
}

func (w *world) node(name string) *v1alpha1.SeiNode {
	w.t.Helper()
	node := &v1alpha1.SeiNode{}
	w.get(name, node)
	return node
}

func (w *world) get(name string, into client.Object) {
	w.t.Helper()
	if err := w.Client.Get(w.t.Context(), client.ObjectKey{Namespace: w.ns, Name: name}, into); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) delete(obj client.Object) {
	w.t.Helper()
	if err := w.Client.Delete(w.t.Context(), obj); err != nil {
		w.t.Fatal(err)
	}
}

// await waits until a node is as described.
func (w *world) await(name string, condition func(*v1alpha1.SeiNode) bool) *v1alpha1.SeiNode {
	w.t.Helper()
	return envtest.WaitFor(w.t, w.Env, w.ns, name, func(n *v1alpha1.SeiNode) bool { return n != nil && condition(n) })
}

func (w *world) awaitPod(name string, condition func(*corev1.Pod) bool) *corev1.Pod {
	w.t.Helper()
	return envtest.WaitFor(w.t, w.Env, w.ns, name, func(p *corev1.Pod) bool { return p != nil && condition(p) })
}

// settled is a node that runs its spec, is in sync, and has nothing left to do.
func settled(n *v1alpha1.SeiNode) bool {
	return n.Status.Phase == v1alpha1.NodeRunning && n.Status.Plan == nil && n.Status.ObservedGeneration == n.Generation &&
		n.Status.CurrentImage == n.Spec.Image && is(n, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync) &&
		is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionTrue, v1alpha1.ReasonSidecarReady)
}

func is(n *v1alpha1.SeiNode, conditionType string, status metav1.ConditionStatus, reason string) bool {
	return conditions.Is(n.Status.Conditions, conditionType, status, reason)
}

// bringUp creates a node and waits until it is settled.
func (w *world) bringUp(node *v1alpha1.SeiNode) *v1alpha1.SeiNode {
	w.t.Helper()
	w.create(node)
	return w.await(node.Name, settled)
}

// key is how the simulated sidecars call a node.
func (w *world) key(name string) string { return w.ns + "/" + name }
