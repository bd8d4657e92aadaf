package sidecarsim_test

import (
	"context"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	seiv1alpha1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

func TestMain(m *testing.M) { os.Exit(envtest.Main(m)) }

type token string

func (t token) Token(context.Context, string) (string, error) { return string(t), nil }

func (token) Refused(string, string) {}

// world is a namespace with simulated pods and sidecars.
type world struct {
	*envtest.Env
	ns       string
	sim      *podsim.Simulator
	sidecars *sidecarsim.Sidecars
	pool     *client.Pool
	// change is done to every pod before it is created.
	change func(*corev1.PodSpec)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Shared(t)
	w := &world{Env: env, ns: env.Namespace(t), sidecars: sidecarsim.Start(t, sidecarsim.Options{Token: "secret"})}
	w.sim = podsim.Start(t, env.Config, podsim.Options{Namespace: w.ns, Runtime: w.sidecars})
	w.pool = client.NewPool(client.Options{Tokens: token("secret")})
	return w
}

// node makes a claim and a pod like those of a SeiNode.
func (w *world) node(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "data-" + name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	if err := w.Client.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	return w.pod(t, name)
}

func (w *world) pod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	gate := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/v0/startupz", Port: intstr.FromInt32(7777)}}}
	lag := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: api.PathInSync, Port: intstr.FromInt32(7777)}}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name + "-0", Labels: map[string]string{seiv1alpha1.LabelNode: name}},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{
				Name: "sidecar", Image: "sidecar:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
				Ports: []corev1.ContainerPort{{ContainerPort: 7777}},
			}},
			Containers: []corev1.Container{{Name: "seid", Image: "seid:1", StartupProbe: gate, ReadinessProbe: lag}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + name},
			}}},
		},
	}
	if w.change != nil {
		w.change(&pod.Spec)
	}
	if err := w.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return w.running(t, pod.Name)
}

// running waits until the pod's containers run; the gate may be closed.
func (w *world) running(t *testing.T, pod string) *corev1.Pod {
	t.Helper()
	return envtest.WaitFor(t, w.Env, w.ns, pod, func(p *corev1.Pod) bool { return p != nil && p.Status.Phase == corev1.PodRunning })
}

func (w *world) awaitReady(t *testing.T, pod string, ready bool) {
	t.Helper()
	envtest.WaitFor(t, w.Env, w.ns, pod, func(p *corev1.Pod) bool { return p != nil && isReady(p) == ready })
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (w *world) sidecar(pod *corev1.Pod) client.Sidecar {
	return w.pool.Sidecar(client.Target{
		Address: pod.Status.PodIP + ":7777", Node: sidecarsim.NodeOf(pod), PodUID: string(pod.UID),
	})
}
