package task

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// fieldTree is a set of fields as managed fields write it: names with f:, items of lists with k:.
type fieldTree map[string]any

// takeOverTemplate makes us the one owner of the pod template of a StatefulSet that we have never applied,
// and reports whether it had to. Apply leaves to others what they own, and their containers and volumes
// beside ours make a pod that the API server refuses. What we own and do not apply goes.
//
// Only the template is taken over: of the rest much cannot change.
func takeOverTemplate(ctx context.Context, env *Env, live *appsv1.StatefulSet) (bool, error) {
	if slices.ContainsFunc(live.ManagedFields, appliedByUs) {
		return false, nil
	}
	fields, taken, err := withoutTemplate(live.ManagedFields)
	if err != nil || len(taken) == 0 {
		return false, err
	}
	ours, err := json.Marshal(fieldTree{"f:spec": fieldTree{"f:template": taken}})
	if err != nil {
		return false, fmt.Errorf("encoding managed fields: %w", err)
	}
	fields = append(fields, metav1.ManagedFieldsEntry{
		Manager: v1alpha1.FieldOwnerSeiNode, Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: appsv1.SchemeGroupVersion.String(), FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(ours)),
	})
	after := live.DeepCopy()
	if err := replaceField(ctx, env, after, "/metadata/managedFields", fields); err != nil {
		return false, fmt.Errorf("taking over the pod template: %w", err)
	}
	env.Observed.StatefulSet = after
	env.Wrote(after)
	return true, nil
}

// DropAppliedFields takes out of a StatefulSet which of its fields we have applied, but not that we
// have: it is a third of the object, and is asked for only when an operator renders another template.
// What others have applied stays as long as we have not.
func DropAppliedFields(sts *appsv1.StatefulSet) {
	if !slices.ContainsFunc(sts.ManagedFields, appliedByUs) {
		return
	}
	for i := range sts.ManagedFields {
		sts.ManagedFields[i].FieldsV1 = nil
	}
}

// withAppliedFields is a StatefulSet with the fields that DropAppliedFields has taken out.
func withAppliedFields(ctx context.Context, env *Env, live *appsv1.StatefulSet) (*appsv1.StatefulSet, error) {
	if !slices.ContainsFunc(live.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return appliedByUs(e) && e.FieldsV1 == nil }) {
		return live, nil
	}
	whole := &appsv1.StatefulSet{}
	if err := env.Live.Get(ctx, client.ObjectKeyFromObject(live), whole); err != nil {
		return nil, fmt.Errorf("reading what was applied before: %w", err)
	}
	if whole.UID != live.UID {
		return nil, fmt.Errorf("reading what was applied before: StatefulSet %s is another one by now", live.Name)
	}
	return whole, nil
}

func appliedByUs(e metav1.ManagedFieldsEntry) bool {
	return e.Manager == v1alpha1.FieldOwnerSeiNode && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
}

// withoutTemplate are the managed fields without the pod template, and what was taken out. An entry of
// another version of the API is left alone: its fields may have other names.
func withoutTemplate(entries []metav1.ManagedFieldsEntry) (rest []metav1.ManagedFieldsEntry, taken fieldTree, err error) {
	taken = fieldTree{}
	for _, e := range entries {
		if e.Subresource != "" || e.FieldsV1 == nil || e.APIVersion != appsv1.SchemeGroupVersion.String() {
			rest = append(rest, e)
			continue
		}
		tree := fieldTree{}
		if err := json.Unmarshal(e.FieldsV1.GetRawBytes(), &tree); err != nil {
			return nil, nil, fmt.Errorf("reading the managed fields of %s: %w", e.Manager, err)
		}
		spec, _ := tree["f:spec"].(map[string]any)
		template, _ := spec["f:template"].(map[string]any)
		join(taken, template)
		delete(spec, "f:template")
		raw, err := json.Marshal(tree)
		if err != nil {
			return nil, nil, fmt.Errorf("encoding the managed fields of %s: %w", e.Manager, err)
		}
		e.FieldsV1 = metav1.NewFieldsV1(string(raw))
		rest = append(rest, e)
	}
	return rest, taken, nil
}

// join adds the fields of one tree to another.
func join(into fieldTree, from map[string]any) {
	for name, value := range from {
		below, _ := value.(map[string]any)
		have, ok := into[name].(fieldTree)
		if !ok {
			have = fieldTree{}
			into[name] = have
		}
		join(have, below)
	}
}
