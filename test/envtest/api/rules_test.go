package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
)

// attempt is a manifest, and optionally a change of it.
type attempt struct {
	// name of the object; "x" if empty.
	name string
	// spec as YAML.
	spec string
	// then is a merge patch of the spec. If set, spec must be accepted, and
	// the change is what is judged.
	then string
	// status as YAML, which the object has before the change.
	status string
}

// String shows an attempt in one line.
func (a attempt) String() string {
	text := strings.Join(strings.Fields(a.name+" "+a.spec), " ")
	if a.then != "" {
		text += " => " + strings.Join(strings.Fields(a.then), " ")
	}
	if len(text) > 300 {
		text = fmt.Sprintf("%s... (%d bytes)", text[:300], len(text))
	}
	return text
}

// rule is a CEL rule with manifests it lets pass and manifests it refuses.
type rule struct {
	kind, path string
	// message is the beginning of the rule's message, enough to know it by.
	message            string
	accepted, rejected []attempt
}

// celRule is a rule as the CRDs have it.
type celRule struct{ kind, path, message string }

func (r celRule) String() string { return fmt.Sprintf("%s %s: %s", r.kind, r.path, r.message) }

// TestCELRules_EachAcceptsAndRejects shows what every rule of the CRDs lets
// pass and refuses, and that a user is told what to do. A rule without cases
// fails the test.
func TestCELRules_EachAcceptsAndRejects(t *testing.T) {
	s := newServer(t)
	cases := slices.Concat(nodeRules(), inTemplates(nodeRules()), deploymentRules(), metadataRules(), nodeSettingRules(), taskRules())
	for _, installed := range installedRules(t, s) {
		t.Run(installed.String(), func(t *testing.T) {
			var accepted, rejected int
			for _, c := range cases {
				if c.kind != installed.kind || c.path != installed.path || !strings.HasPrefix(installed.message, c.message) {
					continue
				}
				for _, a := range c.accepted {
					accepted++
					t.Logf("accepted: %s", a)
					s.expect(t, c, a, "")
				}
				for _, a := range c.rejected {
					rejected++
					t.Logf("rejected: %s", a)
					s.expect(t, c, a, installed.message)
				}
			}
			if accepted == 0 || rejected == 0 {
				t.Errorf("the rule has %d accepted and %d rejected cases; it needs at least one of each", accepted, rejected)
			}
		})
	}
	for _, c := range cases {
		if !slices.ContainsFunc(installedRules(t, s), func(r celRule) bool {
			return r.kind == c.kind && r.path == c.path && strings.HasPrefix(r.message, c.message)
		}) {
			t.Errorf("there are cases for a rule that does not exist: %s %s: %s", c.kind, c.path, c.message)
		}
	}
}

// expect tries a manifest and compares the answer; an empty message means
// that it is to be accepted.
func (s *server) expect(t *testing.T, c rule, a attempt, message string) {
	t.Helper()
	name := a.name
	if name == "" {
		name = "x"
	}
	obj := object(t, c.kind, name, a.spec)
	var err error
	if a.then == "" {
		_, err = s.try(t.Context(), obj)
	} else {
		err = s.change(t, obj, a.status, decode(t, a.then))
	}
	switch {
	case message == "" && err != nil:
		t.Errorf("this is refused: %v\n%s\n%s", err, a.spec, a.then)
	case message != "" && err == nil:
		t.Errorf("this is accepted:\n%s\n%s", a.spec, a.then)
	case message != "" && !strings.Contains(err.Error(), message):
		t.Errorf("the answer %q\ndoes not say %q", err, message)
	}
}

// change creates an object, tries an update and removes the object.
func (s *server) change(t *testing.T, obj *unstructured.Unstructured, status string, patch map[string]any) error {
	t.Helper()
	resource := s.of(obj.GetKind())
	stored, err := resource.Create(t.Context(), obj, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatalf("the manifest before the change is refused: %v\n%v", err, obj.Object)
	}
	if status != "" {
		stored.Object["status"] = decode(t, status)
		if stored, err = resource.UpdateStatus(t.Context(), stored, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
			t.Fatalf("the status before the change is refused: %v\n%s", err, status)
		}
	}
	spec, _, err := unstructured.NestedMap(stored.Object, "spec")
	if err != nil {
		t.Fatal(err)
	}
	merge(spec, patch)
	stored.Object["spec"] = spec
	_, answer := resource.Update(t.Context(), stored, metav1.UpdateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	})
	if err := resource.Delete(t.Context(), obj.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	return answer
}

// installedRules are all CEL rules of the CRDs in config/crd.
func installedRules(t *testing.T, s *server) []celRule {
	t.Helper()
	var rules []celRule
	for _, crd := range readCRDs(t, s) {
		walk("", schemaOf(crd), func(path string, schema *apiextensionsv1.JSONSchemaProps) {
			for _, r := range schema.XValidations {
				rules = append(rules, celRule{crd.Spec.Names.Kind, path, r.Message})
			}
		})
	}
	if len(rules) == 0 {
		t.Fatal("the CRDs have no rules at all")
	}
	return rules
}

func readCRDs(t *testing.T, s *server) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	opts := crenvtest.CRDInstallOptions{Paths: []string{s.Root + "/config/crd"}, ErrorIfPathMissing: true}
	if err := crenvtest.ReadCRDFiles(&opts); err != nil {
		t.Fatal(err)
	}
	if len(opts.CRDs) != 3 {
		t.Fatalf("config/crd has %d CRDs, want 3", len(opts.CRDs))
	}
	return opts.CRDs
}

func schemaOf(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.JSONSchemaProps {
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// walk visits a schema and everything below it, in a stable order. The path of
// list items ends in [], that of map values in {}.
func walk(path string, schema *apiextensionsv1.JSONSchemaProps, visit func(string, *apiextensionsv1.JSONSchemaProps)) {
	visit(path, schema)
	names := make([]string, 0, len(schema.Properties))
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		property := schema.Properties[name]
		walk(strings.TrimPrefix(path+"."+name, "."), &property, visit)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		walk(path+"[]", schema.Items.Schema, visit)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		walk(path+"{}", schema.AdditionalProperties.Schema, visit)
	}
}

// inTemplates lifts the rules of a SeiNode's spec into the template of a
// SeiNodeDeployment, where each of them holds too.
func inTemplates(rules []rule) []rule {
	var lifted []rule
	for _, r := range rules {
		if !strings.HasPrefix(r.path, "spec") {
			continue
		}
		r.kind, r.path = "SeiNodeDeployment", "spec.template."+r.path
		r.accepted, r.rejected = liftAttempts(r.accepted), liftAttempts(r.rejected)
		lifted = append(lifted, r)
	}
	return lifted
}

func liftAttempts(attempts []attempt) []attempt {
	lifted := make([]attempt, 0, len(attempts))
	for _, a := range attempts {
		a.spec = "template:\n  spec:\n" + indent(a.spec)
		if a.then != "" {
			a.then = "template:\n  spec:\n" + indent(a.then)
		}
		lifted = append(lifted, a)
	}
	return lifted
}

func indent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i := range lines {
		lines[i] = "    " + lines[i]
	}
	return strings.Join(lines, "\n")
}
