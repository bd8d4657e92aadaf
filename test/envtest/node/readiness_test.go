package node

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// awaitEvent waits until the operator reported something.
func (w nodes) awaitEvent(reason events.Reason) {
	w.T.Helper()
	envtest.WaitForList(w.T, w.Env, &eventsv1.EventList{}, func(list *eventsv1.EventList) bool {
		return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool { return e.Reason == string(reason) })
	}, client.InNamespace(w.NS))
}

func (w nodes) countEvents(reason events.Reason) int {
	w.T.Helper()
	list := &eventsv1.EventList{}
	if err := w.Client.List(w.T.Context(), list, client.InNamespace(w.NS)); err != nil {
		w.T.Fatal(err)
	}
	n := 0
	for _, e := range list.Items {
		if e.Reason == string(reason) {
			n++
		}
	}
	return n
}

func count(list []api.TaskType, task api.TaskType) int {
	n := 0
	for _, t := range list {
		if t == task {
			n++
		}
	}
	return n
}

// B1: a replaced pod comes back without a person.
// B5: every mark-ready has an id of its own, or the sidecar would not run it again.
func TestB1_ReplacedPod_GetsItsGateOpenedAgain(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	for range 2 {
		pod := &corev1.Pod{}
		w.Get("n-0", pod)
		w.Delete(pod)
		envtest.WaitReplaced(t, w.Env, pod, podReady)
		w.await("n", settled)
	}
	w.awaitEvent(events.SidecarReadinessLost)
	w.awaitEvent(events.SidecarReadinessRestored)
	if n := w.node("n"); n.Status.LastPlan.Reason != domain.ReasonSidecarNotReady || n.Status.LastPlan.Outcome != v1alpha1.OutcomeComplete {
		t.Errorf("last plan %+v", n.Status.LastPlan)
	}
	ids := map[string]bool{}
	for _, r := range w.Sidecars.Requests(w.Key("n")) {
		if r.Type == api.MarkReady {
			ids[r.Task] = true
		}
	}
	if got := count(w.Sidecars.Submissions(w.Key("n")), api.MarkReady); got != 3 || len(ids) != 3 {
		t.Errorf("%d submissions of mark-ready with %d ids, want 3 and 3", got, len(ids))
	}
}

func podReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func TestB1_SidecarContainerKilled_GetsItsGateOpenedAgain(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	if err := w.Pods.Kill(w.NS, "n-0", "sidecar", 137); err != nil {
		t.Fatal(err)
	}
	w.awaitEvent(events.SidecarReadinessRestored)
	w.await("n", settled)
}

// B3: an unreachable sidecar starts no plan, and a hung one blocks no other node.
func TestB3_HungSidecar_StartsNothingAndBlocksNobody(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("hung"))
	w.bringUp(fullNode("well"))
	before := w.node("hung").Status.LastPlan.ID
	repair := w.Sidecars.Break(w.Key("hung"), sidecarsim.Fault{Hang: true})
	w.edit("hung", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{"look": "again"} })
	w.await("hung", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionUnknown, v1alpha1.ReasonSidecarUnreachable)
	})
	w.edit("well", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("well", settled)
	if n := w.node("hung"); n.Status.Plan != nil || n.Status.LastPlan.ID != before {
		t.Errorf("a plan was started on an unreachable sidecar: %+v", n.Status.Plan)
	}
	repair()
	w.edit("hung", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{"look": "once more"} })
	w.await("hung", settled)
}

// B4: an image change opens the gate by its own plan; no second plan follows.
func TestB4_ImageChange_NeedsNoSecondMarkReady(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	n := w.await("n", settled)
	if n.Status.LastPlan.Reason != domain.ReasonImageChanged {
		t.Errorf("last plan %+v", n.Status.LastPlan)
	}
	if got := count(w.Sidecars.Submissions(w.Key("n")), api.MarkReady); got != 2 {
		t.Errorf("%d submissions of mark-ready, want one per plan", got)
	}
}
