package podsim_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

func gracePeriod(seconds int64) client.DeleteOption { return client.GracePeriodSeconds(seconds) }

func (w *world) gone(t *testing.T, pod string) {
	t.Helper()
	envtest.WaitGone[corev1.Pod](t, w.Env, w.ns, pod)
}

func checkLost(t *testing.T, w *world, name string) {
	t.Helper()
	envtest.WaitFor(t, w.Env, "", name, func(n *corev1.Node) bool {
		if n == nil || len(n.Spec.Taints) == 0 {
			return false
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady {
				return c.Status == corev1.ConditionUnknown
			}
		}
		return false
	})
	w.pod(t, "forced", func(p *corev1.Pod) bool {
		return condition(p, corev1.PodReady).Reason == "NodeNotReady" && p.Status.Phase == corev1.PodRunning
	})
}

// lastState deletes a pod and returns what the API showed right before it went.
func (w *world) lastState(t *testing.T, pod *corev1.Pod, opts ...client.DeleteOption) (states []*corev1.Pod) {
	t.Helper()
	var last *corev1.Pod
	began := make(chan struct{})
	go func() {
		<-began
		_ = w.Client.Delete(t.Context(), pod, opts...)
	}()
	envtest.WaitFor(t, w.Env, w.ns, pod.Name, func(p *corev1.Pod) bool {
		if last == nil {
			close(began)
		}
		if p != nil {
			last = p.DeepCopy()
			states = append(states, last)
		}
		return p == nil
	})
	return states
}

func TestDelete_EndsContainersReportsAndOnlyThenRemoves(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	w.create(t, newPod("p", withInit))
	states := w.lastState(t, w.pod(t, "p", isReady))
	last := states[len(states)-1]
	for _, name := range []string{"main", "sidecar"} {
		if s := status(last, name).State.Terminated; s == nil || s.ExitCode != 0 {
			t.Errorf("container %s ended as %+v, want exit code 0", name, status(last, name).State)
		}
	}
	if last.DeletionTimestamp == nil || last.Status.Phase != corev1.PodSucceeded {
		t.Errorf("the last state is %s, deleted at %v", last.Status.Phase, last.DeletionTimestamp)
	}
	if isReady(last) {
		t.Error("a pod whose containers have ended is ready")
	}
}

func TestDelete_ContainersThatOutlastTheGracePeriod_AreKilled(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	w.sim.Rule(podsim.Match{Pod: "p"}, podsim.Behaviour{StopDelay: time.Hour})
	w.create(t, newPod("p"))
	pod := w.pod(t, "p", isReady)
	began := time.Now()
	states := w.lastState(t, pod, gracePeriod(1))
	last := states[len(states)-1]
	if s := status(last, "main").State.Terminated; s == nil || s.ExitCode != 137 || last.Status.Phase != corev1.PodFailed {
		t.Errorf("the container ended as %+v, the pod as %s", status(last, "main").State, last.Status.Phase)
	}
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("the pod went after %s, before its grace period of 1 s", took)
	}
}

func TestDelete_WithinTheGracePeriod_ThePodIsStillThere(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	remove := w.sim.Rule(podsim.Match{Pod: "p"}, podsim.Behaviour{StopDelay: time.Hour})
	w.create(t, newPod("p"))
	w.delete(t, w.pod(t, "p", isReady))
	p := w.pod(t, "p", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	if status(p, "main").State.Running == nil {
		t.Error("the container was stopped before its time")
	}
	remove()
	w.gone(t, "p")
}
