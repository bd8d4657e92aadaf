package fleet

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

// overrides sets the overrides of a fleet's template.
func overrides(to map[string]string) func(*v1alpha1.SeiNodeDeployment) {
	return func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Overrides = to }
}

// refuse has seid refuse a size of the mempool.
func (w fleets) refuse(size string) {
	w.Sidecars.RefuseConfig(func(overrides map[string]string, _ string) error {
		if overrides["mempool.size"] == size {
			return errors.New("seid panics: the mempool does not fit")
		}
		return nil
	})
}

// rolloutFailed is a fleet whose rollout was halted by a node.
func rolloutFailed(node, why string) func(*v1alpha1.SeiNodeDeployment) bool {
	return func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionRolloutFailed, metav1.ConditionTrue, v1alpha1.ReasonNodeFailed) &&
			strings.HasPrefix(message(s, v1alpha1.ConditionRolloutFailed), node+" failed") && strings.Contains(message(s, v1alpha1.ConditionRolloutFailed), why)
	}
}

// pods are the UIDs of the pods of a fleet's nodes.
func (w fleets) pods(fleet string, replicas int) []types.UID {
	w.T.Helper()
	uids := make([]types.UID, 0, replicas)
	for i := range replicas {
		pod := &corev1.Pod{}
		w.Get(child(fleet, i)+"-0", pod)
		uids = append(uids, pod.UID)
	}
	return uids
}

// F1: a template whose configuration seid refuses stops at the first node, says why, and continues
// when it is reverted or corrected.
func TestF1_RefusedConfiguration_StopsAtTheFirstNode(t *testing.T) {
	w := newOperatedWorld(t)
	w.refuse("1")
	w.bringUp(rpc("rpc", 3))
	w.edit("rpc", overrides(map[string]string{"mempool.size": "1"}))
	failed := w.await("rpc", rolloutFailed("rpc-0", "the mempool does not fit"))
	w.AwaitEvent("", events.RolloutFailed)
	wantCondition(t, failed, v1alpha1.ConditionRolloutInProgress, metav1.ConditionTrue, "")
	if got := failed.Status; got.ReadyReplicas != 3 || got.UpdatedReplicas != 0 || got.Phase != v1alpha1.DeploymentUpgrading {
		t.Errorf("%d ready and %d updated nodes, phase %s, want 3, 0 and %s", got.ReadyReplicas, got.UpdatedReplicas, got.Phase, v1alpha1.DeploymentUpgrading)
	}
	w.RestartOperator()
	w.forceWrite("rpc")
	for _, name := range []string{"rpc-1", "rpc-2"} {
		if n := w.Node(name); len(n.Spec.Overrides) > 0 {
			t.Errorf("%s was given %v past a node that failed", name, n.Spec.Overrides)
		}
	}
	w.edit("rpc", overrides(nil))
	w.await("rpc", settled)
	w.edit("rpc", overrides(map[string]string{"mempool.size": "1"}))
	w.await("rpc", rolloutFailed("rpc-0", "the mempool does not fit"))
	w.edit("rpc", overrides(map[string]string{"mempool.size": "2"}))
	got := w.await("rpc", settled)
	wantCondition(t, got, v1alpha1.ConditionRolloutInProgress, metav1.ConditionFalse, v1alpha1.ReasonRolloutComplete)
	wantCondition(t, got, v1alpha1.ConditionRolloutFailed, metav1.ConditionFalse, v1alpha1.ReasonNoRollout)
	for i := range 3 {
		if n := w.Node(child("rpc", i)); n.Spec.Overrides["mempool.size"] != "2" {
			t.Errorf("%s has overrides %v, want mempool.size 2", n.Name, n.Spec.Overrides)
		}
	}
}

// F1: an update that fails on one node does not continue to the others, whatever the budget allows.
func TestF1_ImageThatCannotBePulled_DoesNotUseUpTheBudget(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(unavailable(rpc("rpc", 4), 1, 600))
	pullable := w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:bad"}, podsim.Behaviour{PullError: "no such image"})
	w.edit("rpc", image("seid:bad"))
	w.await("rpc", rolloutFailed("rpc-0", "cannot pull image seid:bad"))
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.UpdateStrategy.InPlace.MaxUnavailable.IntVal = 3 })
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.ObservedGeneration == s.Generation })
	for _, name := range []string{"rpc-1", "rpc-2", "rpc-3"} {
		if n := w.Node(name); n.Spec.Image != "seid:a" {
			t.Errorf("%s has %s past a node that failed", name, n.Spec.Image)
		}
	}
	// It gets well by itself, and the rollout continues.
	pullable()
	w.await("rpc", runs("seid:bad"))
}

// F2: nodes of which nothing is known take budget, and are not free to move.
func TestF2_SilentKubelets_SetNobodyFree(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 3))
	machines := map[string]bool{}
	for i := range 3 {
		pod := &corev1.Pod{}
		w.Get(child("rpc", i)+"-0", pod)
		machines[pod.Spec.NodeName] = true
	}
	for machine := range machines {
		if err := w.Pods.LoseNode(t.Context(), machine); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		w.AwaitNode(child("rpc", i), func(n *v1alpha1.SeiNode) bool {
			return conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionUnknown, "")
		})
	}
	watch := w.watchNodes()
	w.edit("rpc", image("seid:b"))
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.ObservedGeneration == s.Generation && s.Status.Rollout != nil
	})
	w.forceWrite("rpc")
	for i := range 3 {
		if n := w.Node(child("rpc", i)); n.Spec.Image != "seid:a" {
			t.Errorf("%s was moved although nobody knows whether it serves", n.Name)
		}
	}
	for machine := range machines {
		if err := w.Pods.RestoreNode(t.Context(), machine); err != nil {
			t.Fatal(err)
		}
	}
	w.await("rpc", runs("seid:b"))
	watch.require(t, 1)
}

// F3: an image that crashes after a while hurts one node: the next one waits until the first has
// stayed Ready for minReadySeconds.
func TestF3_ImageThatCrashesLater_HurtsOneNode(t *testing.T) {
	w := newOperatedWorld(t)
	snd := rpc("rpc", 3)
	w.bringUp(snd)
	soak := func(seconds int32) func(*v1alpha1.SeiNodeDeployment) {
		return func(s *v1alpha1.SeiNodeDeployment) { s.Spec.UpdateStrategy.InPlace.MinReadySeconds = &seconds }
	}
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		soak(3600)(s)
		image("seid:b")(s)
	})
	w.AwaitNode("rpc-0", func(n *v1alpha1.SeiNode) bool { return up(n) && n.Spec.Image == "seid:b" })
	soaking := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.Rollout != nil && strings.Contains(s.Status.Rollout.WaitingOn, "rpc-0: it has been Ready for less than minReadySeconds")
	})
	if soaking.Status.Rollout.Updated != 0 || soaking.Status.Rollout.ProgressedAt != nil {
		t.Errorf("rollout %+v, want one without an updated node and without progress", soaking.Status.Rollout)
	}
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:b", Container: "seid"}, podsim.Behaviour{Exit: new(int32(1))})
	w.await("rpc", rolloutFailed("rpc-0", v1alpha1.ReasonPodCrashLooping))
	for _, name := range []string{"rpc-1", "rpc-2"} {
		if n := w.Node(name); n.Spec.Image != "seid:a" {
			t.Errorf("%s has image %s, want seid:a", name, n.Spec.Image)
		}
	}
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		soak(1)(s)
		image("seid:a")(s)
	})
	w.await("rpc", runs("seid:a"))
}

// F3: a node that crashes, runs for a second and crashes again has failed all the time: while it
// runs, and is Ready, the rollout does not go past it either.
func TestF3_NodeThatRunsBetweenTwoCrashes_HaltsTheRollout(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 4))
	seid := podsim.Match{Namespace: w.NS, Pod: "rpc-0-0", Container: "seid", Image: "seid:b"}
	stopCrashing := w.Pods.Rule(seid, podsim.Behaviour{Exit: new(int32(1))})
	// The second node keeps its share of the budget until the first is known to crash-loop.
	w.Sidecars.SetInSync(w.Key("rpc-1"), false)
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.UpdateStrategy.InPlace.MaxUnavailable = new(intstr.FromInt32(2))
		image("seid:b")(s)
	})
	w.await("rpc", rolloutFailed("rpc-0", "container seid is crash-looping (exit code 1, "))
	stopRunning := w.Pods.Rule(seid, podsim.Behaviour{Exit: new(int32(1)), ExitAfter: time.Second})
	watch := w.watchNodes()
	w.Sidecars.SetInSync(w.Key("rpc-1"), true)
	w.AwaitNode("rpc-1", func(n *v1alpha1.SeiNode) bool { return up(n) && n.Spec.Image == "seid:b" })
	w.AwaitNode("rpc-0", inSync) // between two crashes
	pod := &corev1.Pod{}
	w.Get("rpc-0-0", pod)
	restarts := pod.Status.ContainerStatuses[0].RestartCount
	envtest.WaitFor(t, w.Env, w.NS, pod.Name, func(p *corev1.Pod) bool {
		return p != nil && p.Status.ContainerStatuses[0].RestartCount > restarts+1
	})
	halted := w.fleet("rpc")
	if !rolloutFailed("rpc-0", v1alpha1.ReasonPodCrashLooping)(halted) {
		t.Errorf("condition %s is %+v, want rpc-0 to have failed with %s", v1alpha1.ConditionRolloutFailed,
			conditions.Get(halted.Status.Conditions, v1alpha1.ConditionRolloutFailed), v1alpha1.ReasonPodCrashLooping)
	}
	for _, name := range []string{"rpc-2", "rpc-3"} {
		if n := w.Node(name); n.Spec.Image != "seid:a" {
			t.Errorf("%s has %s past a node that failed", name, n.Spec.Image)
		}
	}
	if told := watch.untold("rpc-0"); len(told) > 0 {
		t.Errorf("between its crashes the node was %v", told)
	}
	stopRunning()
	stopCrashing()
	w.await("rpc", runs("seid:b"))
}

// F4: a volume that cannot grow is named, and holds up no rollout.
func TestF4_VolumesThatCannotGrow_HoldUpNoRollout(t *testing.T) {
	w := newOperatedWorld(t)
	snd := rpc("rpc", 2)
	snd.Spec.Template.Spec.DataVolume = &v1alpha1.DataVolumeSpec{StorageClassName: new(podsim.ClassFixed), Size: new(resource.MustParse("1Gi"))}
	w.bringUp(snd)
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Template.Spec.DataVolume.Size = new(resource.MustParse("2Gi"))
	})
	pending := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionResizePending, metav1.ConditionTrue, v1alpha1.ReasonVolumeNotResized) &&
			strings.Contains(message(s, v1alpha1.ConditionResizePending), "rpc-1: ")
	})
	if text := message(pending, v1alpha1.ConditionResizePending); !strings.Contains(text, "rpc-0: spec.dataVolume.size: the volume cannot grow") {
		t.Errorf("message %q, want that the volume of rpc-0 cannot grow", text)
	}
	w.edit("rpc", image("seid:b"))
	got := w.await("rpc", runs("seid:b"))
	wantCondition(t, got, v1alpha1.ConditionResizePending, metav1.ConditionTrue, "")
}

// F5: peers that go and come, and an operator with another default, restart no node of a fleet;
// what is pending goes by a rollout when a user asks for it.
func TestF5_PeersAndOperatorChange_RestartNothing(t *testing.T) {
	w := newOperatedWorld(t)
	sentry := func() *v1alpha1.SeiNode {
		return &v1alpha1.SeiNode{
			ObjectMeta: metav1.ObjectMeta{Name: "sentry", Labels: map[string]string{"team": "sei"}},
			Spec:       v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}},
		}
	}
	w.Create(sentry())
	w.AwaitNode("sentry", up)
	snd := rpc("rpc", 3)
	snd.Spec.Template.Spec.Peers = []v1alpha1.PeerSource{{Label: &v1alpha1.LabelPeers{Selector: map[string]string{"team": "sei"}}}}
	w.bringUp(snd)
	peers := func(count int) {
		t.Helper()
		for i := range 3 {
			w.AwaitNode(child("rpc", i), func(n *v1alpha1.SeiNode) bool { return len(n.Status.ResolvedPeers) == count && up(n) })
		}
	}
	peers(1)
	pods := w.pods("rpc", 3)
	w.Delete(w.Node("sentry"))
	envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "sentry")
	peers(0)
	w.Create(sentry())
	w.AwaitNode("sentry", up)
	peers(1)
	w.Stop()
	w.Platform.Images.Sidecar = "sidecar:2"
	w.StartOperator()
	for i := range 3 {
		w.AwaitNode(child("rpc", i), func(n *v1alpha1.SeiNode) bool {
			return conditions.Is(n.Status.Conditions, v1alpha1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, v1alpha1.ReasonPendingRestart)
		})
		for _, task := range w.Sidecars.Submissions(w.Key(child("rpc", i))) {
			if task == api.RestartSeid {
				t.Errorf("seid of rpc-%d was restarted", i)
			}
		}
	}
	for i, uid := range w.pods("rpc", 3) {
		if uid != pods[i] {
			t.Errorf("the pod of rpc-%d was replaced", i)
		}
	}
	watch := w.watchNodes()
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Template.Metadata.Annotations = map[string]string{v1alpha1.AnnotationRestart: "now"}
	})
	for i := range 3 {
		w.AwaitNode(child("rpc", i), func(n *v1alpha1.SeiNode) bool { return up(n) && n.Status.CurrentSidecarImage == "sidecar:2" })
	}
	w.await("rpc", settled)
	watch.require(t, 1)
}
