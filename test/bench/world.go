package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

const (
	// operatorNamespace is where the operator's account and lease are.
	operatorNamespace = "sei-operator"
	operatorAccount   = "sei-operator"
	// nodesNamespace is where the SeiNodes are.
	nodesNamespace = "nodes"
)

// controllers of kube-controller-manager that work on a node's objects. Claims are
// bound by the simulated kubelets: how fast a cluster hands out volumes is not the
// operator's business, and the binder's writes would hide what is.
var controllers = slices.DeleteFunc(slices.Clone(envtest.DefaultControllers), func(name string) bool {
	return slices.Contains([]string{
		"persistentvolume-binder-controller", "persistentvolume-expander-controller", "persistentvolume-protection-controller",
	}, name)
})

// world is a fresh control plane with simulated kubelets and sidecars, and the
// account of the operator.
type world struct {
	*envtest.Env

	dir      string
	audit    *auditLog
	sim      *podsim.Simulator
	sidecars *sidecarsim.Sidecars
	starts   *startTimes
	nodes    *tracker
	// kubeconfig and token are the operator's.
	kubeconfig, token string
	stops             []func()
}

func newWorld(ctx context.Context, profiled bool) (w *world, err error) {
	w = &world{}
	defer func() {
		if err != nil {
			w.stop()
		}
	}()
	if w.dir, err = envtest.NewWorkdir(); err != nil {
		return nil, err
	}
	w.stops = append(w.stops, func() { _ = os.RemoveAll(w.dir) })
	args, err := w.prepareAudit()
	if err != nil {
		return nil, err
	}
	args = append(args, fmt.Sprintf("--profiling=%t", profiled))
	if w.Env, err = envtest.Start(ctx, envtest.WithAPIServerArgs(args...), envtest.WithControllers(controllers...)); err != nil {
		return nil, err
	}
	w.stops = append(w.stops, w.Stop)
	for _, namespace := range []string{operatorNamespace, nodesNamespace} {
		if err := w.createNamespace(ctx, namespace); err != nil {
			return nil, err
		}
	}
	if err := w.createAccount(ctx); err != nil {
		return nil, err
	}
	return w, w.startSimulators(ctx)
}

// stop ends everything in the reverse order of its start.
func (w *world) stop() {
	for _, stop := range slices.Backward(w.stops) {
		stop()
	}
	w.stops = nil
}

func (w *world) startSimulators(ctx context.Context) (err error) {
	keys, err := sidecarsim.KeysOf(w.Config, w.dir)
	if err != nil {
		return err
	}
	if w.sidecars, err = sidecarsim.New(sidecarsim.Options{Keys: keys, Logf: complainf}); err != nil {
		return err
	}
	w.stops = append(w.stops, w.sidecars.Stop)
	w.starts = &startTimes{Sidecars: w.sidecars, at: map[types.UID]time.Time{}}
	if w.sim, err = podsim.New(ctx, w.Config, podsim.Options{
		Namespace: nodesNamespace, Runtime: w.starts, BindClaims: true, Logf: complainf,
	}); err != nil {
		return err
	}
	w.stops = append(w.stops, w.sim.Stop)
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w.stops = append(w.stops, cancel)
	w.nodes, err = newTracker(watching, w.Config, w.Scheme)
	return err
}

func complainf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (w *world) createNamespace(ctx context.Context, name string) error {
	if err := w.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return fmt.Errorf("making namespace %s: %w", name, err)
	}
	// Pods are refused before the namespace has its service account.
	return poll(ctx, time.Minute, "the service account of namespace "+name, func() (bool, error) {
		err := w.Client.Get(ctx, client.ObjectKey{Namespace: name, Name: "default"}, &corev1.ServiceAccount{})
		return err == nil, client.IgnoreNotFound(err)
	})
}

// createAccount makes the operator a user of its own, so that the audit log can tell
// its requests from all others and nobody else's are written down.
func (w *world) createAccount(ctx context.Context) error {
	account := metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorAccount}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: operatorAccount},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}
	for _, obj := range []client.Object{&corev1.ServiceAccount{ObjectMeta: account}, binding} {
		if err := w.Client.Create(ctx, obj); err != nil {
			return fmt.Errorf("making the operator's account: %w", err)
		}
	}
	clients, err := kubernetes.NewForConfig(w.Config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(86400))}}
	answer, err := clients.CoreV1().ServiceAccounts(account.Namespace).CreateToken(ctx, account.Name, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("making the operator's token: %w", err)
	}
	return w.writeCredentials(answer.Status.Token)
}

func (w *world) writeCredentials(token string) error {
	w.token = filepath.Join(w.dir, "token")
	if err := os.WriteFile(w.token, []byte(token), 0o600); err != nil {
		return fmt.Errorf("writing the operator's token: %w", err)
	}
	k := clientcmdapi.NewConfig()
	k.Clusters["bench"] = &clientcmdapi.Cluster{Server: w.Config.Host, CertificateAuthorityData: w.Config.CAData}
	k.AuthInfos["operator"] = &clientcmdapi.AuthInfo{Token: token}
	k.Contexts["bench"] = &clientcmdapi.Context{Cluster: "bench", AuthInfo: "operator"}
	k.CurrentContext = "bench"
	w.kubeconfig = filepath.Join(w.dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*k, w.kubeconfig); err != nil {
		return fmt.Errorf("writing the operator's kubeconfig: %w", err)
	}
	return nil
}

// create makes a full node, the plainest kind, with the image that all begin with.
func (w *world) create(ctx context.Context, name string) error {
	node := &v1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Namespace: nodesNamespace, Name: name},
		Spec:       v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: imageFirst, FullNode: &v1alpha1.FullNodeSpec{}},
	}
	if err := w.Client.Create(ctx, node); err != nil {
		return fmt.Errorf("creating SeiNode %s: %w", name, err)
	}
	return nil
}

// setImage changes a node's image, as a user would.
func (w *world) setImage(ctx context.Context, name, image string) error {
	return w.setSpec(ctx, name, "image", image)
}

// setOverrides changes a node's overrides, as a user would; nil removes them.
func (w *world) setOverrides(ctx context.Context, name string, overrides map[string]string) error {
	return w.setSpec(ctx, name, "overrides", overrides)
}

func (w *world) setSpec(ctx context.Context, name, field string, value any) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{field: value}})
	if err != nil {
		return fmt.Errorf("encoding a patch: %w", err)
	}
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: nodesNamespace, Name: name}}
	if err := w.Client.Patch(ctx, node, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("changing the %s of SeiNode %s: %w", field, name, err)
	}
	return nil
}

func (w *world) deletePod(ctx context.Context, node string) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: nodesNamespace, Name: podOf(node)}}
	if err := w.Client.Delete(ctx, pod); err != nil {
		return fmt.Errorf("deleting pod %s: %w", pod.Name, err)
	}
	return nil
}

// removeNode deletes a node and waits until it is gone.
func (w *world) removeNode(ctx context.Context, name string) error {
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: nodesNamespace, Name: name}}
	if err := w.Client.Delete(ctx, node); err != nil {
		return fmt.Errorf("deleting SeiNode %s: %w", name, err)
	}
	return poll(ctx, time.Minute, "SeiNode "+name+" to go", func() (bool, error) {
		err := w.Client.Get(ctx, client.ObjectKeyFromObject(node), node)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// podOf is the pod of a node: its StatefulSet has one replica.
func podOf(node string) string { return node + "-0" }
