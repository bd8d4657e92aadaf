package install_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
)

const allowedImage = "registry.example.com/sei/seid:v6"

// tenant is a user who may edit a namespace in which the policies are in force, and nowhere else:
// other tests share the API server.
type tenant struct {
	client.Client
	t         *testing.T
	env       *envtest.Env
	namespace string
}

func newTenant(t *testing.T) tenant {
	t.Helper()
	env := install(t)
	w := tenant{t: t, env: env, namespace: env.Namespace(t)}
	for _, obj := range renderDir(t, "policies") {
		if obj.GetKind() == "ValidatingAdmissionPolicyBinding" {
			selector := map[string]any{"matchLabels": map[string]any{corev1.LabelMetadataName: w.namespace}}
			if err := unstructured.SetNestedMap(obj.Object, selector, "spec", "matchResources", "namespaceSelector"); err != nil {
				t.Fatal(err)
			}
		}
		if err := env.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner("install"), client.ForceOwnership); err != nil {
			t.Fatalf("applying %s %s: %v", obj.GetKind(), obj.GetName(), err)
		}
	}
	w.grant("sei-operator-edit")
	c, err := client.New(env.As("dev"), client.Options{Scheme: env.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	w.Client = client.NewNamespacedClient(c, w.namespace)
	return w
}

// grant binds a ClusterRole to the tenant in its namespace.
func (w tenant) grant(role string) {
	w.t.Helper()
	err := w.env.Client.Create(w.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "dev"}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// becomes tries until the answer holds the words, or is no refusal when there are none: an API server takes up policies and roles in its own time.
func (w tenant) becomes(words string, try func(context.Context) error) {
	w.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(w.t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		answer := try(ctx)
		if ctx.Err() == nil {
			last = answer
		}
		return words == "" && answer == nil || words != "" && answer != nil && strings.Contains(answer.Error(), words), nil
	})
	if err != nil {
		w.t.Fatalf("the answer is %v, want %q", last, words)
	}
}

func (w tenant) dryRun(obj client.Object) func(context.Context) error {
	return func(ctx context.Context) error {
		return w.Create(ctx, obj.DeepCopyObject().(client.Object), client.DryRunAll)
	}
}

func validatorNode(name string, volume *v1alpha1.DataVolumeSpec) *v1alpha1.SeiNode {
	return &v1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: allowedImage, Validator: &v1alpha1.ValidatorSpec{}, DataVolume: volume},
	}
}

func TestPolicies_ValidatorsWhoseVolumeWouldGo_AreNotDeleted(t *testing.T) {
	w := newTenant(t)
	create := func(obj client.Object) client.Object {
		if err := w.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		return obj
	}
	goes := create(validatorNode("goes", &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeDelete}))
	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "vals"}}
	fleet.Spec.Replicas = 1
	fleet.Spec.Template.Spec = validatorNode("", &v1alpha1.DataVolumeSpec{Retention: &v1alpha1.VolumeRetention{WhenDeleted: v1alpha1.VolumeDelete}}).Spec
	create(fleet)
	remove := func(obj client.Object) func(context.Context) error {
		return func(ctx context.Context) error { return w.Delete(ctx, obj, client.DryRunAll) }
	}
	w.becomes("SeiNode goes is a validator whose volume would be deleted with it", remove(goes))
	if err := remove(fleet)(t.Context()); err == nil || !strings.Contains(err.Error(), "whenDeleted: Retain first") {
		t.Errorf("a fleet: %v", err)
	}
	for _, obj := range []client.Object{
		create(validatorNode("default", nil)), // validators keep their volume
		create(validatorNode("stays", &v1alpha1.DataVolumeSpec{Retention: &v1alpha1.VolumeRetention{WhenDeleted: v1alpha1.VolumeRetain, WhenScaled: v1alpha1.VolumeDelete}})),
		create(&v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}, Spec: v1alpha1.SeiNodeSpec{
			ChainID: "pacific-1", Image: allowedImage, FullNode: &v1alpha1.FullNodeSpec{}, DataVolume: &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeDelete},
		}}),
	} {
		if err := remove(obj)(t.Context()); err != nil {
			t.Errorf("%s: %v", obj.GetName(), err)
		}
	}
	keep := client.RawPatch(client.Merge.Type(), []byte(`{"spec":{"dataVolume":{"deletionPolicy":"Retain"}}}`))
	if err := w.Patch(t.Context(), goes, keep); err != nil {
		t.Fatal(err)
	}
	if err := remove(goes)(t.Context()); err != nil {
		t.Errorf("with its volume retained: %v", err)
	}
}
