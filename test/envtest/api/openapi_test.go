package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// foreign are the parts of a spec whose types belong to Kubernetes, and one exception.
var foreign = []string{
	"spec.resources", "spec.sidecar.resources", "spec.scheduling.affinity", "spec.scheduling.tolerations",
	"spec.scheduling.topologySpreadConstraints",
	// No replayer can have it; a rule of its own says so.
	"spec.replayer.snapshot.stateSync",
}

func isForeign(path string) bool {
	return slices.ContainsFunc(foreign, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// violation is a value that breaks one keyword of a schema.
type violation struct {
	keyword string
	value   any
	// below is the field that is named in the answer, if not the one that is changed.
	below string
}

// violations breaks every constraint of a schema, one at a time.
func violations(schema *apiextensionsv1.JSONSchemaProps, current any) []violation {
	var found []violation
	add := func(keyword string, value any) { found = append(found, violation{keyword: keyword, value: value}) }
	if schema.MinLength != nil && *schema.MinLength > 0 {
		add("minLength", "")
	}
	if schema.MaxLength != nil {
		add("maxLength", strings.Repeat("a", int(*schema.MaxLength)+1))
	}
	if schema.Pattern != "" {
		add("pattern", "Ünfit value!")
	}
	if len(schema.Enum) > 0 {
		add("enum", "Bogus")
	}
	if schema.Minimum != nil {
		add("minimum", int64(*schema.Minimum)-1)
	}
	if schema.Maximum != nil {
		add("maximum", int64(*schema.Maximum)+1)
	}
	if list, ok := current.([]any); ok {
		if schema.MinItems != nil && *schema.MinItems > 0 {
			add("minItems", list[:*schema.MinItems-1])
		}
		if schema.MaxItems != nil {
			add("maxItems", slices.Repeat(list[:1], int(*schema.MaxItems)+1))
		}
	}
	if entries, ok := current.(map[string]any); ok {
		found = append(found, objectViolations(schema, entries)...)
	}
	return append(found, violation{keyword: "type", value: wrongType(schema)})
}

func objectViolations(schema *apiextensionsv1.JSONSchemaProps, entries map[string]any) []violation {
	var found []violation
	if schema.MinProperties != nil && *schema.MinProperties > 0 {
		found = append(found, violation{keyword: "minProperties", value: map[string]any{}})
	}
	if schema.MaxProperties != nil {
		many := map[string]any{}
		for i := range *schema.MaxProperties + 1 {
			many[fmt.Sprintf("a.key%d", i)] = "v"
		}
		found = append(found, violation{keyword: "maxProperties", value: many})
	}
	for _, name := range schema.Required {
		without := map[string]any{}
		for k, v := range entries {
			if k != name {
				without[k] = v
			}
		}
		found = append(found, violation{keyword: "required " + name, value: without, below: name})
	}
	return found
}

// wrongType is a value of another type than the schema's.
func wrongType(schema *apiextensionsv1.JSONSchemaProps) any {
	if schema.XIntOrString {
		return true
	}
	if schema.Type == "string" {
		return int64(7)
	}
	return "text"
}

// TestOpenAPIRules_EachAcceptsAndRejects breaks every constraint of every field
// of our own, one at a time, in a manifest that is accepted otherwise.
func TestOpenAPIRules_EachAcceptsAndRejects(t *testing.T) {
	s := newServer(t)
	manifests := fullManifests(t)
	for name, obj := range manifests {
		if _, err := s.try(t.Context(), obj); err != nil {
			t.Fatalf("%s is refused: %v", name, err)
		}
	}
	total := 0
	for _, crd := range readCRDs(t, s) {
		kind := crd.Spec.Names.Kind
		walk("", schemaOf(crd), func(path string, schema *apiextensionsv1.JSONSchemaProps) {
			ours := strings.HasPrefix(path, "spec") && !isForeign(path) && !strings.HasPrefix(path, "spec.template.spec.")
			if !ours || schema.XPreserveUnknownFields != nil || schema.Type == "" && !schema.XIntOrString {
				return
			}
			obj, at, ok := find(manifests, kind, path)
			if !ok {
				t.Errorf("%s %s is in no manifest of testdata, so its rules are untested", kind, path)
				return
			}
			for _, v := range violations(schema, at.in(obj)) {
				total++
				_, err := s.try(t.Context(), with(t, obj, at, v.value))
				named := strings.TrimSuffix(at.String()+"."+v.below, ".")
				if err == nil || !strings.Contains(err.Error(), named) {
					t.Errorf("%s %s breaks %s: the answer does not name the field: %v", kind, named, v.keyword, err)
				}
			}
		})
	}
	t.Logf("%d constraints refuse what they should", total)
}

// What holds for a SeiNode's spec holds for a fleet's template.
func TestTemplate_HasTheSchemaOfASeiNode(t *testing.T) {
	s := newServer(t)
	var node, template apiextensionsv1.JSONSchemaProps
	for _, crd := range readCRDs(t, s) {
		walk("", schemaOf(crd), func(path string, schema *apiextensionsv1.JSONSchemaProps) {
			switch crd.Spec.Names.Kind + " " + path {
			case "SeiNode spec":
				node = *schema
			case "SeiNodeDeployment spec.template.spec":
				template = *schema
			}
		})
	}
	node.Description, template.Description = "", ""
	if diff := cmp.Diff(node, template); diff != "" || node.Type == "" {
		t.Errorf("the schemas differ: %s", diff)
	}
}

// kubectl explain has something to say about every field.
func TestEveryField_IsDescribed(t *testing.T) {
	s := newServer(t)
	for _, crd := range readCRDs(t, s) {
		walk("", schemaOf(crd), func(path string, schema *apiextensionsv1.JSONSchemaProps) {
			isItem := strings.HasSuffix(path, "[]") || strings.HasSuffix(path, "{}")
			if schema.Description == "" && !isItem && path != "metadata" {
				t.Errorf("%s %s has no description", crd.Spec.Names.Kind, path)
			}
		})
	}
}
