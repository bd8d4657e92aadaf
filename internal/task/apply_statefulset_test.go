package task

import (
	"testing"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

// An operator that takes over in the middle of a plan, and renders another template, keeps the one that
// the plan has applied. The next plan replaces it.
func TestApplyStatefulSet_TemplateOfThePlan_Stays(t *testing.T) {
	r := newRig(t, nobodys)
	if err := r.Client.Delete(t.Context(), r.live); err != nil {
		t.Fatal(err)
	}
	r.Observed.StatefulSet = nil
	apply := func(plan string) (template string) {
		t.Helper()
		r.Node.Status.Plan, r.Facts = &v1alpha1.TaskPlan{ID: plan, Tasks: []v1alpha1.PlannedTask{{Type: "apply-statefulset"}}}, &Facts{}
		if outcome := applyStatefulSet(t.Context(), r.Env, nil); !outcome.IsDone() {
			t.Fatalf("plan %s: %+v, want it to be done", plan, outcome)
		}
		r.Observed.StatefulSet = r.seen(t)
		if named := r.Observed.StatefulSet.Annotations[render.AnnotationPlan]; named != plan {
			t.Errorf("the StatefulSet names plan %q, want %q", named, plan)
		}
		template = render.TemplateHash(r.Observed.StatefulSet.Spec.Template.Annotations)
		if r.Facts.AppliedTemplate != template {
			t.Errorf("plan %s is told that template %s was applied, want %s", plan, r.Facts.AppliedTemplate, template)
		}
		return template
	}
	first := apply("a")
	other, spec := *r.want, *r.want.Spec
	template := *spec.Template
	other.Spec, spec.Template = &spec, &template
	template.ObjectMetaApplyConfiguration = corev1ac.PodTemplateSpec().WithLabels(spec.Template.Labels).
		WithAnnotations(map[string]string{render.AnnotationTemplateHash: "other"}).ObjectMetaApplyConfiguration
	r.want, r.writes = &other, nil
	if now := apply("a"); now != first || len(r.writes) > 0 {
		t.Errorf("another operator in the same plan has template %s after %v, want %s and no write", now, r.writes, first)
	}
	if now := apply("b"); now != "other" {
		t.Errorf("the next plan has template %s, want the one that is rendered now", now)
	}
}
