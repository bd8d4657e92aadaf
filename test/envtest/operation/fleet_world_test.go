package operation

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/fleet"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// fleetOf is a fleet of three nodes like one, which count as soon as they are Ready.
func fleetOf(name string, like *v1alpha1.SeiNode, maxUnavailable int32) *v1alpha1.SeiNodeDeployment {
	snd := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	snd.Spec.Replicas, snd.Spec.Template.Spec = 3, like.Spec
	snd.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{
		MaxUnavailable: new(intstr.FromInt32(maxUnavailable)), MinReadySeconds: new(int32),
	}}
	return snd
}

// bringUpFleet creates a fleet and waits until all of its nodes are in sync.
func (w tasks) bringUpFleet(snd *v1alpha1.SeiNodeDeployment) *v1alpha1.SeiNodeDeployment {
	w.T.Helper()
	w.Create(snd)
	return w.awaitFleet(snd.Name, func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.ObservedGeneration == s.Generation && s.Status.Rollout == nil && s.Status.ReadyReplicas == s.Spec.Replicas &&
			conditions.Is(s.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	})
}

func (w tasks) awaitFleet(name string, condition func(*v1alpha1.SeiNodeDeployment) bool) *v1alpha1.SeiNodeDeployment {
	w.T.Helper()
	return envtest.WaitFor(w.T, w.Env, w.NS, name, func(s *v1alpha1.SeiNodeDeployment) bool { return s != nil && condition(s) })
}

// onFleet is a task for a whole fleet instead of one node.
func onFleet(task *v1alpha1.SeiNodeTask, name string) *v1alpha1.SeiNodeTask {
	task.Spec.Target.NodeRef, task.Spec.Target.FleetRef.Name = v1alpha1.NodeRef{}, name
	return task
}

// childOf is the name of the task that a task for several nodes has made for one.
func (w tasks) childOf(parent, node string) string {
	w.T.Helper()
	return domain.ChildName(w.task(parent), node)
}

// children are the tasks that a task for several nodes has made, by node.
func (w tasks) children(parent string) map[string]*v1alpha1.SeiNodeTask {
	w.T.Helper()
	list := &v1alpha1.SeiNodeTaskList{}
	if err := w.Client.List(w.T.Context(), list, client.InNamespace(w.NS), client.MatchingLabels{v1alpha1.LabelTask: parent}); err != nil {
		w.T.Fatal(err)
	}
	found := map[string]*v1alpha1.SeiNodeTask{}
	for i := range list.Items {
		found[list.Items[i].Spec.Target.NodeRef.Name] = &list.Items[i]
	}
	return found
}

// counts are what status.nodes says.
type counts struct{ total, pending, running, complete, failed int32 }

func countsOf(t *v1alpha1.SeiNodeTask) counts {
	n := t.Status.Nodes
	if n == nil {
		return counts{}
	}
	return counts{n.Total, n.Pending, n.Running, n.Complete, n.Failed}
}

func counted(want counts) func(*v1alpha1.SeiNodeTask) bool {
	return func(t *v1alpha1.SeiNodeTask) bool { return countsOf(t) == want }
}

var threeNodes = []string{fleet.ChildName("rpc", 0), fleet.ChildName("rpc", 1), fleet.ChildName("rpc", 2)}

// requireEach requires that each node's sidecar was given a task of a type once.
func (w tasks) requireEach(t *testing.T, nodes []string, taskType api.TaskType) {
	t.Helper()
	for _, node := range nodes {
		if ids, times := w.submitted(node, taskType); ids != 1 || times != 1 {
			t.Errorf("%s: %s was submitted %d times under %d ids", node, taskType, times, ids)
		}
	}
}

// begunChildren are the nodes on which a task for several nodes has begun and is not over, sorted.
func (w tasks) begunChildren(parent string) []string {
	w.T.Helper()
	var found []string
	for node, child := range w.children(parent) {
		if domain.Running(&child.Status) {
			found = append(found, node)
		}
	}
	slices.Sort(found)
	return found
}
