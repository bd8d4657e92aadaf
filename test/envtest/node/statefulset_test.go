package node

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/test/envtest"
)

func (w nodes) statefulSet(name string) *appsv1.StatefulSet {
	w.T.Helper()
	sts := &appsv1.StatefulSet{}
	w.Get(name, sts)
	return sts
}

func (w nodes) patch(obj client.Object, change func()) {
	w.T.Helper()
	before := obj.DeepCopyObject().(client.Object)
	change()
	if err := w.Client.Patch(w.T.Context(), obj, client.MergeFrom(before)); err != nil {
		w.T.Fatal(err)
	}
}

// C1: the identity of the StatefulSet is recorded.
func TestC1_StatefulSet_IdentityIsRecorded(t *testing.T) {
	w := newOperatedWorld(t)
	n := w.bringUp(fullNode("n"))
	sts := w.statefulSet("n")
	if n.Status.StatefulSet == nil || n.Status.StatefulSet.UID != sts.UID || n.Status.StatefulSet.Name != "n" {
		t.Errorf("recorded %+v, want %s", n.Status.StatefulSet, sts.UID)
	}
	if !metav1.IsControlledBy(sts, n) || sts.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType {
		t.Errorf("owners %v, strategy %s", sts.OwnerReferences, sts.Spec.UpdateStrategy.Type)
	}
}

// C1: one of our name and labels that nobody controls is adopted.
func TestC1_StatefulSetThatNobodyControls_IsAdopted(t *testing.T) {
	w := newWorld(t)
	labels := map[string]string{v1alpha1.LabelNode: "n"}
	old := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: "n", Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "seid", Image: "old"}}}},
		},
	}
	w.Create(old)
	w.StartOperator()
	n := w.bringUp(fullNode("n"))
	if n.Status.StatefulSet.UID != old.UID || !metav1.IsControlledBy(w.statefulSet("n"), n) {
		t.Errorf("recorded %+v, want the adopted %s", n.Status.StatefulSet, old.UID)
	}
}

// C1, bad input: one that somebody else controls is left alone, and the message says whose.
func TestC1_StatefulSetOfSomebodyElse_IsNamedAndLeftAlone(t *testing.T) {
	w := newWorld(t)
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}
	w.Create(owner)
	labels := map[string]string{"app": "other"}
	theirs := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "n", OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID, Controller: new(true),
		}}},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: "n", Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}}},
		},
	}
	w.Create(theirs)
	w.StartOperator()
	w.Create(fullNode("n"))
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionPlanInProgress, metav1.ConditionTrue, v1alpha1.ReasonPlanWaiting)
	})
	wantMessage(t, n, v1alpha1.ConditionPlanInProgress, "StatefulSet n is controlled by ConfigMap owner")
	if w.statefulSet("n").UID != theirs.UID {
		t.Error("their StatefulSet was touched")
	}
	w.awaitEvent(events.StatefulSetNotOurs)
	// The cause goes away, and the node comes up without a person.
	w.Delete(theirs)
	w.await("n", settled)
}

// C1, bad input: another owner's pod has the name of the node's, so the StatefulSet cannot make it.
func TestC1_PodOfSomebodyElse_IsNamedAndLeftAlone(t *testing.T) {
	w := newOperatedWorld(t)
	theirs := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "n-0", Labels: map[string]string{"app": "other"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}},
	}
	w.Create(theirs)
	w.Create(fullNode("n"))
	const words = "pod n-0 was not created by the operator: delete it, or rename the node"
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		c := conditions.Get(n.Status.Conditions, v1alpha1.ConditionPlanInProgress)
		return c != nil && c.Reason == v1alpha1.ReasonPlanWaiting && strings.Contains(c.Message, words)
	})
	if n.Status.CurrentImage != "" || n.Status.Phase == v1alpha1.NodeRunning {
		t.Errorf("their pod was taken for ours: %+v", n.Status)
	}
	now := &corev1.Pod{}
	w.Get("n-0", now)
	if now.UID != theirs.UID || now.DeletionTimestamp != nil {
		t.Error("their pod was touched")
	}
	w.Delete(theirs)
	w.await("n", settled)
}

// C2: deleted by hand, it is made again and recorded.
func TestC2_DeletedStatefulSet_IsMadeAgain(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	old := w.statefulSet("n")
	w.Delete(old)
	fresh := envtest.WaitReplaced(t, w.Env, old, func(*appsv1.StatefulSet) bool { return true })
	w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && n.Status.StatefulSet.UID == fresh.UID })
	w.awaitEvent(events.StatefulSetRecreated)
}

// C3: an impostor is removed once, a fresh one is made, and nothing is deleted after.
func TestC3_Impostor_IsRemovedOnceAndNeverAgain(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.Stop()
	old := w.statefulSet("n")
	impostor := old.DeepCopy()
	w.Delete(old)
	envtest.WaitGone[appsv1.StatefulSet](t, w.Env, w.NS, "n")
	impostor.ObjectMeta = metav1.ObjectMeta{Name: "n", Namespace: w.NS, Labels: old.Labels, OwnerReferences: old.OwnerReferences}
	w.Create(impostor)
	mark := w.Recorder.Mark()
	w.StartOperator()
	fresh := envtest.WaitReplaced(t, w.Env, impostor, func(s *appsv1.StatefulSet) bool { return s.DeletionTimestamp == nil })
	w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && n.Status.StatefulSet.UID == fresh.UID })
	w.awaitEvent(events.ImpostorDeleted)
	w.forceReconciles("n", 5)
	if deletes := w.Recorder.Since(mark).In(w.NS).Of("statefulsets").Verb("delete"); len(deletes) != 1 {
		t.Errorf("%d deletes of StatefulSets, want 1:\n%s", len(deletes), deletes.Table())
	}
	if w.statefulSet("n").UID != fresh.UID {
		t.Error("the fresh StatefulSet was replaced again")
	}
}

// C4: paused scales to 0, unpaused back to 1, and a hand-edited value is put back.
func TestC4_Paused_StopsThePodAndBack(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Paused = true })
	envtest.WaitGone[corev1.Pod](t, w.Env, w.NS, "n-0")
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionPaused, metav1.ConditionTrue, v1alpha1.ReasonPaused) &&
			is(n, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonPaused)
	})
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Paused = false })
	w.await("n", settled)

	sts := w.statefulSet("n")
	w.patch(sts, func() { sts.Spec.Replicas = new(int32(0)) })
	envtest.WaitFor(t, w.Env, w.NS, "n", func(s *appsv1.StatefulSet) bool {
		return s != nil && s.Generation > sts.Generation && *s.Spec.Replicas == 1
	})
	w.await("n", settled)
}

// C4: pausing in the middle of a plan freezes it, and unpausing continues with it.
func TestC4_PausedInTheMiddleOfAPlan_GoesOnWithIt(t *testing.T) {
	w := newOperatedWorld(t)
	held := w.Pods.Rule(podMatch(w.NS, "n-0", "sidecar"), holdContainer())
	w.Create(fullNode("n"))
	before := w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.Plan != nil && n.Status.StatefulSet != nil })
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Paused = true })
	envtest.WaitGone[corev1.Pod](t, w.Env, w.NS, "n-0")
	held()
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Paused = false })
	n := w.await("n", settled)
	if n.Status.LastPlan.ID != before.Status.Plan.ID {
		t.Errorf("another plan was made: %s instead of %s", n.Status.LastPlan.ID, before.Status.Plan.ID)
	}
}

// C6: a field that cannot be changed and that nobody asked about is left as it is: trying would be
// refused with every write.
func TestC6_ImmutableFieldDiffers_IsLeftAlone(t *testing.T) {
	w := newWorld(t)
	labels := map[string]string{v1alpha1.LabelNode: "n"}
	old := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: "n", Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "seid", Image: "old"}}}},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*claim("extra", "1Gi", corev1.ReadWriteOnce)},
		},
	}
	w.Create(old)
	w.StartOperator()
	w.bringUp(fullNode("n"))
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("n", settled)
	got := w.statefulSet("n")
	if got.UID != old.UID || got.Spec.PodManagementPolicy != appsv1.ParallelPodManagement || len(got.Spec.VolumeClaimTemplates) != 1 {
		t.Errorf("%s became %s, policy %s, %d claim templates", old.UID, got.UID, got.Spec.PodManagementPolicy, len(got.Spec.VolumeClaimTemplates))
	}
	for _, r := range w.Recorder.All().Writes().In(w.NS).Of("statefulsets") {
		if r.Code >= 400 {
			t.Errorf("a write was refused: %+v", r)
		}
	}
}

// C5: defaults of the API server cause neither a write nor a new revision.
func TestC5_Defaulting_CausesNoWrite(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	before := w.statefulSet("n")
	w.forceReconciles("n", 3)
	w.RestartOperator()
	w.forceReconciles("n", 3)
	after := w.statefulSet("n")
	if before.Generation != after.Generation || before.Status.UpdateRevision != after.Status.UpdateRevision {
		t.Errorf("generation %d became %d, revision %s became %s", before.Generation, after.Generation,
			before.Status.UpdateRevision, after.Status.UpdateRevision)
	}
}

// A hand edit of the template is put back; it is no plan's business.
func TestHandEditedTemplate_IsPutBack(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	sts := w.statefulSet("n")
	w.patch(sts, func() { sts.Spec.Template.Spec.Containers[0].Image = "evil:1" })
	envtest.WaitFor(t, w.Env, w.NS, "n", func(s *appsv1.StatefulSet) bool {
		return s != nil && s.Generation > sts.Generation && s.Spec.Template.Spec.Containers[0].Image == "seid:a"
	})
	w.await("n", settled)
}

// C7: we never write the status of a StatefulSet.
func TestC7_StatusOfStatefulSets_IsNeverWritten(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("n", settled)
	w.Recorder.All().Writes().Of("statefulsets/status").RequireNone(t, "writes of a StatefulSet's status")
}

// An operator that renders another template says so and rolls nothing; the annotation
// sei.io/restart picks it up.
func TestOperatorUpgrade_ShowsAPendingRestartAndRollsNothing(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	pod := &corev1.Pod{}
	w.Get("n-0", pod)
	generation := w.statefulSet("n").Generation
	w.Stop()
	w.Platform.Images.Sidecar = "sidecar:2"
	w.StartOperator()
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, v1alpha1.ReasonPendingRestart)
	})
	w.forceReconciles("n", 3)
	same := &corev1.Pod{}
	w.Get("n-0", same)
	if got := w.statefulSet("n").Generation; got != generation || same.UID != pod.UID {
		t.Fatalf("generation %d became %d, pod %s became %s", generation, got, pod.UID, same.UID)
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRestart: "now"} })
	n := w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && n.Status.CurrentSidecarImage == "sidecar:2" })
	wantCondition(t, n, v1alpha1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, v1alpha1.ReasonUpdateComplete)
}

// Replicas are put back without the new template of an upgraded operator.
func TestOperatorUpgrade_PausingKeepsTheOldTemplate(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.Stop()
	w.Platform.Images.Sidecar = "sidecar:2"
	w.StartOperator()
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Paused = true })
	envtest.WaitGone[corev1.Pod](t, w.Env, w.NS, "n-0")
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Paused = false })
	if n := w.await("n", settled); n.Status.CurrentSidecarImage != "sidecar:1" {
		t.Errorf("the pod runs %s", n.Status.CurrentSidecarImage)
	}
}
