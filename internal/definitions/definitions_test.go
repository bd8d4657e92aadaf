package definitions_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/definitions"
)

func TestOwn_HasTheFieldsOfAllKinds(t *testing.T) {
	own, err := definitions.Own()
	if err != nil {
		t.Fatal(err)
	}
	for kind, field := range map[string]string{
		"SeiNode": "spec.peers[].label.selector", "SeiNodeDeployment": "spec.template.spec.image", "SeiNodeTask": "status.phase",
	} {
		if !slices.Contains(own[kind], field) {
			t.Errorf("%s has no field %s among %d", kind, field, len(own[kind]))
		}
	}
	if len(own) != 3 {
		t.Errorf("%d kinds", len(own))
	}
}

func TestServed_FindsFieldsInListsAndMaps(t *testing.T) {
	served, err := definitions.Served([]byte(`{"components":{"schemas":{
		"a":{"x-kubernetes-group-version-kind":[{"group":"sei.io","version":"v1alpha1","kind":"A"}],
			"properties":{"list":{"items":{"properties":{"x":{}}}},"map":{"additionalProperties":{"properties":{"y":{}}}},"any":{"additionalProperties":true}}},
		"b":{"x-kubernetes-group-version-kind":[{"group":"other","version":"v1alpha1","kind":"B"}],"properties":{"z":{}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(definitions.Fields{"A": {"any", "list", "list[].x", "map", "map{}.y"}}, served); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if _, err := definitions.Served([]byte("<html>")); err == nil {
		t.Error("an answer that is no document is taken for one")
	}
}

func TestCompare_TellsMissingFromUnknown(t *testing.T) {
	got := definitions.Compare(
		definitions.Fields{"A": {"a", "b"}, "B": {"x"}, "C": {"y"}},
		definitions.Fields{"A": {"b", "c"}, "C": {"y"}, "D": {"z"}},
	)
	want := []definitions.Skew{
		{Kind: "A", Missing: []string{"a"}, Unknown: []string{"c"}}, {Kind: "B", Missing: []string{"x"}}, {Kind: "C", Missing: []string{}, Unknown: []string{}},
	}
	if diff := cmp.Diff(want, got, cmp.Transformer("set", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
