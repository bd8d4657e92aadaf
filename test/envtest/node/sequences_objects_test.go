package node

import (
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// Sequences around the objects of a node: Jobs, StatefulSets, pods and claims.

// N11, S7: after the bootstrap a step of the node itself fails. The retry goes on there, and no
// Job is made beside the StatefulSet.
func TestN11_RetryAfterTheBootstrap_MakesNoJob(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(bootstrapped("n"))
	pod := w.jobPod("n")
	w.Sidecars.Program(w.Key("n"), api.ConfigValidate, sidecarsim.Outcome{
		Error: api.Terminal(api.CodeInternal, errors.New("seid could not be tried")), Times: 1,
	})
	mark := w.Recorder.Mark()
	if err := w.Pods.Kill(w.NS, pod.Name, "seid", 0); err != nil {
		t.Fatal(err)
	}
	n := w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.Phase == v1alpha1.NodeFailed })
	if n.Status.LastPlan.FailedTask != domain.StepConfigValidate || !n.Status.Bootstrapped {
		t.Fatalf("last plan %+v, bootstrapped %t", n.Status.LastPlan, n.Status.Bootstrapped)
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"} })
	w.await("n", settled)
	for _, r := range w.Recorder.Since(mark).Writes().In(w.NS).Of("jobs") {
		if r.Verb != "delete" {
			t.Errorf("a Job was made beside the StatefulSet: %+v", r)
		}
	}
	if got := count(w.Sidecars.Submissions(w.Key("n")), api.SnapshotRestore); got != 1 {
		t.Errorf("the snapshot was restored %d times", got)
	}
	w.sound()
}

// N11, S7: without a bootstrap image the Job goes, and the StatefulSet comes after its pod.
func TestN11_BootstrapImageRemovedMidway_JobGoesFirst(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(bootstrapped("n"))
	pod := w.jobPod("n")
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.FullNode.Snapshot.BootstrapImage = "" })
	envtest.WaitFor(t, w.Env, w.NS, "n", func(s *appsv1.StatefulSet) bool {
		if s == nil {
			return false
		}
		if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}); !apierrors.IsNotFound(err) {
			t.Errorf("the StatefulSet was made while the bootstrap pod was there: %v", err)
		}
		return true
	})
	envtest.WaitGone[batchv1.Job](t, w.Env, w.NS, "n-bootstrap")
	w.await("n", settled)
	w.sound()
}

// N16: sidecars that swallow every request cost their own nodes time and no other: a healthy node's
// edit is done with while they are all still silent.
func TestN16_BlackHoledSidecars_DoNotHoldUpAHealthyNode(t *testing.T) {
	w := newOperatedWorld(t)
	const silent = 35
	name := func(i int) string { return fmt.Sprintf("silent-%02d", i) }
	for i := range silent {
		w.Create(fullNode(name(i)))
	}
	w.Create(fullNode("healthy"))
	for i := range silent {
		w.await(name(i), settled)
		pod := &corev1.Pod{}
		w.Get(name(i)+"-0", pod)
		w.Sidecars.SetReachable(pod.UID, false)
	}
	w.await("healthy", settled)
	for i := range silent { // every one of them is looked at, in vain
		w.edit(name(i), func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{"look": "again"} })
	}
	w.edit("healthy", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("healthy", settled)
	for i := range silent {
		w.await(name(i), func(n *v1alpha1.SeiNode) bool {
			return is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionUnknown, v1alpha1.ReasonSidecarUnreachable)
		})
	}
	w.sound()
}

// N19: a StatefulSet that cannot be adopted is named with the field and the way out, and its pod
// goes on.
func TestN19_StatefulSetWithAnotherServiceName_IsNamedAndGoesOn(t *testing.T) {
	w := newWorld(t)
	labels := map[string]string{v1alpha1.LabelNode: "n"}
	old := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: "other", Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "seid", Image: "old"}}}},
		},
	}
	w.Create(old)
	pod := w.awaitPod("n-0", func(p *corev1.Pod) bool { return p.Status.PodIP != "" })
	w.StartOperator()
	w.Create(fullNode("n"))
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionPlanInProgress, metav1.ConditionTrue, v1alpha1.ReasonPlanWaiting)
	})
	wantMessage(t, n, v1alpha1.ConditionPlanInProgress, `spec.serviceName is "other"`)
	wantMessage(t, n, v1alpha1.ConditionPlanInProgress, "--cascade=orphan")
	now, sts := &corev1.Pod{}, w.statefulSet("n")
	w.Get("n-0", now)
	if now.UID != pod.UID || now.DeletionTimestamp != nil || sts.UID != old.UID || sts.Generation != old.Generation {
		t.Errorf("pod %s became %s, StatefulSet %s of generation %d", pod.UID, now.UID, sts.UID, sts.Generation)
	}
	w.Delete(old)
	w.await("n", settled)
}

// N21, S11: a pod with the name and the labels of the node's that somebody else controls is never
// dialled: it would be handed the operator's token.
func TestN21_PodThatNobodyOfOursControls_IsNeverDialled(t *testing.T) {
	w := newWorld(t)
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}
	w.Create(owner)
	theirs := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "n-0", Labels: map[string]string{v1alpha1.LabelNode: "n"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "sidecar", Image: "evil:1", Ports: []corev1.ContainerPort{{ContainerPort: 7777}}}, {Name: "seid", Image: "seid:a"},
		}},
	}
	w.Create(theirs)
	w.awaitPod("n-0", func(p *corev1.Pod) bool {
		return p.Status.PodIP != "" && len(p.Status.ContainerStatuses) == 2 && p.Status.ContainerStatuses[0].State.Running != nil
	})
	w.StartOperator()
	w.Create(fullNode("n"))
	w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.StatefulSet != nil && n.Status.Plan != nil })
	for i := range 3 {
		at := w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Overrides = map[string]string{"mempool.size": fmt.Sprint(1000 + i)} })
		w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.ObservedGeneration >= at.Generation })
	}
	for _, r := range w.Sidecars.Requests(w.Key("n")) {
		t.Errorf("their pod was asked %s %s", r.Method, r.Path)
	}
	if n := w.node("n"); n.Status.CurrentImage != "" || n.Status.InitializedAt != nil {
		t.Errorf("their pod was taken for ours: %+v", n.Status)
	}
}

// V3, S7: a claim that a running node or anybody's pod uses is not taken.
func TestV3_ImportOfAClaimInUse_IsRefusedUntilItIsFree(t *testing.T) {
	w := newOperatedWorld(t)
	first := w.bringUp(fullNode("first"))
	w.Create(importing("second", "data-first"))
	w.awaitImport("second", v1alpha1.ReasonPVCInvalid, "first")

	w.Create(claim("shared", "2Gi", corev1.ReadWriteOnce))
	user := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "backup"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "x", Image: "x"}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "shared"},
		}}},
	}}
	w.Create(user)
	w.Create(importing("third", "shared"))
	w.awaitImport("third", v1alpha1.ReasonPVCInvalid, "in use by pod backup")
	w.Delete(user)
	envtest.WaitGone[corev1.Pod](t, w.Env, w.NS, "backup")
	w.edit("third", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{"look": "again"} })
	w.await("third", settled)

	// Of two that import the same one the older keeps it.
	w.Create(importing("fourth", "shared"))
	w.awaitImport("fourth", v1alpha1.ReasonPVCInvalid, "third")
	if n := w.node("first"); n.UID != first.UID || !settled(n) {
		t.Errorf("the node that has the claim was disturbed: %+v", n.Status)
	}
	for _, name := range []string{"second", "fourth"} {
		w.requireNoStatefulSet(name)
	}
	w.sound()
}
