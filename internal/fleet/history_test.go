package fleet_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
)

// past is a fleet and the revisions that an API server would hold of it.
type past struct {
	*scene
	stored []*appsv1.ControllerRevision
}

func newPast(t *testing.T) *past {
	t.Helper()
	p := &past{scene: newScene(t)}
	p.snd.UID, p.snd.Namespace = "ours", "ns"
	return p
}

func (p *past) decide(t *testing.T) fleet.History {
	t.Helper()
	nodes := make([]*v1alpha1.SeiNode, 0, len(p.members))
	for _, m := range p.members {
		nodes = append(nodes, m.Live)
	}
	h, err := fleet.DecideHistory(p.snd, nodes, p.stored)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// keep does what is decided, as the API server would.
func (p *past) keep(t *testing.T) fleet.History {
	t.Helper()
	h := p.decide(t)
	for _, write := range h.Writes {
		made, err := render.Convert[appsv1.ControllerRevision](write.Want)
		if err != nil {
			t.Fatal(err)
		}
		if write.Live == nil {
			made.UID = types.UID("uid-" + made.Name)
		}
		p.stored = append(slices.DeleteFunc(p.stored, func(r *appsv1.ControllerRevision) bool { return r.Name == made.Name }), made)
	}
	p.stored = slices.DeleteFunc(p.stored, func(r *appsv1.ControllerRevision) bool { return slices.Contains(h.Surplus, r) })
	return h
}

// roll makes an image the template's, keeps that, and moves the nodes from an ordinal on to it.
func (p *past) roll(t *testing.T, image string, from int) fleet.History {
	t.Helper()
	p.snd.Spec.Template.Spec.Image = image
	h := p.keep(t)
	for ordinal := from; ordinal < len(p.members); ordinal++ {
		p.live(ordinal).Spec = *fleet.Target(p.snd, platform.Default(), ordinal).Spec
	}
	return h
}

// images are those that are kept, newest first, with the numbers of their revisions.
func (p *past) images(t *testing.T) []string {
	t.Helper()
	fleet.SortRevisions(p.stored)
	list := make([]string, 0, len(p.stored))
	for _, stored := range p.stored {
		r, err := fleet.ReadRevision(stored)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%d %s", r.Number, r.Template.Spec.Image))
	}
	return list
}

func (p *past) requireImages(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, p.images(t)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func (p *past) limit(n int32) { p.snd.Spec.RevisionHistoryLimit = &n }

func TestHistory_EveryTemplate_IsWrittenOnce(t *testing.T) {
	p := newPast(t)
	for _, image := range []string{"seid:1", "seid:2", "seid:3"} {
		if h := p.roll(t, image, 0); len(h.Writes) != 1 || h.Writes[0].Live != nil || *h.Writes[0].Want.Name != h.Current {
			t.Errorf("%s: %+v, want 1 Writes, Live nil and Name %v", image, h, h.Current)
		}
		if h := p.decide(t); len(h.Writes)+len(h.Surplus) > 0 {
			t.Errorf("%s is written again: %+v", image, h)
		}
	}
	p.requireImages(t, "3 seid:3", "2 seid:2", "1 seid:1")
}

// A template that comes back gets the next number on the object it has, of which only the state that
// was looked at is written.
func TestHistory_TemplateThatComesBack_GetsTheNextNumber(t *testing.T) {
	p := newPast(t)
	first := p.roll(t, "seid:1", 0)
	p.roll(t, "seid:2", 0)
	for _, r := range p.stored {
		r.ResourceVersion = "of " + r.Name
	}
	again := p.roll(t, "seid:1", 0)
	if len(again.Writes) != 1 || again.Current != first.Current || *again.Writes[0].Want.ResourceVersion != "of "+first.Current ||
		string(*again.Writes[0].Want.UID) != "uid-"+first.Current {
		t.Errorf("wrote %+v", again.Writes)
	}
	p.requireImages(t, "3 seid:1", "2 seid:2")
}

// Two of one number are what a late cache can lead to. The template's is the highest again at once.
func TestHistory_NumberThatAnotherHas_IsReplaced(t *testing.T) {
	p := newPast(t)
	p.roll(t, "seid:1", 0)
	p.roll(t, "seid:2", 0)
	for _, r := range p.stored {
		r.Revision = 7
	}
	p.keep(t)
	p.requireImages(t, "8 seid:2", "7 seid:1")
}

func TestHistory_BeyondTheLimit_TheOldestGo(t *testing.T) {
	p := newPast(t)
	p.limit(2)
	for i := range 5 {
		p.roll(t, fmt.Sprintf("seid:%d", i+1), 0)
	}
	p.requireImages(t, "5 seid:5", "4 seid:4", "3 seid:3", "2 seid:2") // the nodes had the fourth until the last one was kept
	p.keep(t)
	p.requireImages(t, "5 seid:5", "4 seid:4", "3 seid:3")
	p.limit(0)
	if h := p.keep(t); len(h.Surplus) != 2 || h.Surplus[0].Revision != 3 || h.Surplus[1].Revision != 4 {
		t.Errorf("deletes %+v, want 2 Surplus, Revision 3 and Revision 4", h.Surplus)
	}
	p.requireImages(t, "5 seid:5")
}

// What a node still has is what its fleet may have to go back to.
func TestHistory_TemplateThatANodeHas_Stays(t *testing.T) {
	p := newPast(t)
	p.limit(0)
	p.roll(t, "seid:1", 0)
	p.roll(t, "seid:2", 1) // node 0 is held back
	p.roll(t, "seid:3", 1)
	p.roll(t, "seid:4", 1)
	p.keep(t)
	p.requireImages(t, "4 seid:4", "1 seid:1")
	p.live(0).Spec = *fleet.Target(p.snd, platform.Default(), 0).Spec
	p.keep(t)
	p.requireImages(t, "4 seid:4")
}

// Which template a node has cannot be told while its own settings are new: nothing goes then.
func TestHistory_NodeThatFollowsNoTemplate_NothingGoes(t *testing.T) {
	p := newPast(t)
	p.limit(0)
	p.roll(t, "seid:1", 0)
	p.snd.Spec.Nodes = []v1alpha1.NodeSettings{{Ordinal: 0, Overrides: map[string]string{"a": "b"}}}
	p.roll(t, "seid:2", 1)
	p.keep(t)
	p.requireImages(t, "2 seid:2", "1 seid:1")
}

// A revision that nobody can read is followed by no node, and goes like another.
func TestHistory_RevisionThatCannotBeRead_IsDeletedInItsTurn(t *testing.T) {
	p := newPast(t)
	p.roll(t, "seid:1", 0)
	p.stored[0].Data.Raw = []byte("{")
	p.limit(0)
	p.roll(t, "seid:2", 0)
	p.keep(t)
	p.requireImages(t, "2 seid:2")
}

// The revisions of others are neither counted nor touched, and one in the template's place is reported.
func TestHistory_RevisionOfSomebodyElse_IsLeftAlone(t *testing.T) {
	p := newPast(t)
	p.limit(0)
	h := p.roll(t, "seid:1", 0)
	p.stored[0].OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: "theirs", UID: "theirs", Controller: new(true)}}
	if h := p.decide(t); len(h.Writes)+len(h.Surplus) > 0 || h.Problem != "ControllerRevision "+h.Current+" is controlled by StatefulSet theirs: delete or rename one of the two" {
		t.Errorf("with one in its place: %+v", h)
	}
	p.stored[0].Name = "rpc-other"
	if got := p.decide(t); len(got.Writes) != 1 || *got.Writes[0].Want.Revision != 1 || len(got.Surplus) > 0 || h.Problem != "" {
		t.Errorf("with one beside it: %+v", got)
	}
}

// One that is about to go is made again when it is gone.
func TestHistory_RevisionThatIsBeingDeleted_IsLeftAlone(t *testing.T) {
	p := newPast(t)
	p.roll(t, "seid:1", 0)
	p.stored[0].DeletionTimestamp, p.stored[0].Revision = &metav1.Time{}, 0
	if h := p.decide(t); len(h.Writes)+len(h.Surplus) > 0 {
		t.Errorf("%+v, want no writes and no surplus", h)
	}
}

// The history of a Retain fleet stays for the next fleet of its name, which takes it over. (V2)
func TestV2_History_FollowsTheDeletionPolicy(t *testing.T) {
	p := newPast(t)
	p.roll(t, "seid:1", 0)
	p.roll(t, "seid:2", 0)
	p.snd.Spec.DeletionPolicy = v1alpha1.VolumeRetain
	if h := p.keep(t); len(h.Writes) != 2 {
		t.Errorf("%d of 2 are written", len(h.Writes))
	}
	for _, r := range p.stored {
		if len(r.OwnerReferences) > 0 || r.Annotations[v1alpha1.AnnotationDeploymentUID] != "ours" {
			t.Errorf("%s has %v and %v", r.Name, r.OwnerReferences, r.Annotations)
		}
	}
	p.snd.UID, p.snd.Spec.DeletionPolicy = "next", v1alpha1.VolumeDelete
	p.keep(t)
	for _, r := range p.stored {
		if !metav1.IsControlledBy(r, p.snd) {
			t.Errorf("%s is not taken over: %v", r.Name, r.OwnerReferences)
		}
	}
	p.requireImages(t, "2 seid:2", "1 seid:1")
}
