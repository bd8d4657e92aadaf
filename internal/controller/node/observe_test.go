package node

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		{"nobody controls it", pod(), "pod n-0 was made by somebody else: delete it, or give the node another name"},
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
