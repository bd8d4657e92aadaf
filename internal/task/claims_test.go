package task

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render/rendertest"
)

func controlledBy(uid types.UID, name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "sei.io/v1alpha1", Kind: v1alpha1.KindSeiNode, Name: name, UID: uid, Controller: new(true)}}
}

// S7: a claim is taken if it was made for this node, by uid, or was left behind for its name.
func TestEnsureDataPVC_TakesOnlyTheNodesOwnClaim(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*corev1.PersistentVolumeClaim)
		reason string // empty: it is taken
	}{
		"left behind by an earlier node":     {func(*corev1.PersistentVolumeClaim) {}, ""},
		"controlled by the node":             {func(c *corev1.PersistentVolumeClaim) { c.OwnerReferences = controlledBy("node", "n") }, ""},
		"controlled by an earlier node":      {func(c *corev1.PersistentVolumeClaim) { c.OwnerReferences = controlledBy("earlier", "n") }, v1alpha1.ReasonPVCInvalid},
		"somebody else's, without the label": {func(c *corev1.PersistentVolumeClaim) { c.Labels = nil }, v1alpha1.ReasonPVCInvalid},
		"the node's own, but it is on its way": {func(c *corev1.PersistentVolumeClaim) {
			c.DeletionTimestamp = new(metav1.Now())
			c.Finalizers = []string{"a/b"}
		}, v1alpha1.ReasonPVCNotReady},
	} {
		env, writes := claimEnv(t, nil, c.change)
		env.Node.Name = "n"
		if c.reason == "" {
			env.Observed.Claim.Labels[v1alpha1.LabelNode] = "n"
		}
		o := ensureDataPVC(t.Context(), env, nil)
		if o.Reason != c.reason || o.IsDone() != (c.reason == "") || c.reason != "" && *writes > 0 {
			t.Errorf("%s: %+v after %d writes", name, o, *writes)
		}
	}
}

// V3, S7: a claim that somebody else has, or uses, is not imported.
func TestCheckImportedClaim_ThatSomebodyElseHas_IsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		owner  []metav1.OwnerReference
		others []client.Object
		reason string
	}{
		"nobody":             {nil, nil, ""},
		"the node itself":    {controlledBy("uid-n", "n"), nil, ""},
		"another node":       {controlledBy("other", "other"), nil, v1alpha1.ReasonPVCInvalid},
		"a pod mounts it":    {nil, []client.Object{podOn("old-data", "", corev1.PodRunning)}, v1alpha1.ReasonPVCInvalid},
		"a node lives there": {nil, []client.Object{nodeOn("n2", "old-data", 1)}, v1alpha1.ReasonPVCInvalid},
	} {
		scheme := runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
			if err := add(scheme); err != nil {
				t.Fatal(err)
			}
		}
		reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(c.others, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}})...).Build()
		in := rendertest.Input(nodeOn("n", "old-data", 0))
		in.Node.Spec.FullNode = &v1alpha1.FullNodeSpec{}
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: c.owner},
			Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: "pv"},
			Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: rendertest.Resources("storage", "90Ti")},
		}
		o := checkImportedClaim(t.Context(), &Env{Client: reader, Live: reader, Node: in.Node, Observed: &Objects{Claim: claim}, Render: in})
		if o.Reason != c.reason || o.IsDone() != (c.reason == "") {
			t.Errorf("%s: %+v, want Reason %v and done: %t", name, o, c.reason, c.reason == "")
		}
	}
}

// A bootstrap Job is deleted by its UID, and its pod has to be gone before anything else gets the
// volume. A Job that is not the node's is not taken for one. (S7)
func TestBootstrapJob_IsTheNodesOwnAndGoesWithItsPod(t *testing.T) {
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "n", UID: "node"}}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "n-bootstrap", UID: "job", OwnerReferences: controlledBy("node", "n")}}
	c := strict{Client: fake.NewClientBuilder().WithObjects(job).Build()}
	env := &Env{Client: c, Node: node, Observed: &Objects{Job: job.DeepCopy()}, Facts: &Facts{}}
	env.Observed.Job.UID = "earlier"
	if o := teardownBootstrap(t.Context(), env, nil); !o.IsWait() {
		t.Errorf("outcome %+v, want it waiting", o)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(job), &batchv1.Job{}); err != nil {
		t.Fatalf("a Job that nobody has seen was deleted: %v", err)
	}
	env.Observed.Job.UID = "job"
	if o := teardownBootstrap(t.Context(), env, nil); !o.IsWait() {
		t.Errorf("outcome %+v, want it waiting", o)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(job), &batchv1.Job{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Job: %v", err)
	}
	env.Observed.Job = nil
	env.Observed.Pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelComponent: v1alpha1.ComponentBootstrap}}}
	if o := teardownBootstrap(t.Context(), env, nil); !o.IsWait() {
		t.Errorf("with its pod still there: %+v", o)
	}
	env.Observed.Pod = nil
	if o := teardownBootstrap(t.Context(), env, nil); !o.IsDone() {
		t.Errorf("with nothing left: %+v", o)
	}
	foreign := job.DeepCopy()
	foreign.OwnerReferences = controlledBy("other", "n")
	env.Observed.Job = foreign
	if o := deployBootstrapJob(t.Context(), env, nil); o.Reason != ReasonForeignObject {
		t.Errorf("with a Job of somebody else: %+v", o)
	}
}

// A NetworkPolicy that is not wanted any more is removed if it is the node's, by its UID.
func TestSyncNetworkPolicy_NotWantedAnyMore_OnlyTheNodesOwnGoes(t *testing.T) {
	for name, c := range map[string]struct {
		owner types.UID
		seen  types.UID
		gone  bool
	}{
		"the node's own":                 {"node", "policy", true},
		"one that took its place since":  {"node", "earlier", false},
		"somebody else's under the name": {"other", "policy", false},
	} {
		policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "n", UID: "policy", OwnerReferences: controlledBy(c.owner, "n")}}
		api := strict{Client: fake.NewClientBuilder().WithObjects(policy).Build()}
		in := rendertest.Input(rendertest.FullNode())
		in.Node.Namespace, in.Node.Name, in.Node.UID = "sei", "n", "node"
		in.Platform.NetworkPolicies = platform.NetworkPolicies{Enabled: new(false)}
		env := &Env{Client: api, Node: in.Node, Render: in, Observed: &Objects{NetworkPolicy: policy.DeepCopy()}, Deleted: func(client.Object) {}}
		env.Observed.NetworkPolicy.UID = c.seen
		_, err := SyncNetworkPolicy(t.Context(), env)
		if (err != nil) != (c.seen != "policy") {
			t.Errorf("%s: %v, want an error: %t", name, err, c.seen != "policy")
		}
		err = api.Get(t.Context(), types.NamespacedName{Namespace: "sei", Name: "n"}, &networkingv1.NetworkPolicy{})
		if apierrors.IsNotFound(err) != c.gone {
			t.Errorf("%s: the policy: %v", name, err)
		}
	}
}
