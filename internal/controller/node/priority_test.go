package node

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

func podOf(node, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: node + "-0", ResourceVersion: version, Labels: map[string]string{v1alpha1.LabelNode: node},
	}}
}

func TestUnderWay_PodEvents_OvertakeNewNodes(t *testing.T) {
	pods := underWay{handler.EnqueueRequestsFromMapFunc(nodeOfPod)}
	cases := []struct {
		name string
		send func(q queue)
		want int
	}{
		{"a pod is created", func(q queue) { pods.Create(t.Context(), event.CreateEvent{Object: podOf("n", "1")}, q) }, priorityUnderWay},
		{"a pod changes", func(q queue) {
			pods.Update(t.Context(), event.UpdateEvent{ObjectOld: podOf("n", "1"), ObjectNew: podOf("n", "2")}, q)
		}, priorityUnderWay},
		{"a pod goes", func(q queue) { pods.Delete(t.Context(), event.DeleteEvent{Object: podOf("n", "1")}, q) }, priorityUnderWay},
		{"a pod is told of without a change", func(q queue) {
			pods.Generic(t.Context(), event.GenericEvent{Object: podOf("n", "1")}, q)
		}, priorityUnderWay},
		{"a pod was there at the start", func(q queue) {
			pods.Create(t.Context(), event.CreateEvent{Object: podOf("n", "1"), IsInInitialList: true}, q)
		}, handler.LowPriority},
		{"a pod is listed again unchanged", func(q queue) {
			pods.Update(t.Context(), event.UpdateEvent{ObjectOld: podOf("n", "1"), ObjectNew: podOf("n", "1")}, q)
		}, handler.LowPriority},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			q := priorityqueue.New[reconcile.Request]("test")
			defer q.ShutDown()
			tc.send(q)
			got, priority, _ := q.GetWithPriority()
			if got.Name != "n" || priority != tc.want {
				t.Errorf("%s is queued with priority %d, want n with %d", got.Name, priority, tc.want)
			}
		})
	}
}

func TestUnderWay_NodeQueuedBefore_IsServedFirst(t *testing.T) {
	q := priorityqueue.New[reconcile.Request]("test")
	defer q.ShutDown()
	for _, name := range []string{"new-1", "new-2", "begun"} {
		q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	}
	underWay{handler.EnqueueRequestsFromMapFunc(nodeOfPod)}.Update(t.Context(),
		event.UpdateEvent{ObjectOld: podOf("begun", "1"), ObjectNew: podOf("begun", "2")}, q)
	if got, _, _ := q.GetWithPriority(); got.Name != "begun" {
		t.Errorf("%s is served first, want begun", got.Name)
	}
}

func TestResult_Requeue_TakesItsPriorityFromThePlan(t *testing.T) {
	node := &v1alpha1.SeiNode{}
	s := &scope{node: node, requeueAfter: time.Second}
	if got := s.result(); *got.Priority != priorityNormal || got.RequeueAfter != time.Second {
		t.Errorf("a node at rest comes back after %s with priority %d", got.RequeueAfter, *got.Priority)
	}
	node.Status.Plan = &v1alpha1.TaskPlan{Phase: v1alpha1.PlanActive}
	if got := s.result(); *got.Priority != priorityUnderWay {
		t.Errorf("a node with a plan comes back with priority %d", *got.Priority)
	}
}
