package task

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/render/rendertest"
)

// claimEnv is the environment of a node whose claim is as wanted, but for what change does to it.
// writes counts what is sent; refused is how the API server answers.
func claimEnv(t *testing.T, refused error, change func(*corev1.PersistentVolumeClaim)) (env *Env, writes *int) {
	t.Helper()
	in := rendertest.Input(rendertest.FullNode())
	in.Node.Namespace, in.Node.UID, in.Node.ResourceVersion = "sei", "node", "1"
	live, err := render.Convert[corev1.PersistentVolumeClaim](render.DataClaim(in))
	if err != nil {
		t.Fatal(err)
	}
	live.UID, live.ResourceVersion = "claim", "7"
	change(live)
	writes = new(int)
	c := fake.NewClientBuilder().WithObjects(live).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, o ...client.ApplyOption) error {
			*writes++
			if refused != nil {
				return refused
			}
			return c.Apply(ctx, obj, o...)
		},
	}).Build()
	return &Env{
		Client: c, Node: in.Node, Observed: &Objects{Claim: live}, Render: in, Facts: &Facts{}, InShape: &InShape{}, Wrote: func(client.Object) {},
	}, writes
}

func TestSyncClaim_WritesOnlyWhatMayChange(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, "data-n", nil)
	size := func(text string) func(*corev1.PersistentVolumeClaim) {
		return func(c *corev1.PersistentVolumeClaim) {
			c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(text)
		}
	}
	for name, c := range map[string]struct {
		change  func(*corev1.PersistentVolumeClaim)
		refused error
		writes  int
		problem bool
	}{
		"as wanted":                      {func(*corev1.PersistentVolumeClaim) {}, nil, 0, false},
		"larger than wanted":             {size("900Ti"), nil, 0, false},
		"smaller than wanted":            {size("1Gi"), nil, 1, false},
		"smaller, and its class forbids": {size("1Gi"), forbidden, 1, true},
		"another class":                  {func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("theirs") }, nil, 0, false},
		"without our labels":             {func(c *corev1.PersistentVolumeClaim) { c.Labels = nil }, nil, 1, false},
		// An owner would have the garbage collector take the volume.
		"owned by the node, as older operators made it": {func(c *corev1.PersistentVolumeClaim) {
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "sei.io/v1alpha1", Kind: v1alpha1.KindSeiNode, Name: "n", UID: "node", Controller: new(true)}}
		}, nil, 1, false},
	} {
		env, writes := claimEnv(t, c.refused, c.change)
		if o := SyncClaim(t.Context(), env); !o.IsDone() {
			t.Errorf("%s: %+v, want it done", name, o)
		}
		if *writes != c.writes || (env.Facts.VolumeProblem != "") != c.problem {
			t.Errorf("%s: %d writes, want %d; problem %q", name, *writes, c.writes, env.Facts.VolumeProblem)
		}
		// What was as it should be is not compared again; what was not is.
		if known := env.InShape.known(env.Node, env.Observed.Claim); known != (c.writes == 0) {
			t.Errorf("%s: known to be in shape: %t", name, known)
		}
	}
}

// An operator that has rights in some namespaces only cannot read volumes, which are in none: it takes
// a claim by what the claim itself says.
func TestCheckImportedClaim_VolumeThatMayNotBeRead_IsTaken(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumes"}, "pv", nil)
	unreachable := apierrors.NewServiceUnavailable("down")
	for name, c := range map[string]struct {
		err  error
		done bool
	}{"forbidden": {forbidden, true}, "not there": {apierrors.NewNotFound(schema.GroupResource{}, "pv"), false}, "unreachable": {unreachable, false}} {
		scheme := runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
			if err := add(scheme); err != nil {
				t.Fatal(err)
			}
		}
		reader := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return c.err
			},
		}).Build()
		in := rendertest.Input(rendertest.Replayer())
		claim := &corev1.PersistentVolumeClaim{
			Spec:   corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: "pv"},
			Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: rendertest.Resources("storage", "90Ti")},
		}
		o := checkImportedClaim(t.Context(), &Env{Client: reader, Live: reader, Node: in.Node, Observed: &Objects{Claim: claim}, Render: in})
		if o.IsDone() != c.done {
			t.Errorf("%s: %+v, want done: %t", name, o, c.done)
		}
	}
}
