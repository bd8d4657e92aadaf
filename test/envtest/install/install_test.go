package install_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// The names that config/default gives.
const (
	namespace = "sei-operator"
	account   = "sei-operator"
)

func TestMain(m *testing.M) { os.Exit(envtest.Main(m)) }

// render runs kustomize over config/default.
func render(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	return renderDir(t, "default")
}

// renderDir runs kustomize over a directory of config.
func renderDir(t *testing.T, dir string) []*unstructured.Unstructured {
	t.Helper()
	root, err := envtest.RepositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	bin, err := envtest.Assets()
	if err != nil {
		t.Fatal(err)
	}
	kubectl := filepath.Join(bin, "kubectl")
	if _, err := os.Stat(kubectl); err != nil {
		kubectl = "kubectl"
	}
	out, err := exec.CommandContext(t.Context(), kubectl, "kustomize", filepath.Join(root, "config", dir)).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("rendering config/%s: %v\n%s", dir, err, exit.Stderr)
		}
		t.Fatalf("rendering config/%s: %v", dir, err)
	}
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(out), 4096)
	for {
		obj := &unstructured.Unstructured{}
		if err := decoder.Decode(&obj.Object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, obj)
	}
}

// install applies everything once, as an administrator would.
var installed sync.Once

func install(t *testing.T) *envtest.Env {
	t.Helper()
	env := envtest.Shared(t)
	installed.Do(func() {
		for _, obj := range render(t) {
			err := env.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner("install"), client.ForceOwnership)
			if err != nil {
				t.Fatalf("applying %s %s: %v", obj.GetKind(), obj.GetName(), err)
			}
		}
	})
	return env
}

func TestDefault_EveryNamespaceIsTheOperators(t *testing.T) {
	clusterWide := []string{"Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "PriorityClass"}
	objects := render(t)
	if len(objects) < 15 {
		t.Errorf("only %d objects", len(objects))
	}
	for _, obj := range objects {
		want := namespace
		if slices.Contains(clusterWide, obj.GetKind()) {
			want = ""
		}
		if obj.GetNamespace() != want {
			t.Errorf("%s %s is in namespace %q, want %q", obj.GetKind(), obj.GetName(), obj.GetNamespace(), want)
		}
		subjects, _, _ := unstructured.NestedSlice(obj.Object, "subjects")
		for _, s := range subjects {
			subject := s.(map[string]any)
			if subject["namespace"] != namespace || subject["name"] != account {
				t.Errorf("%s %s binds %v", obj.GetKind(), obj.GetName(), subject)
			}
		}
	}
}

func TestDefault_PermissionsAreNeverEverything(t *testing.T) {
	for _, obj := range render(t) {
		rules, _, _ := unstructured.NestedSlice(obj.Object, "rules")
		for _, r := range rules {
			rule := r.(map[string]any)
			for field, values := range rule {
				for _, value := range values.([]any) {
					if value == "*" {
						t.Errorf("%s %s allows * in %s", obj.GetKind(), obj.GetName(), field)
					}
					if (value == "secrets") && !onlyReadsAndIssues(rule["verbs"].([]any)) {
						t.Errorf("%s %s may do %v to Secrets", obj.GetKind(), obj.GetName(), rule["verbs"])
					}
				}
			}
		}
	}
}

// onlyReadsAndIssues allows what hearing of keys and issuing certificates takes.
func onlyReadsAndIssues(verbs []any) bool {
	return !slices.ContainsFunc(verbs, func(v any) bool { return !slices.Contains([]any{"get", "list", "watch", "create", "patch"}, v) })
}

// The namespace enforces the restricted level; a pod it refuses never exists.
func TestDefault_PodIsAdmittedAtTheRestrictedLevel(t *testing.T) {
	env := install(t)
	deployment := envtest.WaitFor(t, env, namespace, "sei-operator", func(d *appsv1.Deployment) bool { return d != nil })
	dryRun := client.NewDryRunClient(env.Client)

	pod := podOf(deployment)
	if err := dryRun.Create(t.Context(), pod.DeepCopy()); err != nil {
		t.Errorf("the operator's pod is refused: %v", err)
	}
	pod.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
	if err := dryRun.Create(t.Context(), pod); err == nil {
		t.Error("a pod below the restricted level is admitted: the namespace enforces nothing")
	}
}

func podOf(d *appsv1.Deployment) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "operator", Labels: d.Spec.Template.Labels},
		Spec:       *d.Spec.Template.Spec.DeepCopy(),
	}
}

// token asks the API server for a service account's token.
func token(t *testing.T, env *envtest.Env, namespace, name string, audiences ...string) string {
	t.Helper()
	set, err := kubernetes.NewForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	got, err := set.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("asking for a token of %s/%s: %v", namespace, name, err)
	}
	return got.Status.Token
}

// asAccount is a configuration that may do what the service account may.
func asAccount(env *envtest.Env, token string) *rest.Config {
	config := rest.CopyConfig(env.Config)
	config.BearerToken, config.BearerTokenFile = token, ""
	return config
}

// newAccount makes a service account, bound to a ClusterRole if one is named.
func newAccount(t *testing.T, env *envtest.Env, namespace, name, clusterRole string) {
	t.Helper()
	objects := []client.Object{&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}}
	if clusterRole != "" {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: name}},
		}
		objects = append(objects, binding)
		t.Cleanup(func() { _ = env.Client.Delete(context.Background(), binding) })
	}
	for _, obj := range objects {
		if err := env.Client.Create(t.Context(), obj); err != nil && !strings.Contains(err.Error(), "already exists") {
			t.Fatal(err)
		}
	}
}
