package podsim_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

func withInit(s *corev1.PodSpec) {
	s.InitContainers = []corev1.Container{
		{Name: "first", Image: "init:1"},
		{Name: "sidecar", Image: "sidecar:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
		{Name: "last", Image: "init:2"},
	}
}

func TestPod_GoesThroughItsLifeInOrder(t *testing.T) {
	w := newWorld(t, podsim.Options{EveryStep: true})
	hold := w.sim.Rule(podsim.Match{Pod: "p"}, podsim.Behaviour{Unschedulable: "not yet"})
	w.create(t, newPod("p", withInit))
	w.pod(t, "p", func(p *corev1.Pod) bool { return condition(p, corev1.PodScheduled).Message == "not yet" })
	go hold()
	seen := w.history(t, "p", isReady)

	milestones := []struct {
		name string
		is   func(*corev1.Pod) bool
	}{
		{"scheduled", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" }},
		{"first init container runs", func(p *corev1.Pod) bool { return status(p, "first").State.Running != nil }},
		{"first init container completed", func(p *corev1.Pod) bool {
			s := status(p, "first").State.Terminated
			return s != nil && s.ExitCode == 0 && s.Reason == "Completed"
		}},
		{"sidecar started", func(p *corev1.Pod) bool { return *status(p, "sidecar").Started }},
		{"last init container runs", func(p *corev1.Pod) bool { return status(p, "last").State.Running != nil }},
		{"initialized", func(p *corev1.Pod) bool { return condition(p, corev1.PodInitialized).Status == corev1.ConditionTrue }},
		{"main runs", func(p *corev1.Pod) bool {
			return status(p, "main").State.Running != nil && p.Status.Phase == corev1.PodRunning
		}},
		{"ready", isReady},
	}
	at := 0
	for i, p := range seen {
		for at < len(milestones) && milestones[at].is(p) {
			at++
		}
		if at+1 < len(milestones) && milestones[at+1].is(p) && milestones[at].name != "first init container runs" {
			t.Errorf("state %d: %s before %s", i, milestones[at+1].name, milestones[at].name)
		}
	}
	if at != len(milestones) {
		t.Errorf("the pod was never seen: %s", milestones[at].name)
	}
	for _, p := range seen {
		if status(p, "main").State.Running != nil && !*status(p, "sidecar").Started {
			t.Error("main ran before the sidecar had started")
		}
		if status(p, "sidecar").State.Running != nil && status(p, "first").State.Terminated == nil {
			t.Error("the sidecar ran before the init container in front of it had completed")
		}
	}
	checkShapes(t, seen[len(seen)-1])
}

// checkShapes looks at what a kubelet fills in for a running pod.
func checkShapes(t *testing.T, p *corev1.Pod) {
	t.Helper()
	ip, err := netip.ParseAddr(p.Status.PodIP)
	if err != nil || !ip.IsLoopback() || len(p.Status.PodIPs) != 1 {
		t.Errorf("pod IP %q %v", p.Status.PodIP, p.Status.PodIPs)
	}
	if p.Status.StartTime == nil || p.Status.HostIP == "" {
		t.Error("startTime or hostIP is missing")
	}
	for _, name := range []string{"sidecar", "main"} {
		s := status(p, name)
		if !s.Ready || s.State.Running == nil || !strings.HasPrefix(s.ContainerID, "containerd://") || !strings.Contains(s.ImageID, "@sha256:") {
			t.Errorf("status of %s is incomplete: %+v", name, s)
		}
	}
	for _, kind := range []corev1.PodConditionType{
		corev1.PodScheduled, corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady,
	} {
		if c := condition(p, kind); c.Status != corev1.ConditionTrue || c.LastTransitionTime.IsZero() {
			t.Errorf("condition %s is %+v", kind, c)
		}
	}
}

func TestPod_CostsTwoWritesToReady(t *testing.T) {
	env := envtest.Shared(t)
	ns := env.Namespace(t)
	config, recorder := env.Recorded()
	w := &world{Env: env, ns: ns, sim: podsim.Start(t, config, podsim.Options{Namespace: ns})}
	mark := recorder.Mark()
	const n = 20
	for i := range n {
		w.create(t, newPod("p-"+string(rune('a'+i)), withInit))
	}
	envtest.WaitForList(t, env, &corev1.PodList{}, func(l *corev1.PodList) bool {
		ready := 0
		for i := range l.Items {
			if isReady(&l.Items[i]) {
				ready++
			}
		}
		return ready == n
	}, client.InNamespace(ns))
	if writes := recorder.Since(mark).Writes(); len(writes) != 2*n {
		t.Errorf("%d pods cost %d writes, want two each (binding and status):\n%s", n, len(writes), writes.Table())
	}
}

func TestPods_HaveAddressesOfTheirOwn(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	w.create(t, newPod("a"), newPod("b"))
	a, b := w.pod(t, "a", isReady), w.pod(t, "b", isReady)
	if a.Status.PodIP == b.Status.PodIP {
		t.Errorf("both pods have %s", a.Status.PodIP)
	}
	w.sim.Rule(podsim.Match{Pod: "c"}, podsim.Behaviour{IP: a.Status.PodIP})
	w.create(t, newPod("c"))
	if c := w.pod(t, "c", isReady); c.Status.PodIP != a.Status.PodIP {
		t.Errorf("the pod has %s, not the address it was told to reuse", c.Status.PodIP)
	}
}

func TestPod_StartDelay_PassesBetweenSchedulingAndStart(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	const delay = 1200 * time.Millisecond
	w.sim.Rule(podsim.Match{Pod: "slow"}, podsim.Behaviour{StartDelay: delay})
	w.create(t, newPod("slow"))
	w.pod(t, "slow", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	began := time.Now()
	p := w.pod(t, "slow", func(p *corev1.Pod) bool { return len(p.Status.ContainerStatuses) > 0 })
	if s := status(p, "main").State.Waiting; s == nil || s.Reason != "ContainerCreating" || p.Status.Phase != corev1.PodPending {
		t.Errorf("before the delay is over the pod is %s, %+v", p.Status.Phase, status(p, "main").State)
	}
	w.pod(t, "slow", isReady)
	if took := time.Since(began); took < delay-100*time.Millisecond {
		t.Errorf("the pod was ready after %s, want at least %s", took, delay)
	}
}

func TestPod_NodeSelectorThatFitsNoNode_IsUnschedulable(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	w.create(t, newPod("p", func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"gpu": "yes"} }))
	w.pod(t, "p", func(p *corev1.Pod) bool {
		c := condition(p, corev1.PodScheduled)
		return c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable && strings.HasPrefix(c.Message, "0/3 nodes are available")
	})
}

func TestPod_MissingSecret_StartsOnceItIsThere(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	w.create(t, newPod("p", func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "key", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: "late", Items: []corev1.KeyToPath{{Key: "k", Path: "k"}},
		}}}}
	}))
	waits := func(p *corev1.Pod) bool {
		s := status(p, "main").State.Waiting
		return s != nil && s.Reason == "ContainerCreating"
	}
	w.pod(t, "p", waits)
	secret := &corev1.Secret{StringData: map[string]string{"other": "x"}}
	secret.Name = "late"
	w.create(t, secret)
	w.pod(t, "p", waits)
	secret.StringData = map[string]string{"k": "v"}
	if err := w.Client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	w.pod(t, "p", isReady)
}
