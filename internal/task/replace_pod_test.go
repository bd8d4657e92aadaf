package task

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/planner"
	"github.com/sei-operator/sei-operator/internal/render"
)

// A pod that the cache does not show yet is found and replaced all the same.
func TestReplacePod_PodTheCacheDoesNotShow_IsDeleted(t *testing.T) {
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "rpc", UID: "sts"}}
	sts.Spec.Template.Annotations = map[string]string{render.AnnotationTemplateHash: "new"}
	sts.Status.UpdateRevision = "rpc-new"
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "sei", Name: "rpc-0", Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: "rpc-old"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
	}}
	api := fake.NewClientBuilder().WithObjects(pod).Build()
	env := &Env{
		Client: api, Live: api, Clock: clocktesting.NewFakePassiveClock(time.Now()),
		Node:     &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "rpc"}},
		Observed: &planner.Observation{StatefulSet: sts},
		Wanted:   planner.Wanted{PlanTarget: v1alpha1.PlanTarget{PodTemplateHash: "new"}},
	}
	if o := replacePod(t.Context(), env, nil); !o.IsWait() {
		t.Errorf("outcome %+v", o)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}); !apierrors.IsNotFound(err) {
		t.Errorf("the old pod is still there: %v", err)
	}
	if o := replacePod(t.Context(), env, nil); !o.IsDone() {
		t.Errorf("outcome %+v", o)
	}
}
