package podsim_test

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

func TestMain(m *testing.M) { os.Exit(envtest.Main(m)) }

// world is a control plane, a namespace and a simulator for one test.
type world struct {
	*envtest.Env
	ns  string
	sim *podsim.Simulator
}

func newWorld(t *testing.T, opts podsim.Options) *world {
	t.Helper()
	env := envtest.Shared(t)
	opts.Namespace = env.Namespace(t)
	return &world{Env: env, ns: opts.Namespace, sim: podsim.Start(t, env.Config, opts)}
}

func (w *world) create(t *testing.T, objs ...client.Object) {
	t.Helper()
	for _, obj := range objs {
		obj.SetNamespace(w.ns)
		if err := w.Client.Create(t.Context(), obj); err != nil {
			t.Fatalf("creating %T %s: %v", obj, obj.GetName(), err)
		}
	}
}

func (w *world) delete(t *testing.T, obj client.Object, opts ...client.DeleteOption) {
	t.Helper()
	if err := w.Client.Delete(t.Context(), obj, opts...); err != nil {
		t.Fatalf("deleting %T %s: %v", obj, obj.GetName(), err)
	}
}

// pod waits until a pod of this name is as wanted.
func (w *world) pod(t *testing.T, name string, condition func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	return envtest.WaitFor(t, w.Env, w.ns, name, func(p *corev1.Pod) bool { return p != nil && condition(p) })
}

// history collects every state of a pod the API shows, until one is as wanted.
func (w *world) history(t *testing.T, name string, until func(*corev1.Pod) bool) []*corev1.Pod {
	t.Helper()
	var seen []*corev1.Pod
	envtest.WaitFor(t, w.Env, w.ns, name, func(p *corev1.Pod) bool {
		if p == nil {
			return false
		}
		seen = append(seen, p.DeepCopy())
		return until(p)
	})
	return seen
}

func newPod(name string, change ...func(*corev1.PodSpec)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			Containers:                    []corev1.Container{{Name: "main", Image: "image:1"}},
			TerminationGracePeriodSeconds: new(int64(30)),
		},
	}
	for _, f := range change {
		f(&pod.Spec)
	}
	return pod
}

func isReady(p *corev1.Pod) bool { return condition(p, corev1.PodReady).Status == corev1.ConditionTrue }

func condition(p *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

// status of a container, main or init; the zero value when it has none yet.
func status(p *corev1.Pod, name string) corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, s := range list {
			if s.Name == name {
				return s
			}
		}
	}
	return corev1.ContainerStatus{}
}
