package lint

import (
	"cmp"
	"slices"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Severity is how bad a finding is.
type Severity string

// The severities. With an error the object is refused, or not acted on.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one thing that is wrong, and where.
type Finding struct {
	File string `json:"file"`
	Line int    `json:"line"`
	// Column counts from 1.
	Column   int      `json:"column"`
	Severity Severity `json:"severity"`
	// Object is kind/name; empty when the text could not be read.
	Object string `json:"object,omitempty"`
	// Field is the path of the field at fault; empty when the whole object is meant.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Result is what was found in a file.
type Result struct {
	// Objects counts those that were judged. Objects of other operators are passed over.
	Objects  int
	Findings []Finding
}

// Linter judges manifests by the definitions of this version.
type Linter struct{ schemas map[string]*schema }

// New makes a linter from the CustomResourceDefinitions that are part of the program.
func New() (*Linter, error) {
	schemas, err := loadSchemas()
	if err != nil {
		return nil, err
	}
	return &Linter{schemas: schemas}, nil
}

// File judges the manifests in a file: YAML documents, lists of objects, or JSON.
func (l *Linter) File(name string, content []byte) Result {
	var result Result
	for _, doc := range split(content) {
		objects, err := doc.objects()
		if err != nil {
			result.Findings = append(result.Findings, unreadable(doc, err))
		}
		for _, o := range objects {
			if judged, found := l.object(o); judged {
				result.Objects++
				result.Findings = append(result.Findings, found...)
			}
		}
	}
	for i := range result.Findings {
		result.Findings[i].File = name
	}
	slices.SortStableFunc(result.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	result.Findings = slices.Compact(result.Findings)
	return result
}

// object judges one object. It is false for one that is none of ours.
func (l *Linter) object(o *object) (bool, []Finding) {
	if o.kind() == "ConfigMap" {
		return genesisConfigMap(o)
	}
	if o.group() != group {
		return false, nil
	}
	s, known := l.schemas[o.apiVersion()+"/"+o.kind()]
	if !known {
		return true, []Finding{o.finding(Error, "kind",
			"no kind "+o.kind()+" in "+o.apiVersion()+" is known to this version: SeiNode, SeiNodeDeployment and SeiNodeTask of sei.io/v1alpha1 are")}
	}
	stored, found := s.judge(o)
	return true, append(found, meaning(o, stored)...)
}

// Object judges an object that was not read from a file. The findings have no place.
func (l *Linter) Object(content map[string]any) []Finding {
	_, found := l.object(&object{Unstructured: unstructured.Unstructured{Object: content}, root: &yamlv3.Node{}})
	return found
}
