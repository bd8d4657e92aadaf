package fleet

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// kept are the revisions of a list, newest first, as number and image.
func kept(list *appsv1.ControllerRevisionList) []string {
	stored := make([]*appsv1.ControllerRevision, 0, len(list.Items))
	for i := range list.Items {
		stored = append(stored, &list.Items[i])
	}
	fleet.SortRevisions(stored)
	images := make([]string, 0, len(stored))
	for _, s := range stored {
		r, err := fleet.ReadRevision(s)
		if err != nil {
			r.Template.Spec.Image = err.Error()
		}
		images = append(images, fmt.Sprintf("%d %s", r.Number, r.Template.Spec.Image))
	}
	return images
}

// awaitHistory waits until a fleet keeps these templates and no others.
func (w fleets) awaitHistory(name string, want ...string) *appsv1.ControllerRevisionList {
	w.T.Helper()
	return envtest.WaitForList(w.T, w.Env, &appsv1.ControllerRevisionList{}, func(list *appsv1.ControllerRevisionList) bool {
		return slices.Equal(kept(list), want)
	}, client.InNamespace(w.NS), client.MatchingLabels{v1alpha1.LabelRevisionOf: name})
}

func (w fleets) setImage(name, image string) {
	w.T.Helper()
	w.edit(name, func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image = image })
}

// uidOf is that of the revision with a number.
func uidOf(list *appsv1.ControllerRevisionList, number int64) string {
	for _, r := range list.Items {
		if r.Revision == number {
			return r.Name + " " + string(r.UID)
		}
	}
	return ""
}

func TestHistory_ThreeTemplatesAndOneThatComesBack(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 2))
	for _, image := range []string{"seid:b", "seid:c"} {
		w.setImage("rpc", image)
		w.await("rpc", settled)
	}
	before := w.awaitHistory("rpc", "3 seid:c", "2 seid:b", "1 seid:a")
	mark := w.Recorder.Mark()
	w.setImage("rpc", "seid:a")
	w.await("rpc", settled)
	after := w.awaitHistory("rpc", "4 seid:a", "3 seid:c", "2 seid:b")
	if uidOf(before, 1) != uidOf(after, 4) {
		t.Errorf("the template that came back was %s and is %s", uidOf(before, 1), uidOf(after, 4))
	}
	if wrote := w.Recorder.Since(mark).Of("controllerrevisions").Writes().In(w.NS); len(wrote) != 1 {
		t.Errorf("one template that comes back led to %v", wrote)
	}
	w.forceReconcile("rpc")
	mark = w.Recorder.Mark()
	for range 50 {
		w.forceReconcile("rpc")
	}
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes of a settled fleet with a history")
	w.Recorder.Since(mark).Reads().In(w.NS).RequireNone(t, "reads of a settled fleet with a history")
	w.deleteFleet("rpc", metav1.DeletePropagationBackground)
	w.awaitHistory("rpc")
}

// What a node that is held back still has is kept beyond the limit.
func TestHistory_Limit_KeepsWhatANodeHas(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 2))
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.RevisionHistoryLimit, s.Spec.UpdateStrategy.InPlace.Partition = new(int32), 1
	})
	for _, image := range []string{"seid:b", "seid:c"} {
		w.setImage("rpc", image)
		w.AwaitNode("rpc-1", func(n *v1alpha1.SeiNode) bool { return n.Status.CurrentImage == image })
	}
	w.awaitHistory("rpc", "3 seid:c", "1 seid:a")
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.UpdateStrategy.InPlace.Partition = 0 })
	w.await("rpc", settled)
	w.awaitHistory("rpc", "3 seid:c")
}

// A fleet that an older operator has left has no history. The new one writes the template down, and
// nothing else; what somebody deletes later is written again.
func TestHistory_UpgradeOfTheOperator_IsOneWriteAndNoRestart(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 2))
	w.awaitHistory("rpc", "1 seid:a")
	pod := &corev1.Pod{}
	w.Get("rpc-0-0", pod)
	w.Stop()
	forget := func() {
		err := w.Client.DeleteAllOf(t.Context(), &appsv1.ControllerRevision{}, client.InNamespace(w.NS), client.MatchingLabels{v1alpha1.LabelRevisionOf: "rpc"})
		if err != nil {
			t.Fatal(err)
		}
	}
	forget()
	w.awaitHistory("rpc")
	mark := w.Recorder.Mark()
	w.StartOperator()
	w.awaitHistory("rpc", "1 seid:a")
	w.forceReconcile("rpc")
	wrote := w.Recorder.Since(mark).Writes().In(w.NS)
	wrote.Without("controllerrevisions").RequireNone(t, "other writes after an upgrade of the operator")
	if len(wrote) != 1 {
		t.Errorf("the upgrade led to %v", wrote)
	}
	now := &corev1.Pod{}
	if w.Get("rpc-0-0", now); now.UID != pod.UID {
		t.Error("a pod was replaced")
	}
	forget()
	w.awaitHistory("rpc", "1 seid:a")
}

// The StatefulSets' own revisions bear the fleet's label too. They are neither counted nor deleted.
func TestHistory_RevisionsOfStatefulSets_AreLeftAlone(t *testing.T) {
	w := newOperatedWorld(t)
	snd := rpc("rpc", 1)
	snd.Spec.RevisionHistoryLimit = new(int32)
	w.bringUp(snd)
	w.setImage("rpc", "seid:b")
	w.await("rpc", settled)
	w.awaitHistory("rpc", "2 seid:b")
	list := &appsv1.ControllerRevisionList{}
	if err := w.Client.List(t.Context(), list, client.InNamespace(w.NS), client.MatchingLabels{v1alpha1.LabelDeployment: "rpc"}); err != nil {
		t.Fatal(err)
	}
	sets := 0
	for i := range list.Items {
		if owner := metav1.GetControllerOf(&list.Items[i]); owner != nil && owner.Kind == "StatefulSet" {
			sets++
		}
	}
	if sets != 2 {
		t.Errorf("the StatefulSet has %d revisions of its own, want 2", sets)
	}
}

// A cluster may forbid ControllerRevisions to the operator. Rollouts continue.
func TestHistory_RefusedByAdmission_IsAnEventAndTheFleetGoesOn(t *testing.T) {
	w := newWorld(t)
	w.forbid("apps", "controllerrevisions", fmt.Sprintf("!has(object.metadata.labels) || !(%q in object.metadata.labels)", v1alpha1.LabelRevisionOf), "no history here",
		&appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.NS, GenerateName: "probe-", Labels: map[string]string{v1alpha1.LabelRevisionOf: "probe"}},
			Data:       runtime.RawExtension{Raw: []byte("{}")},
		})
	w.StartOperator()
	w.bringUp(rpc("rpc", 2))
	w.awaitNote("rpc", events.HistoryNotKept, "so kubectl sei rollout undo cannot go back to this template", "no history here")
	w.setImage("rpc", "seid:b")
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return settled(s) && s.Status.Nodes[1].CurrentImage == "seid:b"
	})
}
