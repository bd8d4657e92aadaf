package sidecarsim_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/sidecar/conformance"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

func submit(t *testing.T, s client.Sidecar, task api.TaskType, id string) string {
	t.Helper()
	got, err := s.Submit(t.Context(), api.TaskRequest{ID: id, Type: task})
	if err != nil {
		t.Fatalf("submitting %s: %v", task, err)
	}
	return got
}

func await(t *testing.T, s client.Sidecar, id string) api.TaskResult {
	t.Helper()
	for {
		result, err := s.Get(t.Context(), id, 10*time.Second)
		if err != nil {
			t.Fatalf("looking at task %s: %v", id, err)
		}
		if result.Status.Terminal() {
			return result
		}
	}
}

func TestSidecar_KeepsTheWireContract(t *testing.T) {
	w := newWorld(t)
	pod := w.node(t, "n")
	w.sidecars.Program("", api.ConfigValidate, sidecarsim.Outcome{Error: errors.New("no good")})
	w.sidecars.Program("", api.AwaitCondition, sidecarsim.Outcome{Hang: true})
	version, err := w.sidecar(pod).Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	types := make([]string, 0, len(version.TaskTypes))
	for _, name := range version.TaskTypes {
		types = append(types, string(name))
	}
	conformance.Run(t, conformance.Target{
		URL: "http://" + pod.Status.PodIP + ":7777", Header: http.Header{"Authorization": {"Bearer secret"}},
		TaskTypes: types, Protected: true, Identified: true,
		Failing: conformance.Task{Type: string(api.ConfigValidate), Params: `{}`},
		Endless: conformance.Task{Type: string(api.AwaitCondition), Params: `{"condition":"height","targetHeight":5}`},
	})
}

func TestGate_DrivesThePodsProbes(t *testing.T) {
	w := newWorld(t)
	pod := w.node(t, "n")
	if isReady(pod) || w.sidecars.Ready(w.ns+"/n") {
		t.Fatal("the gate is open before anybody opened it")
	}
	s := w.sidecar(pod)
	submit(t, s, api.MarkReady, "")
	w.awaitReady(t, pod.Name, true)
	w.sidecars.SetInSync(w.ns+"/n", false)
	w.awaitReady(t, pod.Name, false)
	w.sidecars.SetInSync(w.ns+"/n", true)
	w.awaitReady(t, pod.Name, true)
}

func TestReplacedPod_LosesReadinessAndKeepsTasks(t *testing.T) {
	w := newWorld(t)
	pod := w.node(t, "n")
	s := w.sidecar(pod)
	apply := submit(t, s, api.ConfigValidate, "")
	await(t, s, apply)
	await(t, s, submit(t, s, api.MarkReady, ""))
	nodeID, err := s.NodeID(t.Context())
	if err != nil || nodeID != w.sidecars.NodeID(w.ns+"/n") {
		t.Fatalf("node id %q: %v", nodeID, err)
	}

	if err := w.Client.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	envtest.WaitGone[corev1.Pod](t, w.Env, w.ns, pod.Name)
	if _, err := s.Health(t.Context()); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("the sidecar of a deleted pod: %v, want unreachable", err)
	}
	fresh := w.sidecar(w.pod(t, "n"))
	if health, err := fresh.Health(t.Context()); err != nil || health != client.NotReady {
		t.Errorf("the new pod's gate is %s: %v", health, err)
	}
	if result := await(t, fresh, apply); result.Status != api.TaskCompleted || result.Run != 1 {
		t.Errorf("the volume's task is %+v", result)
	}
	if again, err := fresh.NodeID(t.Context()); err != nil || again != nodeID {
		t.Errorf("the node id changed from %s to %s: %v", nodeID, again, err)
	}
}

func TestKilledSidecar_ComesBackWithAClosedGate(t *testing.T) {
	w := newWorld(t)
	pod := w.node(t, "n")
	s := w.sidecar(pod)
	await(t, s, submit(t, s, api.MarkReady, ""))
	w.awaitReady(t, pod.Name, true)
	if err := w.sim.Kill(w.ns, pod.Name, "sidecar", 137); err != nil {
		t.Fatal(err)
	}
	envtest.WaitFor(t, w.Env, w.ns, pod.Name, func(p *corev1.Pod) bool { return p.Status.InitContainerStatuses[0].RestartCount == 1 })
	if health, err := s.Health(t.Context()); err != nil || health != client.NotReady {
		t.Errorf("the restarted sidecar's gate is %s: %v", health, err)
	}
}

func TestSidecarThatHasNotStarted_RefusesConnections(t *testing.T) {
	w := newWorld(t)
	w.sim.Rule(podsim.Match{}, podsim.Behaviour{IP: "127.255.7.7"})
	release := w.sim.Rule(podsim.Match{Container: "sidecar"}, podsim.Behaviour{Hold: true})
	created := make(chan *corev1.Pod)
	go func() { created <- w.node(t, "n") }()
	envtest.WaitFor(t, w.Env, w.ns, "n-0", func(p *corev1.Pod) bool { return p != nil && p.Spec.NodeName != "" })
	s := w.pool.Sidecar(client.Target{Address: "127.255.7.7:7777"})
	if _, err := s.Health(t.Context()); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("health before the start: %v, want unreachable", err)
	}
	release()
	<-created
	if _, err := s.Health(t.Context()); err != nil {
		t.Errorf("health after the start: %v", err)
	}
}

func TestReusedAddress_IsRefusedForTheOldPod(t *testing.T) {
	w := newWorld(t)
	old := w.node(t, "a")
	if err := w.Client.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	envtest.WaitGone[corev1.Pod](t, w.Env, w.ns, old.Name)
	w.sim.Rule(podsim.Match{Pod: "b-0"}, podsim.Behaviour{IP: old.Status.PodIP})
	w.node(t, "b")
	_, err := w.sidecar(old).Submit(t.Context(), api.TaskRequest{Type: api.MarkReady})
	if !errors.Is(err, client.ErrWrongNode) || w.sidecars.Ready(w.ns+"/b") {
		t.Errorf("a task for the old pod reached the new one: %v", err)
	}
}

func TestProgram_FailsOnceAndTheSameIDRunsAgain(t *testing.T) {
	w := newWorld(t)
	s := w.sidecar(w.node(t, "n"))
	node := w.ns + "/n"
	w.sidecars.Program(node, api.ConfigValidate, sidecarsim.Outcome{
		Error: api.Retryable(api.CodeUnavailable, errors.New("not today")), Times: 1,
	})
	id := uuid.NewString()
	submit(t, s, api.ConfigValidate, id)
	failed := await(t, s, id)
	if failed.Status != api.TaskFailed || failed.Error != "not today" || failed.ErrorDetail == nil || !failed.ErrorDetail.Retryable {
		t.Errorf("the programmed failure is %+v", failed)
	}
	submit(t, s, api.ConfigValidate, id)
	if again := await(t, s, id); again.Status != api.TaskCompleted || again.Run != 2 {
		t.Errorf("the second run is %+v", again)
	}
	submit(t, s, api.ConfigValidate, id)
	if third := await(t, s, id); third.Run != 2 {
		t.Errorf("a completed id ran again: %+v", third)
	}
	want := []api.TaskType{api.ConfigValidate, api.ConfigValidate, api.ConfigValidate}
	if diff := cmp.Diff(want, w.sidecars.Submissions(node)); diff != "" {
		t.Error(diff)
	}
}

func TestProgram_ResultsDelaysAndHangs(t *testing.T) {
	w := newWorld(t)
	s := w.sidecar(w.node(t, "n"))
	w.sidecars.Program("", api.ConfigValidate, sidecarsim.Outcome{Delay: 50 * time.Millisecond, Result: map[string]int{"answer": 42}})
	began := time.Now()
	result := await(t, s, submit(t, s, api.ConfigValidate, ""))
	if string(result.Result) != `{"answer":42}` || time.Since(began) < 50*time.Millisecond {
		t.Errorf("result %s after %s", result.Result, time.Since(began))
	}
	remove := w.sidecars.Program("", api.StopSeid, sidecarsim.Outcome{Hang: true})
	hanging := submit(t, s, api.StopSeid, "")
	if got, err := s.Get(t.Context(), hanging, 0); err != nil || got.Status != api.TaskRunning {
		t.Errorf("a hanging task is %+v: %v", got, err)
	}
	if err := s.Delete(t.Context(), hanging); err != nil {
		t.Fatal(err)
	}
	remove()
	await(t, s, submit(t, s, api.StopSeid, ""))
}

// Parameters are checked by the real sidecar's own rules.
func TestSubmit_BadParameters_AreRefused(t *testing.T) {
	w := newWorld(t)
	s := w.sidecar(w.node(t, "n"))
	_, err := s.Submit(t.Context(), api.TaskRequest{Type: api.ConfigApply, Params: json.RawMessage(`{"mood":"full"}`)})
	if !errors.Is(err, client.ErrInvalid) {
		t.Errorf("an unknown parameter: %v, want invalid", err)
	}
}

func TestBreak_MisbehavesUntilRepaired(t *testing.T) {
	w := newWorld(t)
	s := w.sidecar(w.node(t, "n"))
	node := w.ns + "/n"
	id := submit(t, s, api.ConfigValidate, "")
	for name, c := range map[string]struct {
		fault sidecarsim.Fault
		want  error
	}{
		"401":     {sidecarsim.Fault{Status: http.StatusUnauthorized}, client.ErrUnauthorized},
		"500":     {sidecarsim.Fault{Status: http.StatusInternalServerError}, nil},
		"garbage": {sidecarsim.Fault{Garbage: true}, nil},
	} {
		repair := w.sidecars.Break(node, c.fault)
		if _, err := s.Get(t.Context(), id, 0); err == nil || (c.want != nil && !errors.Is(err, c.want)) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		repair()
		if _, err := s.Get(t.Context(), id, 0); err != nil {
			t.Errorf("%s, repaired: %v", name, err)
		}
	}
	repair := w.sidecars.Break(node, sidecarsim.Fault{PathPrefix: "/v0/healthz", Hang: true})
	if _, err := s.Health(t.Context()); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("a hanging sidecar: %v, want unreachable", err)
	}
	repair()
	if _, err := s.Health(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBreak_AfterEffect_LosesOnlyTheAnswer(t *testing.T) {
	w := newWorld(t)
	s := w.sidecar(w.node(t, "n"))
	repair := w.sidecars.Break("", sidecarsim.Fault{Method: http.MethodPost, Status: http.StatusInternalServerError, AfterEffect: true})
	id := uuid.NewString()
	if _, err := s.Submit(t.Context(), api.TaskRequest{ID: id, Type: api.ConfigValidate}); err == nil {
		t.Error("the answer was not lost")
	}
	repair()
	if result := await(t, s, id); result.Status != api.TaskCompleted {
		t.Errorf("the task is %+v", result)
	}
}

func TestLoseStore_ForgetsTasksAndClosesTheGate(t *testing.T) {
	w := newWorld(t)
	s := w.sidecar(w.node(t, "n"))
	id := submit(t, s, api.MarkReady, "")
	await(t, s, id)
	if err := w.sidecars.LoseStore(w.ns + "/n"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), id, 0); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("a task of a lost store: %v, want not found", err)
	}
	if health, err := s.Health(t.Context()); err != nil || health != client.NotReady {
		t.Errorf("the gate is %s: %v", health, err)
	}
}

func TestLostNode_ItsSidecarDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	pod := w.node(t, "n")
	if err := w.sim.LoseNode(t.Context(), pod.Spec.NodeName); err != nil {
		t.Fatal(err)
	}
	if _, err := w.sidecar(pod).Health(t.Context()); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("the sidecar on a lost node: %v, want unreachable", err)
	}
	if err := w.sim.RestoreNode(t.Context(), pod.Spec.NodeName); err != nil {
		t.Fatal(err)
	}
	if _, err := w.sidecar(pod).Health(t.Context()); err != nil {
		t.Errorf("the sidecar on a restored node: %v", err)
	}
}

// A Secret is mounted by subPath: its content is that of the container's start.
func TestMountedKey_IsTheOneOfTheContainersStart(t *testing.T) {
	w := newWorld(t)
	first, address := signingKey('a')
	signing := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "signing"}, Data: map[string][]byte{"priv_validator_key.json": first},
	}
	if err := w.Client.Create(t.Context(), signing); err != nil {
		t.Fatal(err)
	}
	w.change = func(spec *corev1.PodSpec) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "signing", VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: "signing"},
		}})
		spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "signing", MountPath: keyPath, SubPath: "priv_validator_key.json"}}
	}
	pod := w.node(t, "n")
	want := func(address string) {
		t.Helper()
		if got := w.sidecars.Home(w.ns + "/n").ConsensusAddress; got != address {
			t.Errorf("the key is %s, want %s", got, address)
		}
	}
	want(address)
	second, other := signingKey('b')
	signing.Data["priv_validator_key.json"] = second
	if err := w.Client.Update(t.Context(), signing); err != nil {
		t.Fatal(err)
	}
	want(address)
	if err := w.sim.Kill(w.ns, pod.Name, "seid", 1); err != nil {
		t.Fatal(err)
	}
	envtest.WaitFor(t, w.Env, w.ns, pod.Name, func(p *corev1.Pod) bool { return p.Status.ContainerStatuses[0].RestartCount == 1 })
	want(other)
}
