package node

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestPodObstacle_NamesWhoseItIsAndTheWayOut(t *testing.T) {
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "ours"}}
	pod := func(owners ...metav1.OwnerReference) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "n-0", OwnerReferences: owners}}
	}
	cases := []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"nothing has the name", nil, "the pod cannot be created: see the events of kubectl describe statefulset n"},
		{"it was just made", pod(metav1.OwnerReference{UID: "ours", Controller: new(true)}), ""},
		{"nobody controls it", pod(), "pod n-0 was not created by the operator: delete it, or rename the node"},
		{
			"somebody else controls it", pod(metav1.OwnerReference{Kind: "Job", Name: "backup", UID: "theirs", Controller: new(true)}),
			"pod n-0 is controlled by Job backup: delete or rename one of the two",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := podObstacle(sts, tc.pod); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestObserveOperation_OnlyARunningTaskThatClosedTheGate(t *testing.T) {
	closed, opened := metav1.Now(), v1alpha1.PlannedTask{Type: operation.StepMarkReady, Status: v1alpha1.TaskComplete}
	holding := func(change func(*v1alpha1.SeiNodeTask)) *v1alpha1.SeiNodeTask {
		of := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "reset"}}
		of.Spec.Kind, of.Spec.Target.NodeRef.Name = v1alpha1.TaskKindStateSync, "n"
		of.Status.Phase = v1alpha1.NodeTaskRunning
		of.Status.Plan = &v1alpha1.TaskPlan{Tasks: []v1alpha1.PlannedTask{{Type: operation.StepHoldGate, SubmittedAt: &closed}}}
		change(of)
		return of
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.SeiNodeTask)
		gate   api.GateState
		phase  v1alpha1.SeiNodePhase
		want   string
	}{
		"it runs":       {func(*v1alpha1.SeiNodeTask) {}, api.GateClosed, v1alpha1.NodeRunning, "reset"},
		"it has failed": {func(o *v1alpha1.SeiNodeTask) { o.Status.CompletedAt = &closed }, api.GateClosed, v1alpha1.NodeRunning, ""},
		"it is about to close the gate": {func(o *v1alpha1.SeiNodeTask) {
			o.Status.Plan.Tasks[0] = v1alpha1.PlannedTask{Type: operation.StepHoldGate, Status: v1alpha1.TaskPending}
		}, api.GateClosed, v1alpha1.NodeRunning, "reset"},
		"it waits before it closes the gate": {func(o *v1alpha1.SeiNodeTask) {
			o.Status.Plan.Tasks[0] = v1alpha1.PlannedTask{Type: operation.StepHoldGate, Status: v1alpha1.TaskRunning}
		}, api.GateClosed, v1alpha1.NodeRunning, ""},
		"it has opened the gate again": {func(o *v1alpha1.SeiNodeTask) { o.Status.Plan.Tasks = append(o.Status.Plan.Tasks, opened) }, api.GateClosed, v1alpha1.NodeRunning, ""},
		"it is of another node":        {func(o *v1alpha1.SeiNodeTask) { o.Spec.Target.NodeRef.Name = "m" }, api.GateClosed, v1alpha1.NodeRunning, ""},
		"it is of another kind":        {func(o *v1alpha1.SeiNodeTask) { o.Spec.Kind = v1alpha1.TaskKindRestartSeid }, api.GateClosed, v1alpha1.NodeRunning, ""},
		"the sidecar knows":            {func(*v1alpha1.SeiNodeTask) {}, api.GateHeld, v1alpha1.NodeRunning, ""},
		"the node is new":              {func(*v1alpha1.SeiNodeTask) {}, api.GateClosed, "", ""},
	} {
		scheme := runtime.NewScheme()
		if err := v1alpha1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		objects := fake.NewClientBuilder().WithScheme(scheme).WithObjects(holding(c.change))
		tasksByTarget(objects)
		node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n"}}
		node.Status.Phase = c.phase
		s := &scope{node: node, document: &api.Node{Gate: api.Gate{State: c.gate}}}
		r := &Reconciler{Base: loop.Base{Client: objects.Build()}}
		if err := r.observeOperation(t.Context(), s); err != nil || s.operation != c.want {
			t.Errorf("%s: got %q, %v, want %q", name, s.operation, err, c.want)
		}
	}
}
