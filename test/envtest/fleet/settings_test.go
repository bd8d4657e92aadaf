package fleet

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// settings sets the settings of single nodes.
func settings(nodes ...v1alpha1.NodeSettings) func(*v1alpha1.SeiNodeDeployment) {
	return func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Nodes = nodes }
}

func TestSettings_OfOneNode_ReachNobodyElse(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 3))
	pods := w.pods("rpc", 3)
	w.edit("rpc", settings(v1alpha1.NodeSettings{Ordinal: 1, Overrides: map[string]string{"mempool.size": "7"}}))
	w.AwaitNode("rpc-1", func(n *v1alpha1.SeiNode) bool { return n.Spec.Overrides["mempool.size"] == "7" && up(n) })
	w.await("rpc", settled)
	for i, uid := range w.pods("rpc", 3) {
		if n := w.Node(child("rpc", i)); i != 1 && (len(n.Spec.Overrides) > 0 || uid != pods[i]) {
			t.Errorf("%s was changed too", n.Name)
		}
	}

	// One node is stopped; the fleet is as asked for, and a rollout that needs its budget says so.
	w.edit("rpc", settings(v1alpha1.NodeSettings{Ordinal: 2, Paused: new(true)}))
	envtest.WaitGone[corev1.Pod](t, w.Env, w.NS, "rpc-2-0")
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.ReadyReplicas == 2 && s.Status.Phase == v1alpha1.DeploymentReady && is(s, v1alpha1.ConditionReady, metav1.ConditionTrue, "") &&
			strings.Contains(message(s, v1alpha1.ConditionNodesReady), "1 stopped by paused")
	})
	w.edit("rpc", image("seid:b"))
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.Rollout != nil && strings.Contains(s.Status.Rollout.WaitingOn, "rpc-2 is stopped and counts against maxUnavailable")
	})

	// An entry for a node that is not there is named, and nothing waits for it.
	w.edit("rpc", settings(v1alpha1.NodeSettings{Ordinal: 7, Paused: new(true)}))
	got := w.await("rpc", runs("seid:b"))
	if text := message(got, v1alpha1.ConditionSpecValid); !is(got, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, "") || !strings.Contains(text, "spec.nodes[0].ordinal is 7") {
		t.Errorf("SpecValid says %q", text)
	}
}

// An ordinal is a node's identity: the others keep theirs when one of them goes.
func TestScaleDown_MarkedNode_GoesFirstAndTheOthersStay(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 4))
	w.EditNode("rpc-1", func(n *v1alpha1.SeiNode) { n.Annotations[v1alpha1.AnnotationRemoveFirst] = "true" })
	stay := w.Node("rpc-3")
	scale := func(replicas int32) {
		t.Helper()
		w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas = replicas })
	}
	names := func(want ...string) {
		t.Helper()
		w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
			return settled(s) && slices.Equal(s.Status.IncumbentNodes, want)
		})
	}
	scale(3)
	envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "rpc-1")
	names("rpc-0", "rpc-2", "rpc-3")
	if n := w.Node("rpc-3"); n.UID != stay.UID {
		t.Error("rpc-3 was replaced")
	}
	// It is remembered, also by another operator: who is deleted by hand comes back as itself.
	w.RestartOperator()
	w.Delete(w.Node("rpc-3"))
	envtest.WaitReplaced(t, w.Env, stay, func(*v1alpha1.SeiNode) bool { return true })
	names("rpc-0", "rpc-2", "rpc-3")
	scale(4)
	names("rpc-0", "rpc-1", "rpc-2", "rpc-3")
}

func TestRollout_Partition_HoldsBackTheLowerOrdinals(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 3))
	partition := func(ordinal int32) func(*v1alpha1.SeiNodeDeployment) {
		return func(s *v1alpha1.SeiNodeDeployment) { s.Spec.UpdateStrategy.InPlace.Partition = ordinal }
	}
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		partition(2)(s)
		image("seid:b")(s)
	})
	canary := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.UpdatedReplicas == 1 && s.Status.Rollout == nil && is(s, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	})
	if text := message(canary, v1alpha1.ConditionRolloutInProgress); !strings.Contains(text, "holds back 2") {
		t.Errorf("message %q", text)
	}
	for i, want := range []string{"seid:a", "seid:a", "seid:b"} {
		if n := w.Node(child("rpc", i)); n.Spec.Image != want {
			t.Errorf("%s has %s, want %s", n.Name, n.Spec.Image, want)
		}
	}
	w.edit("rpc", partition(0))
	w.await("rpc", runs("seid:b"))
}
