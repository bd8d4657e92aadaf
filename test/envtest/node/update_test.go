package node

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

func podMatch(namespace, pod, container string) podsim.Match {
	return podsim.Match{Namespace: namespace, Pod: pod, Container: container}
}

func holdContainer() podsim.Behaviour { return podsim.Behaviour{Hold: true} }

// says reports whether a condition's message holds the given words.
func says(n *v1alpha1.SeiNode, conditionType, words string) bool {
	c := conditions.Get(n.Status.Conditions, conditionType)
	return c != nil && strings.Contains(c.Message, words)
}

func wantMessage(t *testing.T, n *v1alpha1.SeiNode, conditionType, part string) {
	t.Helper()
	if !says(n, conditionType, part) {
		t.Errorf("%s says %+v, want %q", conditionType, conditions.Get(n.Status.Conditions, conditionType), part)
	}
}

// C8: an image change replaces the pod in place; both images advance together.
func TestC8_ImageChange_ReplacesThePodAndRecordsWhatRuns(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	old := &corev1.Pod{}
	w.Get("n-0", old)
	w.edit("n", func(n *v1alpha1.SeiNode) {
		n.Spec.Image = "seid:b"
		n.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: "sidecar:2"}
	})
	seen := w.await("n", func(n *v1alpha1.SeiNode) bool {
		// At no time may one have advanced without the other.
		if (n.Status.CurrentImage == "seid:b") != (n.Status.CurrentSidecarImage == "sidecar:2") {
			t.Errorf("images %s and %s advanced apart", n.Status.CurrentImage, n.Status.CurrentSidecarImage)
		}
		return settled(n)
	})
	pod := &corev1.Pod{}
	w.Get("n-0", pod)
	if pod.UID == old.UID || seen.Status.PodTemplateHash != seen.Status.LastPlan.Target.PodTemplateHash {
		t.Errorf("pod %s, template %s", pod.UID, seen.Status.PodTemplateHash)
	}
}

// C9: a rollback is the same move, also where currentRevision does not advance.
func TestC9_Rollback_ABA(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	for _, image := range []string{"seid:b", "seid:a", "seid:b", "seid:a"} {
		w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = image })
		w.await("n", settled)
		pod := &corev1.Pod{}
		w.Get("n-0", pod)
		if got := pod.Spec.Containers[0].Image; got != image {
			t.Fatalf("the pod runs %s, want %s", got, image)
		}
	}
}

// C9: a second change in the middle of an update supersedes it, wherever it stands.
func TestC9_SecondChangeInTheMiddle_Converges(t *testing.T) {
	for _, c := range []struct{ name, container, image string }{
		{"before the new pod starts", "install", "seid:c"},
		{"while the new pod's sidecar does not start", "sidecar", "seid:c"},
		{"back to where it came from", "install", "seid:a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newOperatedWorld(t)
			w.bringUp(fullNode("n"))
			old := &corev1.Pod{}
			w.Get("n-0", old)
			release := w.Pods.Rule(podMatch(w.NS, "n-0", c.container), holdContainer())
			w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
			envtest.WaitReplaced(t, w.Env, old, func(p *corev1.Pod) bool { return p.DeletionTimestamp == nil })
			w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = c.image })
			w.await("n", func(n *v1alpha1.SeiNode) bool {
				return n.Status.Plan != nil && n.Status.Plan.Target.Image == c.image
			})
			release()
			w.await("n", settled)
		})
	}
}

// C9: an image that cannot be pulled is named, and repaired by changing the spec.
func TestC9_ImageThatCannotBePulled_IsNamedAndRepaired(t *testing.T) {
	w := newOperatedWorld(t)
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:typo"}, podsim.Behaviour{PullError: "not found"})
	w.bringUp(fullNode("n"))
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:typo" })
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonImagePullFailed)
	})
	wantMessage(t, n, v1alpha1.ConditionReady, "seid:typo")
	if n.Status.CurrentImage != "seid:a" {
		t.Errorf("currentImage is %s although it never ran", n.Status.CurrentImage)
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("n", settled)
}

// C9: a broken sidecar can be rolled away, because the update does not need the old one.
func TestC9_BadSidecarImage_IsRolledAway(t *testing.T) {
	w := newOperatedWorld(t)
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "sidecar:bad"}, podsim.Behaviour{Exit: new(int32(1))})
	w.bringUp(fullNode("n"))
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: "sidecar:bad"} })
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonPodCrashLooping)
	})
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Sidecar.Image = "sidecar:2" })
	w.await("n", settled)

	repair := w.Sidecars.Break(w.Key("n"), sidecarsim.Fault{Hang: true})
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.awaitPod("n-0", func(p *corev1.Pod) bool { return p.Spec.Containers[0].Image == "seid:b" })
	repair()
	w.await("n", settled)
}

// C9: a node that is halted at an upgrade height is never ready and still moves.
func TestC9_NodeThatIsNeverReady_IsUpdated(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.Sidecars.SetInSync(w.Key("n"), false)
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonBehind)
	})
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.CurrentImage == "seid:b" && n.Status.Plan == nil })
	w.Sidecars.SetInSync(w.Key("n"), true)
	w.await("n", settled)
}

// Changes of the configuration reach a running node; only keys that need it restart seid.
func TestReconfigure_ChangedOverride_IsWrittenToTheRunningNode(t *testing.T) {
	w := newOperatedWorld(t)
	var params atomic.Value
	w.Sidecars.Program(w.Key("n"), "restart-seid", sidecarsim.Outcome{Do: func(_ context.Context, call sidecarsim.Call) (any, error) {
		params.Store(string(call.Params))
		return map[string]any{"rpcServing": true}, nil
	}})
	before := w.bringUp(fullNode("n"))
	pod := &corev1.Pod{}
	w.Get("n-0", pod)
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Overrides = map[string]string{"evm.http_port": "8547"} })
	after := w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && n.Status.ConfigHash != before.Status.ConfigHash })
	if after.Status.LastPlan.Reason != domain.ReasonConfigChanged {
		t.Errorf("last plan %+v", after.Status.LastPlan)
	}
	same := &corev1.Pod{}
	w.Get("n-0", same)
	if same.UID != pod.UID {
		t.Error("the pod was replaced for a change of configuration")
	}
	if got := count(w.Sidecars.Submissions(w.Key("n")), "restart-seid"); got != 1 {
		t.Errorf("seid was restarted %d times", got)
	}
	if got, want := params.Load(), `{"farewell":"20s","configHash":"`+after.Status.ConfigHash+`"}`; got != want {
		t.Errorf("seid was restarted with %v, want %s", got, want)
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Overrides["logging.level"] = "debug" })
	w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && n.Status.ConfigHash != after.Status.ConfigHash })
	if got := count(w.Sidecars.Submissions(w.Key("n")), "restart-seid"); got != 1 {
		t.Errorf("seid was restarted %d times although no changed key needs it", got)
	}
}

func TestReconfigure_UnknownOverride_IsNamedBeforeAnythingHappens(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	submitted := len(w.Sidecars.Submissions(w.Key("n")))
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Overrides = map[string]string{"evm.http_prot": "1"} })
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonSpecInvalid)
	})
	wantMessage(t, n, v1alpha1.ConditionSpecValid, `did you mean "evm.http_port"`)
	if got := len(w.Sidecars.Submissions(w.Key("n"))); got != submitted {
		t.Error("the sidecar was bothered with a spec that cannot be")
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Overrides = nil })
	w.await("n", settled)
}
