package rendertest_test

import (
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/render/rendertest"
	"github.com/sei-operator/sei-operator/test/envtest"
)

func TestMain(m *testing.M) { os.Exit(envtest.Main(m)) }

// restrictedNamespace enforces the restricted Pod Security level.
func restrictedNamespace(t *testing.T, env *envtest.Env) string {
	t.Helper()
	ns := &corev1.Namespace{}
	name := env.Namespace(t)
	if err := env.Client.Get(t.Context(), client.ObjectKey{Name: name}, ns); err != nil {
		t.Fatal(err)
	}
	before := client.MergeFrom(ns.DeepCopy())
	ns.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	if err := env.Client.Patch(t.Context(), ns, before); err != nil {
		t.Fatal(err)
	}
	return name
}

// created is a node that the API server has accepted, with everything a user
// can ask of its pod.
func created(t *testing.T, env *envtest.Env, n *v1alpha1.SeiNode) render.Input {
	t.Helper()
	n.UID = ""
	n.Spec.Resources = &corev1.ResourceRequirements{
		Requests: rendertest.Resources("cpu", "1500m", "memory", "0.5Gi"), Limits: rendertest.Resources("memory", "1024Mi"),
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	term := corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: selector, NamespaceSelector: &metav1.LabelSelector{}}
	n.Spec.Scheduling = &v1alpha1.SchedulingSpec{
		NodeSelector: map[string]string{"disk": "fast"},
		Tolerations:  []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}, {Key: "b", Value: "c"}},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}},
		}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector},
		},
	}
	if err := env.Client.Create(t.Context(), n); err != nil {
		t.Fatalf("creating node: %v", err)
	}
	return rendertest.Input(n)
}

type rendered struct {
	name string
	want runtime.ApplyConfiguration
	live client.Object
}

func objectsOf(t *testing.T, in render.Input) []rendered {
	t.Helper()
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: in.Node.Namespace, Name: name}
	}
	sts, err := render.StatefulSet(in)
	if err != nil {
		t.Fatal(err)
	}
	objects := []rendered{
		{"service", render.Service(in), &corev1.Service{ObjectMeta: meta(in.Node.Name)}},
		{"statefulset", sts, &appsv1.StatefulSet{ObjectMeta: meta(in.Node.Name)}},
	}
	if claim := render.DataClaim(in); claim != nil {
		objects = append(objects, rendered{"claim", claim, &corev1.PersistentVolumeClaim{ObjectMeta: meta(render.ClaimName(in.Node))}})
	}
	if source := in.Node.Spec.Snapshot(); source != nil && source.BootstrapImage != "" {
		job, err := render.BootstrapJob(in)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, rendered{"job", job, &batchv1.Job{ObjectMeta: meta(render.BootstrapJobName(in.Node))}})
	}
	return objects
}

func apply(t *testing.T, env *envtest.Env, want runtime.ApplyConfiguration) {
	t.Helper()
	if err := env.Client.Apply(t.Context(), want, client.FieldOwner(v1alpha1.FieldOwnerSeiNode), client.ForceOwnership); err != nil {
		t.Fatalf("applying: %v", err)
	}
}

func read[T client.Object](t *testing.T, env *envtest.Env, object T) T {
	t.Helper()
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatalf("reading: %v", err)
	}
	return object
}

// Proves C5: what the API server makes of a rendered object is covered by it,
// and applying it once more changes nothing.
func TestAPIServer_EveryMode_DefaultsAreNoDrift(t *testing.T) {
	env := envtest.Shared(t)
	for name, n := range rendertest.EveryNode() {
		t.Run(name, func(t *testing.T) {
			n.Namespace = restrictedNamespace(t, env)
			in := created(t, env, n)
			// Applying fills the configuration with the server's answer, so each
			// step renders afresh.
			first, second, third := objectsOf(t, in), objectsOf(t, in), objectsOf(t, in)
			for i, object := range first {
				apply(t, env, object.want)
				live := read(t, env, object.live)
				if ok, path := render.Covers(second[i].want, live); !ok {
					t.Errorf("%s: differs at %s", object.name, path)
				}
				generation := live.GetGeneration()
				apply(t, env, third[i].want)
				if again := read(t, env, object.live).GetGeneration(); again != generation {
					t.Errorf("%s: applying it again made generation %d of %d", object.name, again, generation)
				}
			}
			// The StatefulSet controller makes the pod, under the restricted level.
			envtest.WaitFor(t, env, n.Namespace, render.PodName(n), func(p *corev1.Pod) bool { return p != nil })
		})
	}
}

// Older operators made claims with an owner; applying the claim as it is now takes it off.
func TestAPIServer_ClaimOfAnOlderOperator_LosesItsOwner(t *testing.T) {
	env := envtest.Shared(t)
	n := rendertest.FullNode()
	n.Namespace = restrictedNamespace(t, env)
	in := created(t, env, n)
	older := render.DataClaim(in)
	older.WithOwnerReferences(metav1ac.OwnerReference().WithAPIVersion(v1alpha1.GroupVersion.String()).
		WithKind("SeiNode").WithName(n.Name).WithUID(in.Node.UID).WithController(true))
	apply(t, env, older)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: n.Namespace, Name: render.ClaimName(n)}}
	if owners := read(t, env, claim).OwnerReferences; len(owners) != 1 {
		t.Fatalf("owners %v, want 1 of them", owners)
	}
	apply(t, env, render.DataClaim(in))
	if owners := read(t, env, claim).OwnerReferences; len(owners) != 0 {
		t.Errorf("owners %v: the claim would be collected with its node", owners)
	}
}

func TestAPIServer_ChangedSidecarPort_MovesTheServicePort(t *testing.T) {
	env := envtest.Shared(t)
	n := rendertest.FullNode()
	n.Namespace = restrictedNamespace(t, env)
	in := created(t, env, n)
	apply(t, env, render.Service(in))
	n.Spec.Sidecar = &v1alpha1.SidecarSpec{Port: 9999}
	service := read(t, env, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: n.Namespace, Name: n.Name}})
	if ok, path := render.Covers(render.Service(in), service); ok || path != "spec.ports[sidecar].port" {
		t.Errorf("covered=%v at %q", ok, path)
	}
	apply(t, env, render.Service(in))
	if ok, path := render.Covers(render.Service(in), read(t, env, service)); !ok || len(service.Spec.Ports) != 8 {
		t.Errorf("differs at %q, ports %v", path, service.Spec.Ports)
	}
}
