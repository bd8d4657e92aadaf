package schema

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// field is a leaf of the spec of a kind: a value, or an object or list without anything inside.
type field struct {
	kind string
	// path has [] for the items of a list and {} for the values of a map: spec.peers[].label.selector{}.
	path string
	// steps lead from the spec to the field.
	steps []step
}

// step is a property, or with an empty name an item of a list or a value of a map.
type step struct {
	name   string
	schema *apiextensionsv1.JSONSchemaProps
}

func (f field) String() string { return f.kind + " " + f.path }

func (f field) schema() *apiextensionsv1.JSONSchemaProps { return f.steps[len(f.steps)-1].schema }

// last is the name of the field as a message would have it.
func (f field) last() string { return f.names()[0] }

// names are those of the field and of what is around it, the innermost first.
func (f field) names() []string {
	var found []string
	for _, s := range slices.Backward(f.steps) {
		if s.name != "" {
			found = append(found, s.name)
		}
	}
	return found
}

// namedIn reports whether a message names the field, or what it is directly in.
func (f field) namedIn(message string) bool {
	return slices.ContainsFunc(f.names()[:2], func(name string) bool { return strings.Contains(message, name) })
}

// allFields finds the fields of all kinds in the CRDs.
func allFields(t *testing.T, env *envtest.Env) []field {
	t.Helper()
	crds := crenvtest.CRDInstallOptions{Paths: []string{env.Root + "/config/crd"}, ErrorIfPathMissing: true}
	if err := crenvtest.ReadCRDFiles(&crds); err != nil {
		t.Fatal(err)
	}
	var found []field
	for _, crd := range crds.CRDs {
		for _, version := range crd.Spec.Versions {
			spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
			found = append(found, leaves(field{kind: crd.Spec.Names.Kind, path: "spec", steps: []step{{"spec", &spec}}})...)
		}
	}
	slices.SortFunc(found, func(a, b field) int { return cmp.Compare(a.String(), b.String()) })
	return found
}

// leaves are what is below a field, or itself.
func leaves(f field) []field {
	s := f.schema()
	below := func(suffix, name string, schema *apiextensionsv1.JSONSchemaProps) []field {
		return leaves(field{f.kind, f.path + suffix, append(slices.Clone(f.steps), step{name, schema})})
	}
	switch {
	case len(s.Properties) > 0:
		found := make([]field, 0, len(s.Properties))
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			schema := s.Properties[name]
			found = append(found, below("."+name, name, &schema)...)
		}
		return found
	case s.Items != nil && s.Items.Schema != nil:
		return below("[]", "", s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return below("{}", "", s.AdditionalProperties.Schema)
	default:
		return []field{f}
	}
}

// inTemplate is the path of the same field in a SeiNode, for a field of a fleet's template.
func (f field) inTemplate() (path string, is bool) {
	rest, is := strings.CutPrefix(f.path, "spec.template.spec.")
	return "spec." + rest, is
}
