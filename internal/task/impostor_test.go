package task

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// C3: what took the place of the recorded StatefulSet is deleted with its pods, and with it goes the
// record: the next sync starts afresh and does not delete what it has just made.
func TestSyncStatefulSet_Impostor_IsDeletedWithItsPodsAndForgotten(t *testing.T) {
	r := newRig(t, nobodys)
	var policies []metav1.DeletionPropagation
	r.Client = strict{Client: r.Client, policies: &policies}
	r.Facts.Identity = &v1alpha1.ObjectIdentity{Name: r.Node.Name, UID: "ours"}
	if err := SyncStatefulSet(t.Context(), r.Env, KeepTemplate); err != nil {
		t.Fatal(err)
	}
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(r.live), &appsv1.StatefulSet{}); !apierrors.IsNotFound(err) {
		t.Errorf("the impostor: %v", err)
	}
	if r.Facts.Identity != nil || !r.Facts.ImpostorDeleted || r.Observed.StatefulSet != nil || len(r.writes) > 0 {
		t.Errorf("identity %+v, facts %+v, writes %v", r.Facts.Identity, r.Facts, r.writes)
	}
	if !slices.Equal(policies, []metav1.DeletionPropagation{metav1.DeletePropagationBackground}) {
		t.Errorf("deleted with %v", policies)
	}
	if err := SyncStatefulSet(t.Context(), r.Env, KeepTemplate); err != nil {
		t.Fatal(err)
	}
	if made := r.seen(t); r.Facts.Identity == nil || r.Facts.Identity.UID != made.UID || len(policies) != 1 {
		t.Errorf("identity %+v of %s after %d deletions", r.Facts.Identity, made.UID, len(policies))
	}
}

// C3: the impostor that was seen is gone and another one has its name. It is judged when it is seen.
func TestSyncStatefulSet_ImpostorThatWasReplaced_IsNotDeletedUnseen(t *testing.T) {
	r := newRig(t, nobodys)
	r.Client = strict{Client: r.Client}
	r.Facts.Identity = &v1alpha1.ObjectIdentity{Name: r.Node.Name, UID: "ours"}
	r.Observed.StatefulSet = r.live.DeepCopy()
	r.Observed.StatefulSet.UID = "gone"
	if err := SyncStatefulSet(t.Context(), r.Env, KeepTemplate); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a conflict", err)
	}
	r.seen(t)
	if r.Facts.Identity == nil || r.Facts.ImpostorDeleted {
		t.Errorf("facts %+v, want Identity not nil and ImpostorDeleted false", r.Facts)
	}
}

// What is written is the StatefulSet that was seen, by its UID, and none that took its name since.
func TestSyncStatefulSet_WritesTheOneThatWasSeen(t *testing.T) {
	for name, there := range map[string]bool{"one that is there": true, "none": false} {
		r := newRig(t, func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(7)) })
		if !there {
			if err := r.Client.Delete(t.Context(), r.live.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			r.Observed.StatefulSet = nil
		}
		if err := SyncStatefulSet(t.Context(), r.Env, ReplaceTemplate); err != nil {
			t.Fatal(err)
		}
		want := ""
		if there {
			want = "sts"
		}
		if len(r.writes) != 1 || string(r.appliedTo) != want {
			t.Errorf("%s: writes %v, to uid %q, want %q", name, r.writes, r.appliedTo, want)
		}
	}
}

// A StatefulSet on its way out is left to go; the next one is made when it is gone.
func TestSyncStatefulSet_OnItsWayOut_IsNotWritten(t *testing.T) {
	r := newRig(t, func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(7)) })
	r.Observed.StatefulSet = r.live.DeepCopy()
	r.Observed.StatefulSet.DeletionTimestamp = new(metav1.Now())
	if err := SyncStatefulSet(t.Context(), r.Env, ReplaceTemplate); err != nil || len(r.writes) > 0 || r.Observed.StatefulSet != nil {
		t.Errorf("error %v, writes %v, StatefulSet %v", err, r.writes, r.Observed.StatefulSet)
	}
	if o := applyStatefulSet(t.Context(), r.Env, nil); o.IsTerminal() {
		t.Errorf("outcome %+v, want it not final", o)
	}
}
