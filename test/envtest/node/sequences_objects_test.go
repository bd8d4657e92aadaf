package node

import (
	"fmt"
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// Sequences around the objects of a node: StatefulSets, Services and pods.

// N19: a StatefulSet that cannot be adopted is named with the field and the way out, and its pod
// continues.
func TestN19_StatefulSetThatCannotBeAdopted_IsNamedAndGoesOn(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		service string
		labels  map[string]string
		words   string
	}{
		"service":  {"other", nil, `spec.serviceName is "other"`},
		"selector": {"selector", map[string]string{"app": "sei"}, "spec.selector is app=sei,"},
	} {
		labels := map[string]string{v1alpha1.LabelNode: name}
		maps.Copy(labels, c.labels)
		w.Create(&appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
			Spec: appsv1.StatefulSetSpec{
				ServiceName: c.service, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "seid", Image: "old"}}}},
			},
		})
		old := w.statefulSet(name)
		pod := w.awaitPod(name+"-0", func(p *corev1.Pod) bool { return p.Status.PodIP != "" })
		w.RestartOperator()
		w.Create(fullNode(name))
		n := w.await(name, func(n *v1alpha1.SeiNode) bool {
			return is(n, v1alpha1.ConditionPlanInProgress, metav1.ConditionTrue, v1alpha1.ReasonPlanWaiting)
		})
		wantMessage(t, n, v1alpha1.ConditionPlanInProgress, c.words)
		wantMessage(t, n, v1alpha1.ConditionPlanInProgress, "--cascade=orphan")
		now, sts := &corev1.Pod{}, w.statefulSet(name)
		w.Get(name+"-0", now)
		if now.UID != pod.UID || now.DeletionTimestamp != nil || sts.UID != old.UID || sts.Generation != old.Generation {
			t.Errorf("%s: pod %s became %s, StatefulSet %s of generation %d", name, pod.UID, now.UID, sts.UID, sts.Generation)
		}
		w.Delete(old)
		w.await(name, settled)
	}
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
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{
				Name: "sidecar", Image: "evil:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
				Ports: []corev1.ContainerPort{{ContainerPort: 7777}},
			}},
			Containers: []corev1.Container{{Name: "seid", Image: "seid:a"}},
		},
	}
	w.Create(theirs)
	w.awaitPod("n-0", func(p *corev1.Pod) bool {
		_, running := task.SidecarStarted(p)
		return running
	})
	w.StartOperator()
	w.Create(fullNode("n"))
	envtest.WaitFor(t, w.Env, w.NS, "n", func(s *appsv1.StatefulSet) bool { return s != nil })
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

// N18: what somebody added to the StatefulSet's template by hand is taken out again.
func TestN18_HandEditedTemplate_IsPutBack(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	sts := &appsv1.StatefulSet{}
	w.Get("n", sts)
	w.patch(sts, func() {
		sts.Spec.Template.Labels["added"] = "by-hand"
		c := &sts.Spec.Template.Spec.Containers[0]
		c.Env = append(c.Env, corev1.EnvVar{Name: "ADDED", Value: "by hand"})
		sts.Spec.Template.Spec.Containers = append(sts.Spec.Template.Spec.Containers, corev1.Container{Name: "added", Image: "added:1"})
	})
	envtest.WaitFor(t, w.Env, w.NS, "n", func(s *appsv1.StatefulSet) bool {
		template := s.Spec.Template
		for _, e := range template.Spec.Containers[0].Env {
			if e.Name == "ADDED" {
				return false
			}
		}
		return template.Labels["added"] == "" && len(template.Spec.Containers) == 1
	})
	svc := &corev1.Service{}
	w.Get("n", svc)
	w.patch(svc, func() { svc.Spec.Selector["added"] = "by-hand" })
	envtest.WaitFor(t, w.Env, w.NS, "n", func(s *corev1.Service) bool { return s.Spec.Selector["added"] == "" })
	w.await("n", settled)
}

// N18: an update strategy that somebody edited is put back, whatever the API server filled in.
func TestN18_HandEditedUpdateStrategy_IsPutBack(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	sts := w.statefulSet("n")
	w.patch(sts, func() { sts.Spec.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType })
	envtest.WaitFor(t, w.Env, w.NS, "n", func(s *appsv1.StatefulSet) bool {
		return s != nil && s.Generation > sts.Generation && s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType
	})
	w.await("n", settled)
}

// N20: a StatefulSet that somebody else controls is never deleted, also when it took the name of
// one that we made.
func TestN20_ForeignStatefulSetInOurPlace_IsLeftAloneAndNamed(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.Stop()
	sts := &appsv1.StatefulSet{}
	w.Get("n", sts)
	w.Delete(sts)
	envtest.WaitGone[appsv1.StatefulSet](t, w.Env, w.NS, "n")
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}
	w.Create(owner)
	foreign := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: *sts.Spec.DeepCopy()}
	foreign.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	w.Create(foreign)
	w.StartOperator()
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonSpecInvalid)
	})
	wantMessage(t, n, v1alpha1.ConditionSpecValid, "controlled by ConfigMap owner")
	w.forceReconciles("n", 2)
	w.Get("n", sts)
	if sts.UID != foreign.UID || sts.DeletionTimestamp != nil {
		t.Error("the foreign StatefulSet was touched")
	}
}
