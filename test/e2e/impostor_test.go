package e2e

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// C1: another owner's StatefulSet with a running pod has the node's name. The node says whose it is and what
// to do, takes nothing over, and comes up when the name is free.
func TestNode_NameTakenBySomebodyElse_IsNamedAndLeftAlone(t *testing.T) {
	s := join(t, "impostor")
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "release"}}
	s.create(owner)
	theirs := foreignStatefulSet("v", owner)
	s.create(theirs)
	s.awaitRunning("v-0")
	pod := s.pod("v")

	s.create(s.fullNode("v"))
	s.awaitWaiting("v", "StatefulSet v is controlled by ConfigMap release: delete or rename one of the two")
	now := &appsv1.StatefulSet{}
	s.mustGet("v", now)
	if now.UID != theirs.UID || now.Generation != theirs.Generation || len(now.ManagedFields) == 0 || appliedByUs(now) {
		t.Errorf("their StatefulSet was taken over: %+v", now.ObjectMeta)
	}
	if again := s.pod("v"); again.UID != pod.UID || again.DeletionTimestamp != nil || restarts(again, "theirs") != 0 {
		t.Errorf("their pod was touched: %+v", again.ObjectMeta)
	}

	if err := s.Delete(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	s.awaitInSync("v")
	s.awaitBlocks("v", 2)
}

// C1: another owner's pod has the name that the node's would have.
func TestNode_PodNameTakenBySomebodyElse_IsNamedAndLeftAlone(t *testing.T) {
	s := join(t, "pod-impostor")
	theirs := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "v-0"}, Spec: restrictedPod(corev1.Container{Name: "theirs", Image: imagePause})}
	s.create(theirs)
	s.awaitRunning("v-0")

	s.create(s.fullNode("v"))
	s.awaitWaiting("v", "pod v-0 was not created by the operator: delete it, or rename the node")
	if again := s.pod("v"); again.UID != theirs.UID || again.DeletionTimestamp != nil || len(again.OwnerReferences) > 0 || restarts(again, "theirs") != 0 {
		t.Errorf("their pod was touched: %+v", again.ObjectMeta)
	}
	if err := s.Delete(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	s.awaitInSync("v")
	s.awaitBlocks("v", 2)
}

// appliedByUs reports whether the operator has written any field.
func appliedByUs(o metav1.Object) bool {
	for _, f := range o.GetManagedFields() {
		if f.Manager == v1alpha1.FieldOwnerSeiNode {
			return true
		}
	}
	return false
}

// foreignStatefulSet is one that has nothing to do with the operator but the name.
func foreignStatefulSet(name string, owner *corev1.ConfigMap) *appsv1.StatefulSet {
	labels := map[string]string{"app": "theirs"}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: new(true),
		}}},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: name, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       restrictedPod(corev1.Container{Name: "theirs", Image: imagePause}),
			},
		},
	}
}

// restrictedPod is a pod that the restricted level lets in.
func restrictedPod(container corev1.Container) corev1.PodSpec {
	container.SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	return corev1.PodSpec{
		Containers: []corev1.Container{container},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(65532)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		AutomountServiceAccountToken:  new(false),
		TerminationGracePeriodSeconds: new(int64(1)),
	}
}

func (s *scenario) awaitRunning(pod string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, pod+" to run", func(context.Context) (bool, string, error) {
		now := &corev1.Pod{}
		err := s.get(pod, now)
		return now.Status.Phase == corev1.PodRunning, string(now.Status.Phase), err
	})
}

// awaitWaiting waits until the node's plan waits and says why.
func (s *scenario) awaitWaiting(name, why string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, name+" to say "+why, func(context.Context) (bool, string, error) {
		node := &v1alpha1.SeiNode{}
		err := s.get(name, node)
		c := conditions.Get(node.Status.Conditions, v1alpha1.ConditionPlanInProgress)
		return c != nil && c.Reason == v1alpha1.ReasonPlanWaiting && strings.Contains(c.Message, why), describe(node), err
	})
}
