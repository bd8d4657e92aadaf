package manager

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// counting counts the questions that reach the API server's mapper.
type counting struct {
	meta.RESTMapper
	asked int
}

func (c *counting) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	c.asked++
	return c.RESTMapper.RESTMapping(kind, versions...)
}

func TestMapper_RemembersAKind_AndNotThatItIsMissing(t *testing.T) {
	version := schema.GroupVersion{Group: "sei.io", Version: "v1alpha1"}
	known := meta.NewDefaultRESTMapper([]schema.GroupVersion{version})
	below := &counting{RESTMapper: known}
	m := &mapper{RESTMapper: below}
	node := version.WithKind("SeiNode")
	for range 2 {
		if _, err := m.RESTMapping(node.GroupKind(), node.Version); !meta.IsNoMatchError(err) {
			t.Fatalf("a kind that is not installed: %v", err)
		}
	}
	known.Add(node, meta.RESTScopeNamespace)
	below.asked = 0
	for range 3 {
		found, err := m.RESTMapping(node.GroupKind(), node.Version)
		if err != nil || found.Scope.Name() != meta.RESTScopeNameNamespace {
			t.Fatalf("%+v, %v, want no error and Name %v", found, err, meta.RESTScopeNameNamespace)
		}
	}
	if below.asked != 1 {
		t.Errorf("asked %d times", below.asked)
	}
	if _, err := m.RESTMapping(node.GroupKind()); err != nil || below.asked != 2 {
		t.Errorf("any version: asked %d times, %v", below.asked, err)
	}
}
