package task

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func added(s *appsv1.StatefulSet) { s.Spec.Template.Labels["added"] = "by-hand" }

// N18
func TestSyncStatefulSet_HandEditedTemplate_IsPutBackWithOneWrite(t *testing.T) {
	r := newRig(t, added)
	for range 3 {
		if err := SyncStatefulSet(t.Context(), r.Env, KeepTemplate); err != nil {
			t.Fatal(err)
		}
		r.Observed.StatefulSet = r.seen(t)
	}
	if got := r.seen(t).Spec.Template.Labels["added"]; got != "" || len(r.writes) != 1 || !slices.Equal(r.Facts.PutBack, []string{"label added"}) {
		t.Errorf("label %q, writes %v, put back %q", got, r.writes, r.Facts.PutBack)
	}
}

// N18, S6: what comes again with the API server's own answer is a webhook's. It is left in peace,
// or the two would write forever; what a person adds beside it is still put back.
func TestSyncStatefulSet_WebhookAddsItAgain_IsLeftInPeaceAfterOneWrite(t *testing.T) {
	r := newRig(t, added)
	r.mutate = added
	for range 5 {
		if err := SyncStatefulSet(t.Context(), r.Env, KeepTemplate); err != nil {
			t.Fatal(err)
		}
		r.Observed.StatefulSet = r.seen(t)
	}
	if len(r.writes) != 1 {
		t.Errorf("writes %v, want one", r.writes)
	}
	r.Observed.StatefulSet.Spec.Template.Spec.Containers = append(r.Observed.StatefulSet.Spec.Template.Spec.Containers, corev1.Container{Name: "evil", Image: "x"})
	if err := r.Client.Update(t.Context(), r.Observed.StatefulSet); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := SyncStatefulSet(t.Context(), r.Env, KeepTemplate); err != nil {
			t.Fatal(err)
		}
		r.Observed.StatefulSet = r.seen(t)
	}
	if len(r.writes) != 2 || len(r.seen(t).Spec.Template.Spec.Containers) != len(r.live.Spec.Template.Spec.Containers) {
		t.Errorf("writes %v, containers %+v", r.writes, r.seen(t).Spec.Template.Spec.Containers)
	}
}

// A StatefulSet that changed since it was seen is not written: the next pass looks again.
func TestSyncStatefulSet_HandEditedTemplateThatChangedMeanwhile_IsNotOverwritten(t *testing.T) {
	r := newRig(t, added)
	moved := r.seen(t)
	moved.Labels = map[string]string{"moved": "on"}
	if err := r.Client.Update(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	if err := SyncStatefulSet(t.Context(), r.Env, KeepTemplate); !apierrors.IsConflict(err) || len(r.Facts.PutBack) > 0 {
		t.Errorf("error %v, want a conflict; put back %q", err, r.Facts.PutBack)
	}
}

// A rolling update cannot be turned off by apply: its parameters belong to whoever set them, or to
// the API server's defaults.
func TestSyncStatefulSet_RollingUpdate_IsReplacedAsAWhole(t *testing.T) {
	for name, change := range map[string]func(*appsv1.StatefulSet){"adopted": nobodys, "edited by hand": func(*appsv1.StatefulSet) {}} {
		r := newRig(t, func(s *appsv1.StatefulSet) {
			change(s)
			s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{
				Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(0))},
			}
		})
		for range 3 {
			if err := SyncStatefulSet(t.Context(), r.Env, KeepTemplate); err != nil {
				t.Fatal(err)
			}
			r.Observed.StatefulSet = r.seen(t)
		}
		if got := r.seen(t).Spec.UpdateStrategy; got.Type != appsv1.OnDeleteStatefulSetStrategyType || got.RollingUpdate != nil || len(r.writes) != 2 {
			t.Errorf("%s: strategy %+v after %v", name, got, r.writes)
		}
	}
}
