package definitions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/config/crd"
)

// Fields are the fields of kinds, by kind: sorted paths such as spec.peers[].label.
type Fields map[string][]string

// schema is the part of an OpenAPI schema that names fields.
type schema struct {
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Additional *schemaOrBool     `json:"additionalProperties"`
	Kinds      []struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	} `json:"x-kubernetes-group-version-kind"`
}

// schemaOrBool is a schema; whether any other property is allowed, which a bool says, names no field.
type schemaOrBool struct{ schema }

// UnmarshalJSON implements json.Unmarshaler.
func (s *schemaOrBool) UnmarshalJSON(raw []byte) error {
	if text := string(raw); text == "true" || text == "false" {
		return nil
	}
	return json.Unmarshal(raw, &s.schema)
}

func (s *schema) fields() []string {
	found := s.below("")
	slices.Sort(found)
	return slices.Compact(found)
}

func (s *schema) below(path string) []string {
	var found []string
	for name, property := range s.Properties {
		field := strings.TrimPrefix(path+"."+name, ".")
		found = append(append(found, field), property.below(field)...)
	}
	if s.Items != nil {
		found = append(found, s.Items.below(path+"[]")...)
	}
	if s.Additional != nil {
		found = append(found, s.Additional.below(path+"{}")...)
	}
	return found
}

// Own are the fields of this version; read only. They are parsed once: the files are thousands of lines of YAML.
var Own = sync.OnceValues(parseOwn)

func parseOwn() (Fields, error) {
	entries, err := crd.Files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("reading the definitions of this version: %w", err)
	}
	own := Fields{}
	for _, entry := range entries {
		content, err := crd.Files.ReadFile(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		fields, err := Of(content)
		if err != nil {
			return nil, fmt.Errorf("parsing %s: %w", entry.Name(), err)
		}
		maps.Copy(own, fields)
	}
	return own, nil
}

// Of are the fields of a CustomResourceDefinition, as YAML or JSON, in the version that the operator
// works with.
func Of(definition []byte) (Fields, error) {
	var d struct {
		Spec struct {
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(definition, &d); err != nil {
		return nil, err
	}
	found := Fields{}
	for _, v := range d.Spec.Versions {
		if v.Name == v1alpha1.GroupVersion.Version {
			found[d.Spec.Names.Kind] = v.Schema.OpenAPIV3Schema.fields()
		}
	}
	return found, nil
}

// Served are the fields that an API server knows, by its OpenAPI document (v3, as JSON) of the group.
func Served(document []byte) (Fields, error) {
	var d struct {
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("parsing the OpenAPI document: %w", err)
	}
	served := Fields{}
	for _, s := range d.Components.Schemas {
		for _, k := range s.Kinds {
			if k.Group == v1alpha1.GroupVersion.Group && k.Version == v1alpha1.GroupVersion.Version {
				served[k.Kind] = s.fields()
			}
		}
	}
	return served, nil
}
