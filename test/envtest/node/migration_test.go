package node

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

// adopted is a node of the public operator that was taken over, and whose pod still runs.
func adopted(n *v1alpha1.SeiNode) bool {
	return n.Status.Phase == v1alpha1.NodeRunning && n.Status.Plan == nil && n.Status.ObservedGeneration == n.Generation &&
		n.Status.LastPlan != nil && n.Status.LastPlan.Reason == domain.ReasonStatefulSetAdopted && n.Status.LastPlan.Outcome == v1alpha1.OutcomeComplete &&
		is(n, v1alpha1.ConditionInSync, metav1.ConditionTrue, "") &&
		is(n, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonOutOfDate) &&
		is(n, v1alpha1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, v1alpha1.ReasonPendingRestart)
}

// takeOver starts the operator beside a node of the public operator, and waits until it was taken over: its
// StatefulSet, claim and pod are the same, and the claim does not go with the node any more.
func (w nodes) takeOver(n *v1alpha1.SeiNode) (*v1alpha1.SeiNode, *corev1.Pod) {
	w.T.Helper()
	sts, claim := w.PublicNode(n)
	pod := w.awaitPod(n.Name+"-0", ready)
	w.StartOperator()
	n = w.await(n.Name, adopted)
	now, kept := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
	w.Get(pod.Name, now)
	w.Get("data-"+n.Name, kept)
	if w.statefulSet(n.Name).UID != sts.UID || n.Status.StatefulSet.UID != sts.UID || kept.UID != claim.UID || now.UID != pod.UID {
		w.T.Errorf("StatefulSet %s, recorded %s, want %s; claim %s, want %s; pod %s, want %s",
			w.statefulSet(n.Name).UID, n.Status.StatefulSet.UID, sts.UID, kept.UID, claim.UID, now.UID, pod.UID)
	}
	if len(kept.OwnerReferences) > 0 {
		w.T.Errorf("the claim still goes with the node: %v", kept.OwnerReferences)
	}
	return n, pod
}

func ready(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// A node of the public operator is taken over with its StatefulSet, its claim and its pod, which runs on, also
// when the operator starts over, until a restart is asked for. Then it is replaced once.
func TestMigration_ANodeOfThePublicOperator_RunsOnUntilItsRestart(t *testing.T) {
	w := newWorld(t)
	_, pod := w.takeOver(fullNode("n"))
	w.RestartOperator()
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Overrides = map[string]string{"mempool.size": "4000"} })
	w.await("n", adopted)
	now := &corev1.Pod{}
	if w.Get("n-0", now); now.UID != pod.UID {
		t.Error("another configuration has replaced the pod")
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRestart: "now"} })
	// The simulated volume knows nothing of what ran before and is prepared again; a real one has its data.
	w.await("n", settled)
	if w.Get("n-0", now); now.UID == pod.UID {
		t.Error("the pod is the same")
	}
	if note := w.statefulSet("n").Annotations[render.AnnotationAdoptedSpecHash]; note != "" {
		t.Errorf("the StatefulSet still says that it was adopted for %s", note)
	}
}

// Nobody opens the start gate of the public operator: when its seid ends, the pod is replaced.
func TestMigration_SeidOfThePublicOperatorEnds_ItsPodIsReplaced(t *testing.T) {
	w := newWorld(t)
	_, pod := w.takeOver(fullNode("n"))
	release := w.Pods.Rule(podsim.Match{Namespace: w.NS, Pod: pod.Name, Container: "seid"}, podsim.Behaviour{Hold: true})
	if err := w.Pods.Kill(w.NS, pod.Name, "seid", 1); err != nil {
		t.Fatal(err)
	}
	w.awaitPod(pod.Name, func(p *corev1.Pod) bool { return p.UID != pod.UID })
	release()
	w.await("n", settled)
}

// A pod that cannot stay is replaced at once: it does not run the image of the spec.
func TestMigration_ANodeOfThePublicOperatorWithAnotherImage_GetsItAtOnce(t *testing.T) {
	w := newWorld(t)
	sts, claim := w.PublicNode(fullNode("n"))
	pod := w.awaitPod("n-0", ready)
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.StartOperator()
	w.await("n", settled)
	now, kept := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
	w.Get("n-0", now)
	w.Get("data-n", kept)
	if now.UID == pod.UID || w.statefulSet("n").UID != sts.UID || kept.UID != claim.UID {
		t.Errorf("pod replaced: %t; StatefulSet %s, want %s; claim %s, want %s", now.UID != pod.UID, w.statefulSet("n").UID, sts.UID, kept.UID, claim.UID)
	}
}

// A validator of the public operator keeps its key, which is reserved for it from now on. Its pod is replaced
// at once.
func TestMigration_AValidatorOfThePublicOperator_KeepsItsKey(t *testing.T) {
	w := newWorld(t)
	file, address := consensusKey('m')
	signing := secret("signing", v1alpha1.SecretKeySigningKey, file)
	w.Create(signing)
	w.Create(secret("nodekey", v1alpha1.SecretKeyNodeKey, nodeKey('m')))
	sts, claim := w.PublicNode(validator("v", "signing", "nodekey"))
	pod := w.awaitPod("v-0", ready)
	w.StartOperator()
	n := w.await("v", settled)
	now, kept, fresh := &corev1.Secret{}, &corev1.PersistentVolumeClaim{}, &corev1.Pod{}
	w.Get("signing", now)
	w.Get("data-v", kept)
	if now.ResourceVersion != signing.ResourceVersion || kept.UID != claim.UID || w.statefulSet("v").UID != sts.UID {
		t.Errorf("Secret %s, want %s; claim %s, want %s; StatefulSet %s, want %s",
			now.ResourceVersion, signing.ResourceVersion, kept.UID, claim.UID, w.statefulSet("v").UID, sts.UID)
	}
	if w.Get("v-0", fresh); fresh.UID == pod.UID {
		t.Error("the pod runs on, and nobody knows which key it signs with")
	}
	if n.Status.ConsensusAddress != address || !is(n, v1alpha1.ConditionSigningKeyReady, metav1.ConditionTrue, v1alpha1.ReasonSigningKeyValidated) {
		t.Errorf("address %q, want %q: %+v", n.Status.ConsensusAddress, address, n.Status.Conditions)
	}
}
