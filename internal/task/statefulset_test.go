package task

import (
	"context"
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/render/rendertest"
)

// rig is a node with its StatefulSet as an API server has it.
type rig struct {
	*Env
	live *appsv1.StatefulSet
	// writes are the patches and applies that were sent.
	writes []string
	// appliedTo is the UID that the last apply named.
	appliedTo types.UID
	// want is what is rendered.
	want *appsv1ac.StatefulSetApplyConfiguration
	// renders counts how often what is wanted was asked for.
	renders int
	// mutate is what a webhook does to every StatefulSet that is written.
	mutate func(*appsv1.StatefulSet)
}

func newRig(t *testing.T, change func(*appsv1.StatefulSet)) *rig {
	t.Helper()
	in := rendertest.Input(rendertest.FullNode())
	in.Node.Namespace, in.Node.UID = "sei", "node"
	want, err := render.StatefulSet(in)
	if err != nil {
		t.Fatal(err)
	}
	live, err := render.Convert[appsv1.StatefulSet](want)
	if err != nil {
		t.Fatal(err)
	}
	live.Namespace, live.UID = "sei", "sts"
	change(live)
	r := &rig{}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithObjects(live).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, p client.Patch, o ...client.PatchOption) error {
			r.writes = append(r.writes, "patch")
			if err := c.Patch(ctx, obj, p, o...); err != nil {
				return err
			}
			if sts, ok := obj.(*appsv1.StatefulSet); ok && r.mutate != nil {
				r.mutate(sts)
				return c.Update(ctx, sts)
			}
			return nil
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, o ...client.ApplyOption) error {
			r.writes = append(r.writes, "apply")
			if sts, ok := obj.(*appsv1ac.StatefulSetApplyConfiguration); ok && sts.ObjectMetaApplyConfiguration != nil {
				r.appliedTo = ptr.Deref(sts.UID, "")
			}
			return c.Apply(ctx, obj, o...)
		},
	}).Build()
	r.live, r.want = live, want
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
		t.Fatal(err)
	}
	r.Env = &Env{
		Client: c, Live: c, Node: in.Node, Observed: &Objects{StatefulSet: live}, Render: in,
		StatefulSet: func() (*appsv1ac.StatefulSetApplyConfiguration, error) {
			r.renders++
			return r.want, nil
		},
		Facts: &Facts{}, WebhookAdds: &WebhookAdds{}, InShape: &InShape{}, Wrote: func(client.Object) {}, Deleted: func(client.Object) {},
	}
	return r
}

// seen is the StatefulSet as the next pass finds it.
func (r *rig) seen(t *testing.T) *appsv1.StatefulSet {
	t.Helper()
	sts := &appsv1.StatefulSet{}
	if err := r.Client.Get(t.Context(), types.NamespacedName{Namespace: "sei", Name: r.Node.Name}, sts); err != nil {
		t.Fatal(err)
	}
	return sts
}

func nobodys(s *appsv1.StatefulSet) { s.OwnerReferences = nil }

// N19: what cannot be changed has to be as we would make it.
func TestSyncStatefulSet_ThatCannotBeAdopted_IsNamedWithTheWayOut(t *testing.T) {
	const orphan = "--cascade=orphan keeps its pod"
	for name, c := range map[string]struct {
		change func(*appsv1.StatefulSet)
		want   []string // nil: it is adopted
	}{
		"as we would make it": {nobodys, nil},
		"another serviceName": {func(s *appsv1.StatefulSet) { nobodys(s); s.Spec.ServiceName = "other" }, []string{"spec.serviceName", `"other"`, orphan}},
		"another key in its selector": {func(s *appsv1.StatefulSet) {
			nobodys(s)
			s.Spec.Selector.MatchLabels["app"] = "sei"
		}, []string{"spec.selector", "app=sei", orphan}},
		"an expression in its selector": {func(s *appsv1.StatefulSet) {
			nobodys(s)
			s.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}
		}, []string{"spec.selector", orphan}},
		"selects other pods": {func(s *appsv1.StatefulSet) {
			nobodys(s)
			s.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
		}, []string{"selects other pods"}},
		"no selector": {func(s *appsv1.StatefulSet) { nobodys(s); s.Spec.Selector = nil }, []string{"selects other pods"}},
		"somebody else's": {func(s *appsv1.StatefulSet) {
			s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "theirs", UID: "t", Controller: new(true)}}
		}, []string{"controlled by ConfigMap theirs"}},
	} {
		for _, policy := range []TemplatePolicy{KeepTemplate, ReplaceTemplate} {
			r := newRig(t, c.change)
			err := SyncStatefulSet(t.Context(), r.Env, policy)
			obstacle, blocked := errors.AsType[*NotOursError](err)
			if blocked != (c.want != nil) || !blocked && err != nil {
				t.Errorf("%s: error %v", name, err)
				continue
			}
			for _, words := range c.want {
				if !strings.Contains(obstacle.Error(), words) {
					t.Errorf("%s: %q does not say %q", name, obstacle, words)
				}
			}
			if blocked && (len(r.writes) > 0 || r.Facts.Identity != nil) {
				t.Errorf("%s: it was touched: %v, %+v", name, r.writes, r.Facts)
			}
		}
	}
}

// N20: a tracked name that somebody else has taken is nobody's to delete.
func TestSyncStatefulSet_ForeignOneInThePlaceOfOurs_IsNotDeleted(t *testing.T) {
	r := newRig(t, func(s *appsv1.StatefulSet) {
		s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "theirs", UID: "t", Controller: new(true)}}
	})
	r.Facts.Identity = &v1alpha1.ObjectIdentity{Name: r.Node.Name, UID: "ours"}
	if _, blocked := errors.AsType[*NotOursError](SyncStatefulSet(t.Context(), r.Env, KeepTemplate)); !blocked || r.seen(t).UID != "sts" {
		t.Error("the foreign StatefulSet was not left alone")
	}
}

// superseded is a StatefulSet that we have applied, of a node that wants another image since, and
// a cache that does not show it yet.
func superseded(t *testing.T) (r *rig, before string) {
	t.Helper()
	r = newRig(t, func(*appsv1.StatefulSet) {})
	if err := apply(t.Context(), r.Env, r.want); err != nil {
		t.Fatal(err)
	}
	r.Node.Spec.Image = "seid:new"
	next, err := render.StatefulSet(r.Render)
	if err != nil {
		t.Fatal(err)
	}
	before = render.TemplateHash(r.seen(t).Spec.Template.Annotations)
	r.want, r.Observed.StatefulSet, r.writes = next, nil, nil
	return r, before
}

// N15: a cache that does not show the tracked StatefulSet yet must not let apply-statefulset pass
// without applying.
func TestApplyStatefulSet_CacheIsLate_AppliesTheNewTemplate(t *testing.T) {
	r, _ := superseded(t)
	if o := applyStatefulSet(t.Context(), r.Env, nil); !o.IsDone() {
		t.Fatalf("outcome %+v, want it done", o)
	}
	want := render.TemplateHash(r.want.Spec.Template.Annotations)
	if got := render.TemplateHash(r.seen(t).Spec.Template.Annotations); got != want || r.Facts.AppliedTemplate != want || len(r.writes) != 1 {
		t.Errorf("template %s, noted %s, want %s; writes %v", got, r.Facts.AppliedTemplate, want, r.writes)
	}
	if r.Facts.Recreated {
		t.Error("it was made again although it was there")
	}
}

// S6: without a plan another template is not applied, also with a late cache.
func TestSyncStatefulSet_KeepTemplateWithALateCache_KeepsIt(t *testing.T) {
	r, before := superseded(t)
	if err := SyncStatefulSet(t.Context(), r.Env, KeepTemplate); err != nil {
		t.Fatal(err)
	}
	if got := render.TemplateHash(r.seen(t).Spec.Template.Annotations); got != before {
		t.Errorf("template %s became %s", before, got)
	}
}

// A node at rest is looked at every half minute; what has not changed is not rendered and compared
// again, and whatever has changed is.
func TestSyncStatefulSet_NothingChanged_IsNotComparedAgain(t *testing.T) {
	r := newRig(t, func(*appsv1.StatefulSet) {})
	look := func(want int, after string) {
		t.Helper()
		r.renders, r.Facts.Identity = 0, nil
		r.Observed.StatefulSet = r.seen(t)
		if err := SyncStatefulSet(t.Context(), r.Env, KeepTemplate); err != nil {
			t.Fatal(err)
		}
		if r.renders != want || r.Facts.Identity == nil || r.Facts.Identity.UID != "sts" {
			t.Errorf("%s: rendered %d times, want %d; identity %+v", after, r.renders, want, r.Facts.Identity)
		}
	}
	look(1, "first look")
	look(0, "nothing changed")
	r.Node.ResourceVersion = "2"
	look(1, "the node changed")
	look(0, "nothing changed since")
	edited := r.seen(t)
	edited.Spec.Template.Labels["added"] = "by-hand"
	if err := r.Client.Update(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	look(1, "the StatefulSet was edited by hand")
	if got := r.seen(t).Spec.Template.Labels["added"]; got != "" || len(r.writes) != 1 {
		t.Errorf("label %q stays after %v", got, r.writes)
	}
	look(1, "our own write is looked at once")
	look(0, "nothing changed since that")
}

// The note of an adopted StatefulSet keeps its pod: only the plan that adopts it without replacing the
// pod may write it, and the next template takes it away.
func TestSyncStatefulSet_OfAnotherOperator_NotesTheSpecOnlyIfItsPodStays(t *testing.T) {
	ours, foreign := func(*appsv1.StatefulSet) {}, func(s *appsv1.StatefulSet) { s.Spec.Template.Annotations = nil }
	adopts, replaces := []string{domain.StepApplyStatefulSet}, []string{domain.StepApplyStatefulSet, domain.StepReplacePod}
	for name, c := range map[string]struct {
		change func(*appsv1.StatefulSet)
		noted  string
		steps  []string
		policy TemplatePolicy
		want   func(*rig) string
	}{
		"adopted, and its pod stays":       {foreign, "", adopts, ReplaceTemplate, func(r *rig) string { return render.SpecHash(r.want.Spec.Template.Annotations) }},
		"adopted, and its pod is replaced": {foreign, "", replaces, ReplaceTemplate, nil},
		"seen without a plan":              {foreign, "", nil, KeepTemplate, nil},
		"adopted before":                   {ours, "spec", nil, KeepTemplate, func(*rig) string { return "spec" }},
		"applied by the step after the repair": {
			ours, "same", adopts, ReplaceTemplate,
			func(r *rig) string { return render.SpecHash(r.want.Spec.Template.Annotations) },
		},
		"another template afterwards": {ours, "spec", adopts, ReplaceTemplate, nil},
		"never another operator's":    {ours, "", adopts, ReplaceTemplate, nil},
	} {
		r := newRig(t, c.change)
		if c.noted != "" {
			if c.noted == "same" {
				c.noted = render.SpecHash(r.want.Spec.Template.Annotations)
			}
			if err := apply(t.Context(), r.Env, withNotes(r.want, "p0", c.noted)); err != nil {
				t.Fatal(err)
			}
			r.Observed.StatefulSet = r.seen(t)
		}
		if c.steps != nil {
			r.Node.Status.Plan = &v1alpha1.TaskPlan{ID: "p1", Phase: v1alpha1.PlanActive}
			for _, step := range c.steps {
				r.Node.Status.Plan.Tasks = append(r.Node.Status.Plan.Tasks, v1alpha1.PlannedTask{Type: step})
			}
		}
		if err := SyncStatefulSet(t.Context(), r.Env, c.policy); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := ""
		if c.want != nil {
			want = c.want(r)
		}
		if got := r.seen(t).Annotations[render.AnnotationAdoptedSpecHash]; got != want {
			t.Errorf("%s: the StatefulSet notes %q, want %q", name, got, want)
		}
	}
}
