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

func TestPolicies_TasksThatSign_TakeAVerbOfTheirOwn(t *testing.T) {
	w := newTenant(t)
	vote := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: "vote"}, Spec: v1alpha1.SeiNodeTaskSpec{
		Kind: v1alpha1.TaskKindGovVote, Target: v1alpha1.TaskTarget{NodeRef: v1alpha1.NodeRef{Name: "val"}},
		GovVote: &v1alpha1.GovVote{GovTx: v1alpha1.GovTx{ChainID: "pacific-1", KeyName: "admin", Fees: "1usei", Gas: 1}, ProposalID: 1, Option: "yes"},
	}}
	restart := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: "restart"}, Spec: v1alpha1.SeiNodeTaskSpec{
		Kind: v1alpha1.TaskKindRestartSeid, Target: vote.Spec.Target, RestartSeid: &v1alpha1.RestartSeid{},
	}}
	w.becomes("dev needs the verb sign on seinodetasks", w.dryRun(vote))
	if err := w.dryRun(restart)(t.Context()); err != nil {
		t.Errorf("a task that signs nothing: %v", err)
	}
	w.grant("sei-operator-signer")
	w.becomes("", w.dryRun(vote))
}

func TestPolicies_Images_AreOfTheListedRepositories(t *testing.T) {
	w := newTenant(t)
	with := func(change func(*v1alpha1.SeiNodeSpec)) *v1alpha1.SeiNode {
		n := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}}
		n.Spec = v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: allowedImage, FullNode: &v1alpha1.FullNodeSpec{}}
		change(&n.Spec)
		return n
	}
	bad := with(func(s *v1alpha1.SeiNodeSpec) { s.Image = "docker.io/evil/seid:v6" })
	w.becomes("image docker.io/evil/seid:v6 is of no repository", w.dryRun(bad))
	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}}
	fleet.Spec.Replicas, fleet.Spec.Template.Spec = 1, bad.Spec
	update := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: "u"}, Spec: v1alpha1.SeiNodeTaskSpec{
		Kind: v1alpha1.TaskKindUpdateNodeImage, Target: v1alpha1.TaskTarget{NodeRef: v1alpha1.NodeRef{Name: "rpc"}},
		UpdateNodeImage: &v1alpha1.UpdateNodeImage{Image: "evil:1"},
	}}
	for what, obj := range map[string]client.Object{
		"sidecar":       with(func(s *v1alpha1.SeiNodeSpec) { s.Sidecar = &v1alpha1.SidecarSpec{Image: "evil:1"} }),
		"a longer name": with(func(s *v1alpha1.SeiNodeSpec) { s.Image = "registry.example.com/sei-evil/seid:v6" }),
		"bootstrap": with(func(s *v1alpha1.SeiNodeSpec) {
			s.FullNode.Snapshot = &v1alpha1.SnapshotSource{BootstrapImage: "evil:1", S3: &v1alpha1.S3Snapshot{TargetHeight: 5}}
		}),
		"fleet": fleet, "task": update,
	} {
		if err := w.dryRun(obj)(t.Context()); err == nil || !strings.Contains(err.Error(), "is of no repository") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := w.dryRun(with(func(*v1alpha1.SeiNodeSpec) {}))(t.Context()); err != nil {
		t.Errorf("an image of the list: %v", err)
	}

	// An image that is there already blocks no other change.
	here := bad.DeepCopy()
	here.Namespace = w.namespace
	operator, err := client.New(w.env.As("system:serviceaccount:"+namespace+":"+account, "system:masters"), client.Options{Scheme: w.env.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	if err := operator.Create(t.Context(), here); err != nil {
		t.Fatalf("the operator itself: %v", err)
	}
	patch := func(text string) error {
		return w.Patch(t.Context(), &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}}, client.RawPatch(client.Merge.Type(), []byte(text)))
	}
	if err := patch(`{"spec":{"paused":true}}`); err != nil {
		t.Errorf("a change of something else: %v", err)
	}
	if err := patch(`{"spec":{"image":"docker.io/evil/seid:v7"}}`); err == nil || !strings.Contains(err.Error(), "v7 is of no repository") {
		t.Errorf("a change to another image: %v", err)
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
