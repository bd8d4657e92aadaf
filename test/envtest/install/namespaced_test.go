package install_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/manager"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// watched is the namespace that config/namespaced has the operator work in.
const watched = "sei-nodes"

// installNamespaced applies config/namespaced to a control plane of its own: the shared one has the
// bindings of config/default.
func installNamespaced(t *testing.T) (*envtest.Env, *appsv1.Deployment) {
	t.Helper()
	env, err := envtest.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(env.Stop)
	deployment := &appsv1.Deployment{}
	for _, obj := range renderDir(t, "namespaced") {
		if obj.GetKind() == "Deployment" {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, deployment); err != nil {
				t.Fatal(err)
			}
		}
		err := env.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner("install"), client.ForceOwnership)
		if err != nil {
			t.Fatalf("applying %s %s: %v", obj.GetKind(), obj.GetName(), err)
		}
	}
	return env, deployment
}

// watchedBy are the namespaces that a Deployment's flags name.
func watchedBy(d *appsv1.Deployment) (namespaces []string) {
	for _, arg := range d.Spec.Template.Spec.Containers[0].Args {
		if name, ok := strings.CutPrefix(arg, "--watch-namespace="); ok {
			namespaces = append(namespaces, name)
		}
	}
	return namespaces
}

func TestNamespaced_NothingIsBoundEverywhere(t *testing.T) {
	for _, obj := range renderDir(t, "namespaced") {
		role, _, _ := unstructured.NestedString(obj.Object, "roleRef", "name")
		if obj.GetKind() == "ClusterRoleBinding" && role != "sei-operator-metrics-auth" {
			t.Errorf("ClusterRoleBinding %s binds %s", obj.GetName(), role)
		}
	}
}

// The operator of config/namespaced brings a node up with the rights that it has in one namespace, and
// has none in others.
func TestNamespaced_BringsANodeToReady(t *testing.T) {
	env, deployment := installNamespaced(t)
	sidecars := sidecarsim.Start(t, sidecarsim.Options{})
	podsim.Start(t, env.Config, podsim.Options{Namespace: watched, Runtime: sidecars})
	tokenFile := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte(token(t, env, namespace, account, "sei-sidecar")), 0o600); err != nil {
		t.Fatal(err)
	}
	config, recorder := asAccount(env, token(t, env, namespace, account)), envtest.NewRecorder()
	config.Wrap(recorder.Wrap)
	settings := platform.Default()
	settings.Images.Sidecar = "sidecar:1"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	mgr, err := manager.New(ctx, config, manager.Config{
		Platform: settings, Namespace: namespace, WatchNamespaces: watchedBy(deployment), Concurrency: 2, LeaderElection: true,
		MetricsAddress: freeAddress(t), ProbeAddress: "0", ShutdownTimeout: 10 * time.Second, SidecarTokenFile: tokenFile,
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()

	node := &seiv1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Namespace: watched, Name: "rpc"},
		Spec:       seiv1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:1", FullNode: &seiv1.FullNodeSpec{}},
	}
	elsewhere := node.DeepCopy()
	elsewhere.Namespace = metav1.NamespaceDefault
	for _, n := range []*seiv1.SeiNode{elsewhere, node} {
		if err := env.Client.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	envtest.WaitFor(t, env, watched, "rpc", func(n *seiv1.SeiNode) bool {
		return n != nil && conditions.Is(n.Status.Conditions, seiv1.ConditionReady, metav1.ConditionTrue, seiv1.ReasonInSync)
	})
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(elsewhere), elsewhere); err != nil || len(elsewhere.Finalizers) > 0 {
		t.Errorf("a node of another namespace was touched: %v, %v", elsewhere.Finalizers, err)
	}
	if err := env.Client.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	envtest.WaitGone[seiv1.SeiNode](t, env, watched, "rpc")
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the operator ended with %v", err)
	}
	for _, r := range recorder.All().Answered(http.StatusForbidden, http.StatusUnauthorized) {
		t.Errorf("config/namespaced does not allow: %s", r)
	}
	requireNoSecrets(t, env)
	requireSigns(t, env)
}

// requireNoSecrets fails if the operator's account can read Secrets beyond the watched namespace.
func requireNoSecrets(t *testing.T, env *envtest.Env) {
	t.Helper()
	reader, err := client.New(asAccount(env, token(t, env, namespace, account)), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"": false, metav1.NamespaceDefault: false, namespace: false, watched: true} {
		err := reader.List(t.Context(), &corev1.SecretList{}, client.InNamespace(name))
		if (err == nil) != want || err != nil && !apierrors.IsForbidden(err) {
			t.Errorf("Secrets of %q: %v", name, err)
		}
	}
}

// requireSigns fails if the policy on signing tasks would refuse the operator the tasks of a fleet's nodes in the watched
// namespace, or no longer refuse it one in another.
func requireSigns(t *testing.T, env *envtest.Env) {
	t.Helper()
	asker, err := client.New(asAccount(env, token(t, env, namespace, account)), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"": false, metav1.NamespaceDefault: false, namespace: false, watched: true} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: name, Group: "sei.io", Resource: "seinodetasks", Verb: "sign"},
		}}
		if err := asker.Create(t.Context(), review); err != nil || review.Status.Allowed != want {
			t.Errorf("the operator has the verb sign in namespace %q: %t, want %t (%v)", name, review.Status.Allowed, want, err)
		}
	}
}
