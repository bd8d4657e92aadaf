package fleet_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

func TestRevisionName_IsReadAgain(t *testing.T) {
	name := fleet.RevisionName("rpc-1", []byte("{}"))
	if got, ok := fleet.ParseRevisionName(name); got != "rpc-1" || !ok {
		t.Errorf("%s: %q, %v, want %q and true", name, got, ok, "rpc-1")
	}
	for _, other := range []string{"rpc-1", "rpc-1-6d5f9c8b7d", strings.ToUpper(name), name + "0", name[len("rpc-1"):]} {
		if got, ok := fleet.ParseRevisionName(other); ok {
			t.Errorf("%s: %q, want none", other, got)
		}
	}
}

// The newest of the templates that a node agrees with is the one that it has: they differ in what
// reaches all nodes at once. What networking and the node's own settings add belongs to no template.
func TestRevisionsOf_TheNewestThatANodeAgreesWith(t *testing.T) {
	s := newScene(t)
	s.snd.Spec.Networking = &v1alpha1.NetworkingSpec{TCP: &v1alpha1.TCPNetworking{}}
	s.snd.Spec.Nodes = []v1alpha1.NodeSettings{{Ordinal: 1, Overrides: map[string]string{"a": "b"}}}
	cfg := platform.Default()
	cfg.Gateway.P2PDomain = "p2p.example.com"
	old := s.snd.Spec.Template.DeepCopy()
	grown := old.DeepCopy()
	grown.Spec.Paused = true
	renamed := grown.DeepCopy()
	renamed.Spec.Image = "seid:new"
	revisions := []fleet.Revision{{Name: "renamed", Template: renamed}, {Name: "grown", Template: grown}, {Name: "old", Template: old}}
	nodes := make([]*v1alpha1.SeiNode, 0, 3)
	for ordinal, template := range []*v1alpha1.SeiNodeTemplate{old, renamed, old} {
		s.snd.Spec.Template = *template
		s.live(ordinal).Spec = *fleet.Target(s.snd, cfg, ordinal).Spec
		nodes = append(nodes, s.live(ordinal))
	}
	if nodes[0].Spec.ExternalAddress == "" || nodes[1].Spec.Overrides["a"] != "b" {
		t.Fatalf("the nodes have no address or settings: %+v", nodes[0].Spec)
	}
	nodes[2].Spec.Image = "seid:edited"
	got, err := fleet.RevisionsOf(s.snd, nodes, revisions)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{nodes[0].Name: "grown", nodes[1].Name: "renamed"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTemplateChanges_NameTheFields(t *testing.T) {
	a := rpcFleet().Spec.Template.DeepCopy()
	if got, err := fleet.TemplateChanges(a, a.DeepCopy()); len(got) > 0 || err != nil {
		t.Errorf("of equal templates: %v, %v", got, err)
	}
	b := a.DeepCopy()
	b.Metadata.Annotations = map[string]string{"note": "another"}
	b.Metadata.Labels = nil
	b.Spec.Image, b.Spec.Paused, b.Spec.DataVolume = "seid:other", true, &v1alpha1.DataVolumeSpec{Size: new(resource.MustParse("2Ti"))}
	got, err := fleet.TemplateChanges(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"metadata.annotations", "metadata.labels", "spec.dataVolume.size", "spec.image", "spec.paused"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
