package podsim_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

func TestImage_ThatCannotBePulled_BacksOffAndRecovers(t *testing.T) {
	w := newWorld(t, podsim.Options{EveryStep: true})
	remove := w.sim.Rule(podsim.Match{Image: "image:bad"}, podsim.Behaviour{PullError: "manifest unknown"})
	w.create(t, newPod("good"), newPod("bad", func(s *corev1.PodSpec) { s.Containers[0].Image = "image:bad" }))
	w.pod(t, "good", isReady)
	seen := w.history(t, "bad", func(p *corev1.Pod) bool {
		s := status(p, "main").State.Waiting
		return s != nil && s.Reason == "ImagePullBackOff" && strings.Contains(s.Message, "manifest unknown")
	})
	last := seen[len(seen)-1]
	if last.Status.Phase != corev1.PodPending || status(last, "main").ImageID != "" {
		t.Errorf("the pod is %s with image id %q", last.Status.Phase, status(last, "main").ImageID)
	}
	remove()
	w.pod(t, "bad", isReady)
}

func TestContainer_ThatCrashes_LoopsWithGrowingPausesAndRecovers(t *testing.T) {
	w := newWorld(t, podsim.Options{CrashBackOff: 10 * time.Millisecond})
	remove := w.sim.Rule(podsim.Match{Pod: "p", Container: "main"}, podsim.Behaviour{Exit: new(int32(2))})
	w.create(t, newPod("p"))
	p := w.pod(t, "p", func(p *corev1.Pod) bool {
		s := status(p, "main")
		return s.RestartCount >= 3 && s.State.Waiting != nil && s.State.Waiting.Reason == "CrashLoopBackOff"
	})
	s := status(p, "main")
	if last := s.LastTerminationState.Terminated; last == nil || last.ExitCode != 2 || last.Reason != "Error" {
		t.Errorf("the last state is %+v, want exit code 2", s.LastTerminationState)
	}
	if p.Status.Phase != corev1.PodRunning || isReady(p) {
		t.Errorf("a crash-looping pod is Running and not ready; it is %s", p.Status.Phase)
	}
	remove()
	w.pod(t, "p", isReady)
}

func TestContainer_ThatCrashesAfterAWhile_IsReadyUntilThen(t *testing.T) {
	w := newWorld(t, podsim.Options{CrashBackOff: 10 * time.Millisecond})
	w.sim.Rule(podsim.Match{Pod: "p", Container: "main"}, podsim.Behaviour{Exit: new(int32(2)), ExitAfter: 300 * time.Millisecond})
	w.create(t, newPod("p"))
	for restarts := range int32(3) {
		w.pod(t, "p", func(p *corev1.Pod) bool { return isReady(p) && status(p, "main").RestartCount >= restarts })
		w.pod(t, "p", func(p *corev1.Pod) bool { return !isReady(p) })
	}
}

func TestKill_RestartsTheContainerAndNothingElse(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	w.create(t, newPod("p", withInit))
	before := w.pod(t, "p", isReady)
	if err := w.sim.Kill(w.ns, "p", "sidecar", 137); err != nil {
		t.Fatal(err)
	}
	after := w.pod(t, "p", func(p *corev1.Pod) bool { return status(p, "sidecar").RestartCount == 1 && isReady(p) })
	if status(after, "sidecar").ContainerID == status(before, "sidecar").ContainerID {
		t.Error("the restarted sidecar has the old container id")
	}
	if last := status(after, "sidecar").LastTerminationState.Terminated; last == nil || last.ExitCode != 137 {
		t.Errorf("the sidecar's last state is %+v", last)
	}
	if status(after, "main").ContainerID != status(before, "main").ContainerID || after.UID != before.UID {
		t.Error("more than the sidecar was restarted")
	}
	if err := w.sim.Kill(w.ns, "p", "first", 1); err == nil {
		t.Error("a container that has completed can be killed")
	}
}

// probes is a runtime whose answers a test decides.
type probes struct {
	podsim.NoRuntime
	mu     sync.Mutex
	passes map[podsim.ProbeKind]bool
	events []string
	poke   func(namespace, pod string)
}

func (r *probes) Probe(_ podsim.Container, kind podsim.ProbeKind, _ *corev1.Probe) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.passes[kind]
}

func (r *probes) Started(c podsim.Container) { r.note("start " + c.Name) }
func (r *probes) Stopped(c podsim.Container) { r.note("stop " + c.Name) }

func (r *probes) note(event string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

func (r *probes) Notify(poke func(namespace, pod string)) { r.poke = poke }

func (r *probes) set(namespace, pod string, kind podsim.ProbeKind, passes bool) {
	r.mu.Lock()
	r.passes[kind] = passes
	r.mu.Unlock()
	r.poke(namespace, pod)
}

func TestReadiness_FollowsTheRuntimesProbes(t *testing.T) {
	runtime := &probes{passes: map[podsim.ProbeKind]bool{}}
	w := newWorld(t, podsim.Options{Runtime: runtime})
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
	w.create(t, newPod("p", func(s *corev1.PodSpec) {
		s.Containers[0].StartupProbe, s.Containers[0].ReadinessProbe = probe, probe
	}))
	p := w.pod(t, "p", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	if s := status(p, "main"); *s.Started || s.Ready {
		t.Errorf("no probe has passed, yet the container is %+v", s)
	}
	runtime.set(w.ns, "p", podsim.StartupProbe, true)
	p = w.pod(t, "p", func(p *corev1.Pod) bool { return *status(p, "main").Started })
	if isReady(p) {
		t.Error("the readiness probe has not passed, yet the pod is ready")
	}
	runtime.set(w.ns, "p", podsim.ReadinessProbe, true)
	w.pod(t, "p", isReady)
	runtime.set(w.ns, "p", podsim.StartupProbe, false)
	runtime.set(w.ns, "p", podsim.ReadinessProbe, false)
	p = w.pod(t, "p", func(p *corev1.Pod) bool { return !isReady(p) })
	if s := status(p, "main"); !*s.Started {
		t.Error("a startup probe is asked once only, yet it was taken back")
	}
	if c := condition(p, corev1.PodReady); c.Reason != "ContainersNotReady" || !strings.Contains(c.Message, "[main]") {
		t.Errorf("the condition does not name the container: %+v", c)
	}
}

func TestRule_NotReady_HoldsReadinessBack(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	remove := w.sim.Rule(podsim.Match{Pod: "p"}, podsim.Behaviour{NotReady: true})
	w.create(t, newPod("p"))
	w.pod(t, "p", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning && !isReady(p) })
	remove()
	w.pod(t, "p", isReady)
	w.sim.Rule(podsim.Match{Pod: "held", Container: "main"}, podsim.Behaviour{Hold: true})
	w.create(t, newPod("held", withInit))
	w.pod(t, "held", func(p *corev1.Pod) bool {
		return condition(p, corev1.PodInitialized).Status == corev1.ConditionTrue && status(p, "main").State.Waiting != nil
	})
}

var _ podsim.Runtime = (*probes)(nil)

// reachability remembers what it was told.
type reachability struct {
	podsim.NoRuntime
	told chan bool
}

func (r *reachability) SetReachable(_ types.UID, reachable bool) { r.told <- reachable }

func TestLostNode_KeepsItsPodsTerminatingUntilForcedOrBack(t *testing.T) {
	runtime := &reachability{told: make(chan bool, 10)}
	w := newWorld(t, podsim.Options{Runtime: runtime, Nodes: 1})
	w.create(t, newPod("forced"), newPod("patient"))
	forced, patient := w.pod(t, "forced", isReady), w.pod(t, "patient", isReady)
	if err := w.sim.LoseNode(t.Context(), forced.Spec.NodeName); err != nil {
		t.Fatal(err)
	}
	checkLost(t, w, forced.Spec.NodeName)
	if reachable := <-runtime.told; reachable {
		t.Error("the runtime was told the pod is reachable")
	}
	w.delete(t, forced)
	w.delete(t, patient)
	for _, name := range []string{"forced", "patient"} {
		p := w.pod(t, name, func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
		if status(p, "main").State.Running == nil {
			t.Errorf("nobody can have stopped the containers of %s", name)
		}
	}
	w.delete(t, forced, gracePeriod(0))
	w.gone(t, "forced")
	if err := w.sim.RestoreNode(t.Context(), patient.Spec.NodeName); err != nil {
		t.Fatal(err)
	}
	w.gone(t, "patient")
	w.create(t, newPod("next"))
	w.pod(t, "next", isReady)
}
