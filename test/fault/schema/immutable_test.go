package schema

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// manifests together have every field of every spec: those of the tests of the API, and the SeiNodes
// among them as templates of fleets.
func manifests(t *testing.T, env *envtest.Env) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(env.Root, "test/envtest/api/testdata/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	var found []*unstructured.Unstructured
	add := func(kind, name string, spec map[string]any) {
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
		obj.SetName(strings.TrimSuffix(name, ".yaml"))
		found = append(found, obj)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		content := decode(t, string(text))
		kind, spec := content["kind"].(string), content["spec"].(map[string]any)
		add(kind, filepath.Base(file), spec)
		if kind == v1alpha1.KindSeiNode {
			add(v1alpha1.KindSeiNodeDeployment, "fleet-of-"+filepath.Base(file), map[string]any{
				"template": map[string]any{"spec": runtime.DeepCopyJSON(spec)},
			})
		}
	}
	return found
}

// has reports whether a spec has a field, in the first item of each list.
func has(value any, steps []step) bool {
	if len(steps) == 0 {
		return value != nil
	}
	switch v := value.(type) {
	case map[string]any:
		if steps[0].name != "" {
			return has(v[steps[0].name], steps[1:])
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), func(entry any) bool { return has(entry, steps[1:]) })
	case []any:
		return len(v) > 0 && has(v[0], steps[1:])
	}
	return false
}

// of finds a manifest that has a field.
func (f field) of(manifests []*unstructured.Unstructured) *unstructured.Unstructured {
	for _, obj := range manifests {
		if obj.GetKind() == f.kind && has(obj.Object["spec"], f.steps[1:]) {
			return obj
		}
	}
	return nil
}

// saysFixed are the words with which a change is refused that can never be made.
var saysFixed = []string{"cannot change", "can be neither changed nor removed"}

// A field that cannot change says so, whatever value it is given, and when it is taken away.
func TestSchema_ImmutableFields_SayThatTheyCannotChange(t *testing.T) {
	env := envtest.Shared(t)
	all, ns, made := manifests(t, env), env.Namespace(t), map[string]bool{}
	for _, f := range allFields(t, env) {
		n := about(f)
		if n.class != immutable {
			continue
		}
		t.Run(f.String(), func(t *testing.T) {
			obj := f.of(all)
			if obj == nil {
				t.Fatalf("no manifest of test/envtest/api/testdata has %s", f)
			}
			if key := obj.GetKind() + obj.GetName(); !made[key] {
				made[key] = true
				stored := obj.DeepCopy()
				stored.SetNamespace(ns)
				if err := env.Client.Create(t.Context(), stored); err != nil {
					t.Fatal(err)
				}
			}
			stored := obj.DeepCopy()
			if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: obj.GetName()}, stored); err != nil {
				t.Fatal(err)
			}
			fit, _ := n.valuesOf(t, f)
			if len(fit) == 0 {
				t.Fatal("no value can be generated: give some in table_test.go")
			}
			tried := 0
			for _, value := range fit {
				changed := stored.DeepCopy()
				changed.Object["spec"] = f.place(t, stored.Object["spec"].(map[string]any), n.key, value)
				if cmp.Equal(changed.Object["spec"], stored.Object["spec"]) {
					continue
				}
				tried++
				err := env.Client.Update(t.Context(), changed, client.DryRunAll)
				if err == nil || !slices.ContainsFunc(saysFixed, func(words string) bool { return strings.Contains(err.Error(), words) }) {
					t.Errorf("%v: the answer is %v; want one of %q", value, err, saysFixed)
				}
			}
			if tried == 0 && f.schema().Type != "object" && len(f.schema().Enum) != 1 {
				t.Error("no other value was tried")
			}
		})
	}
}

// What a task may hold is judged when it is made.
func TestSchema_TaskFields_AreJudgedAtAdmission(t *testing.T) {
	env := envtest.Shared(t)
	all, ns := manifests(t, env), env.Namespace(t)
	try := func(t *testing.T, obj *unstructured.Unstructured, f field, n note, value any) error {
		t.Helper()
		changed := obj.DeepCopy()
		changed.SetNamespace(ns)
		changed.Object["spec"] = f.place(t, obj.Object["spec"].(map[string]any), n.key, value)
		opts := &client.CreateOptions{DryRun: []string{metav1.DryRunAll}, Raw: &metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}}
		return env.Client.Create(t.Context(), changed, opts)
	}
	for _, f := range allFields(t, env) {
		n := about(f)
		if f.kind != v1alpha1.KindSeiNodeTask {
			continue
		}
		t.Run(f.path, func(t *testing.T) {
			obj := f.of(all)
			if obj == nil {
				t.Fatalf("no manifest of test/envtest/api/testdata has %s", f)
			}
			fit, unfit := n.valuesOf(t, f)
			for _, value := range fit {
				// A task of another kind needs another payload.
				if err := try(t, obj, f, n, value); err != nil && f.path != "spec.kind" {
					t.Errorf("%v is refused: %v", value, err)
				}
			}
			for _, value := range unfit {
				err := try(t, obj, f, n, value)
				if err != nil && !f.namedIn(err.Error()) {
					t.Errorf("%v is refused without naming %s: %v", value, f.last(), err)
				}
				if err == nil && f.schema().Pattern+f.schema().Format != "" {
					t.Errorf("%v is taken", value)
				}
			}
		})
	}
}
