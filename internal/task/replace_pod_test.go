package task

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

func TestReplacePod_EndsWithAPodThatWasSeen(t *testing.T) {
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "rpc", UID: "sts"}}
	sts.Spec.Template.Annotations = map[string]string{render.AnnotationTemplateHash: "new"}
	sts.Status.UpdateRevision = "rpc-new"
	made := func(uid types.UID, revision string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "sei", Name: "rpc-0", UID: uid, Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: revision},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		}}
	}
	leaving, foreign := made("a", "rpc-old"), made("a", "rpc-old")
	leaving.DeletionTimestamp, foreign.OwnerReferences = &metav1.Time{Time: time.Now()}, nil
	for name, c := range map[string]struct {
		there, seen *corev1.Pod
		done, gone  bool
	}{
		"an old one is deleted":                            {there: made("a", "rpc-old"), seen: made("a", "rpc-old"), done: true, gone: true},
		"an old one that nobody has seen is waited for":    {there: made("a", "rpc-old")},
		"an old one whose place was taken is not mistaken": {there: made("b", "rpc-old"), seen: made("a", "rpc-old")},
		"one that is gone is not there to be judged":       {seen: made("a", "rpc-old"), gone: true},
		"one on its way out is left to it":                 {there: made("a", "rpc-old"), seen: leaving, done: true},
		"a new one stays":                                  {there: made("a", "rpc-new"), seen: made("a", "rpc-new"), done: true},
		"somebody else's stays":                            {there: made("a", "rpc-old"), seen: foreign, done: true},
		"none is waited for":                               {gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			api := fake.NewClientBuilder().Build()
			if c.there != nil {
				api = fake.NewClientBuilder().WithObjects(c.there).Build()
			}
			env := &Env{
				Client: strict{Client: api}, Clock: clocktesting.NewFakePassiveClock(time.Now()),
				Node:     &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "rpc"}},
				Observed: &Objects{StatefulSet: sts, Pod: c.seen}, Facts: &Facts{},
				Deleted: func(client.Object) {},
			}
			if o := replacePod(t.Context(), env, nil); o.IsDone() != c.done || o.IsWait() == c.done {
				t.Errorf("outcome %+v, want done: %t and waiting: not %t", o, c.done, c.done)
			}
			err := api.Get(t.Context(), client.ObjectKey{Namespace: "sei", Name: "rpc-0"}, &corev1.Pod{})
			if apierrors.IsNotFound(err) != c.gone {
				t.Errorf("pod: %v, want IsNotFound %v", err, c.gone)
			}
			if c.done && c.gone && env.Observed.Pod.DeletionTimestamp == nil {
				t.Error("the deleted pod still counts as there")
			}
		})
	}
}

// The revision counts once the StatefulSet controller has seen the template that the plan has applied.
func TestReplacePod_RevisionOfAnOlderTemplate_IsWaitedFor(t *testing.T) {
	for name, change := range map[string]func(*appsv1.StatefulSet){
		"the template is not the plan's": func(s *appsv1.StatefulSet) { s.Spec.Template.Annotations[render.AnnotationTemplateHash] = "old" },
		"nobody has seen it yet":         func(s *appsv1.StatefulSet) { s.Generation, s.Status.ObservedGeneration = 3, 2 },
		"there is no revision":           func(s *appsv1.StatefulSet) { s.Status.UpdateRevision = "" },
	} {
		sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "rpc", UID: "sts"}}
		sts.Spec.Template.Annotations = map[string]string{render.AnnotationTemplateHash: "new"}
		sts.Status.UpdateRevision = "rpc-new"
		if !revisionKnown(sts, "new") {
			t.Fatal("the revision is not known")
		}
		change(sts)
		if revisionKnown(sts, "new") {
			t.Errorf("%s: the revision counts", name)
		}
	}
	if revisionKnown(nil, "new") {
		t.Error("there is no StatefulSet, and its revision counts")
	}
}

// The cache has no pods without our labels, as an adopted StatefulSet may have made. What its controller
// counts and nobody has seen is looked for at the API server, and only then.
func TestReplacePod_OldPodWithoutOurLabels_IsFoundByItsStatefulSet(t *testing.T) {
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "rpc", UID: "sts"}}
	sts.Spec.Template.Annotations = map[string]string{render.AnnotationTemplateHash: "new"}
	sts.Status = appsv1.StatefulSetStatus{UpdateRevision: "rpc-new", Replicas: 1}
	old := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "sei", Name: "rpc-0", UID: "a", Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: "rpc-old"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
	}}
	for name, c := range map[string]struct {
		updated    int32
		there      []client.Object
		done, gone bool
	}{
		"it is there":                      {there: []client.Object{old}, done: true, gone: true},
		"it is gone already":               {gone: true},
		"the pod is of the newest":         {updated: 1, there: []client.Object{old}},
		"the pod has not been seen so far": {updated: 1, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			api := fake.NewClientBuilder().WithObjects(c.there...).Build()
			seen := sts.DeepCopy()
			seen.Status.UpdatedReplicas = c.updated
			env := &Env{
				Client: strict{Client: api}, Clock: clocktesting.NewFakePassiveClock(time.Now()),
				Node:     &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "rpc"}},
				Observed: &Objects{StatefulSet: seen}, Facts: &Facts{}, Deleted: func(client.Object) {},
			}
			if c.updated == 0 {
				env.Live = api // it is asked in no other case
			}
			if o := replacePod(t.Context(), env, nil); o.IsDone() != c.done {
				t.Errorf("outcome %+v, want done: %t", o, c.done)
			}
			err := api.Get(t.Context(), client.ObjectKeyFromObject(old), &corev1.Pod{})
			if apierrors.IsNotFound(err) != c.gone {
				t.Errorf("the pod is gone: %v", err)
			}
		})
	}
}
