package lint

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1validation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/config/crd"
)

const group = "sei.io"

// schema is what the API server makes of one version of a definition.
type schema struct {
	structural *structural.Structural
	openapi    validation.SchemaValidator
	rules      *cel.Validator
}

func loadSchemas() (map[string]*schema, error) {
	entries, err := crd.Files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("reading the definitions: %w", err)
	}
	schemas := map[string]*schema{}
	for _, entry := range entries {
		content, err := crd.Files.ReadFile(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(content, &definition); err != nil {
			return nil, fmt.Errorf("parsing %s: %w", entry.Name(), err)
		}
		for _, v := range definition.Spec.Versions {
			s, err := newSchema(v.Schema.OpenAPIV3Schema)
			if err != nil {
				return nil, fmt.Errorf("compiling %s: %w", entry.Name(), err)
			}
			schemas[definition.Spec.Group+"/"+v.Name+"/"+definition.Spec.Names.Kind] = s
		}
	}
	return schemas, nil
}

func newSchema(props *apiextensionsv1.JSONSchemaProps) (*schema, error) {
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, &internal, nil); err != nil {
		return nil, err
	}
	s, err := structural.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	openapi, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, err
	}
	return &schema{structural: s, openapi: openapi, rules: cel.NewValidator(s, true, celconfig.PerCallLimit)}, nil
}

// judge says what the API server would say of a new object, in the order in which it looks: unknown
// fields, types and patterns, and rules only if those are right. It also returns what the API server
// would store: without unknown fields, and with defaults.
func (s *schema) judge(o *object) (content map[string]any, found []Finding) {
	content = runtime.DeepCopyJSON(o.Object)
	track := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, path := range pruning.PruneWithOptions(content, s.structural, true, track) {
		found = append(found, o.finding(Error, path, "unknown field"))
	}
	defaulting.Default(content, s.structural)
	errs := metadata(o)
	errs = append(errs, validation.ValidateCustomResource(nil, content, s.openapi)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, content)...)
	if len(errs) == 0 {
		// The budget is that of the API server, so that a rule that costs too much is found too.
		ruleErrs, _ := s.rules.Validate(context.Background(), nil, s.structural, content, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, ruleErrs...)
	}
	for _, err := range errs {
		found = append(found, o.finding(Error, path(err), err.ErrorBody()))
	}
	return content, found
}

// metadata checks names as the API server does for every kind. A namespace may be left to kubectl.
func metadata(o *object) field.ErrorList {
	meta := &metav1.ObjectMeta{
		Name: o.GetName(), GenerateName: o.GetGenerateName(), Namespace: o.GetNamespace(), Labels: o.GetLabels(), Annotations: o.GetAnnotations(),
	}
	if meta.Namespace == "" {
		meta.Namespace = metav1.NamespaceDefault
	}
	return metav1validation.ValidateObjectMeta(meta, true, metav1validation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

// path is the field of an error; empty for the whole object.
func path(err *field.Error) string {
	if err.Field == "<nil>" {
		return ""
	}
	return err.Field
}
