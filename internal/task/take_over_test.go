package task

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

func entry(manager, version, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version, Subresource: subresource,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

// Everybody loses the template and nothing else, and what they had of it comes together.
func TestWithoutTemplate_TakesTheTemplateFromAll(t *testing.T) {
	const status = `{"f:spec":{"f:template":{"f:x":{}}},"f:status":{}}`
	rest, taken, err := withoutTemplate([]metav1.ManagedFieldsEntry{
		entry("a", "apps/v1", "", `{"f:metadata":{"f:labels":{}},"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}}}}}}}`),
		entry("b", "apps/v1", "", `{"f:spec":{"f:template":{"f:metadata":{},"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:env":{}},"k:{\"name\":\"b\"}":{}}}}}}`),
		entry("c", "apps/v1", "", `{"f:metadata":{"f:annotations":{}}}`),
		entry("d", "apps/v1", "status", status),
		entry("e", "apps/v1beta1", "", status),
	})
	if err != nil {
		t.Fatal(err)
	}
	left := make([]string, 0, len(rest))
	for _, e := range rest {
		left = append(left, e.Manager+" "+e.FieldsV1.GetRawString())
	}
	want := []string{
		`a {"f:metadata":{"f:labels":{}},"f:spec":{"f:replicas":{}}}`, `b {"f:spec":{}}`, `c {"f:metadata":{"f:annotations":{}}}`, "d " + status, "e " + status,
	}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	raw, err := json.Marshal(taken)
	if err != nil {
		t.Fatal(err)
	}
	const all = `{"f:metadata":{},"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:env":{},"f:image":{}},"k:{\"name\":\"b\"}":{}}}}`
	if diff := cmp.Diff(all, string(raw)); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

func TestTakeOverTemplate_OfOneThatWeApplied_ChangesNothing(t *testing.T) {
	r := newRig(t, nobodys)
	ours := entry("", "apps/v1", "", `{"f:spec":{"f:template":{"f:spec":{}}}}`)
	ours.Manager, ours.Operation = v1alpha1.FieldOwnerSeiNode, metav1.ManagedFieldsOperationApply
	r.live.ManagedFields = []metav1.ManagedFieldsEntry{ours, entry("somebody", "apps/v1", "", `{"f:spec":{"f:template":{"f:metadata":{}}}}`)}
	if taken, err := takeOverTemplate(t.Context(), r.Env, r.live); taken || err != nil || len(r.writes) > 0 {
		t.Errorf("taken over %v, error %v, writes %v", taken, err, r.writes)
	}
}

func TestDropAppliedFields_OnceWeHaveApplied_KeepsOnlyThatWeHave(t *testing.T) {
	theirs := entry("somebody", "apps/v1", "", `{"f:spec":{}}`)
	ours := entry(v1alpha1.FieldOwnerSeiNode, "apps/v1", "", `{"f:spec":{"f:template":{}}}`)
	ours.Operation = metav1.ManagedFieldsOperationApply
	adopted := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{theirs}}}
	DropAppliedFields(adopted)
	if adopted.ManagedFields[0].FieldsV1 == nil {
		t.Error("what others own of a StatefulSet that is to be taken over is lost")
	}
	applied := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{theirs, ours}}}
	DropAppliedFields(applied)
	for _, e := range applied.ManagedFields {
		if e.FieldsV1 != nil || e.Manager == "" {
			t.Errorf("kept %+v, want who and not what", e)
		}
	}
}

// The cache does not hold which fields we have applied: an operator that renders another template asks
// the API server, and leaves the template as it is.
func TestSyncStatefulSet_AnotherRenderingOnALeanCache_KeepsTheTemplate(t *testing.T) {
	r := newRig(t, nobodys)
	r.Observed.StatefulSet = nil
	if err := r.Client.Delete(t.Context(), r.live); err != nil {
		t.Fatal(err)
	}
	if err := SyncStatefulSet(t.Context(), r.Env, ReplaceTemplate); err != nil {
		t.Fatal(err)
	}
	applied := render.TemplateHash(r.seen(t).Spec.Template.Annotations)
	other := *r.want
	spec := *r.want.Spec
	other.Spec, spec.Template = &spec, corev1ac.PodTemplateSpec().WithAnnotations(map[string]string{render.AnnotationTemplateHash: "other"})
	r.want, r.writes = &other, nil
	r.Observed.StatefulSet = r.seen(t)
	DropAppliedFields(r.Observed.StatefulSet)
	if err := SyncStatefulSet(t.Context(), r.Env, KeepTemplate); err != nil {
		t.Fatal(err)
	}
	if now := render.TemplateHash(r.seen(t).Spec.Template.Annotations); now != applied || len(r.writes) > 0 {
		t.Errorf("template %s after %v, want %s and no write", now, r.writes, applied)
	}
}
