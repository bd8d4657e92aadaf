package fleet

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// DefaultRevisionHistoryLimit is how many templates a fleet keeps besides those in use, unless its
// spec says otherwise.
const DefaultRevisionHistoryLimit = 10

// History is what is to be done about the templates that a fleet keeps.
type History struct {
	// Current is the name of the revision that holds the template.
	Current string
	// Writes are the revisions that are not as they should be, that of the template first.
	Writes []RevisionWrite
	// Surplus are those beyond the limit, oldest first.
	Surplus []*appsv1.ControllerRevision
	// Problem says why the template cannot be kept; empty when nothing is in its way.
	Problem string
}

// RevisionWrite is a revision as it should be.
type RevisionWrite struct {
	Want *appsv1ac.ControllerRevisionApplyConfiguration
	// Live is the one that is there; nil when there is none.
	Live *appsv1.ControllerRevision
}

// DecideHistory compares the revisions that bear the fleet's name with what it should keep. The
// template has a revision with the highest number: a template that comes back gets a new number and
// keeps its revision. Nodes are those that the fleet has.
func DecideHistory(snd *v1alpha1.SeiNodeDeployment, nodes []*v1alpha1.SeiNode, found []*appsv1.ControllerRevision) (History, error) {
	template, err := json.Marshal(&snd.Spec.Template)
	if err != nil {
		return History{}, fmt.Errorf("encoding the template: %w", err)
	}
	h := History{Current: RevisionName(snd.Name, template)}
	var current *appsv1.ControllerRevision
	var others []*appsv1.ControllerRevision
	for _, r := range found {
		problem := MayAdopt(snd, "ControllerRevision", r)
		switch {
		case r.Name == h.Current && problem != "":
			h.Problem = problem
		case r.Name == h.Current:
			current = r
		case problem == "" && r.DeletionTimestamp == nil:
			others = append(others, r)
		}
	}
	SortRevisions(others)
	h.write(snd, h.Current, number(current, others), template, current)
	if h.Surplus, err = surplusRevisions(snd, nodes, h.Current, others); err != nil {
		return History{}, err
	}
	for _, r := range others {
		if !slices.Contains(h.Surplus, r) {
			h.write(snd, r.Name, r.Revision, r.Data.Raw, r)
		}
	}
	return h, nil
}

// number is that of the template's revision: the one it has if it is the highest, or else the next.
func number(current *appsv1.ControllerRevision, others []*appsv1.ControllerRevision) int64 {
	highest := int64(0)
	if len(others) > 0 {
		highest = others[0].Revision
	}
	if current != nil && current.Revision > highest {
		return current.Revision
	}
	return highest + 1
}

// write adds a revision to what is written, unless it is as it should be. One that is about to go is
// left alone, and made again when it is gone.
func (h *History) write(snd *v1alpha1.SeiNodeDeployment, name string, number int64, template []byte, live *appsv1.ControllerRevision) {
	labels := maps.Clone(selectorLabels(snd.Name))
	labels[v1alpha1.LabelRevisionOf] = snd.Name
	if live != nil {
		same := live.Revision == number && ownedAsWanted(snd, live) && holds(live.Labels, labels) && holds(live.Annotations, ownerAnnotations(snd))
		if same || live.DeletionTimestamp != nil {
			return
		}
	}
	want := appsv1ac.ControllerRevision(name, snd.Namespace).
		WithLabels(labels).
		WithAnnotations(ownerAnnotations(snd)).
		WithOwnerReferences(ownerReferences(snd)...).
		WithRevision(number).
		WithData(runtime.RawExtension{Raw: template})
	if live != nil {
		// Only the state that was compared: another operator may have numbered it since.
		want.WithUID(live.UID).WithResourceVersion(live.ResourceVersion)
	}
	if name != h.Current || h.Problem == "" {
		h.Writes = append(h.Writes, RevisionWrite{Want: want, Live: live})
	}
}

// surplusRevisions are those beyond the limit, oldest first. One that a node follows does not count
// and stays; while a node follows none, all stay: its settings have changed with the template, and
// which it follows cannot be told.
func surplusRevisions(
	snd *v1alpha1.SeiNodeDeployment, nodes []*v1alpha1.SeiNode, current string, others []*appsv1.ControllerRevision,
) ([]*appsv1.ControllerRevision, error) {
	limit := int(ptr.Deref(snd.Spec.RevisionHistoryLimit, DefaultRevisionHistoryLimit))
	if len(others) <= limit {
		return nil, nil
	}
	revisions := []Revision{{Name: current, Template: &snd.Spec.Template}}
	for _, stored := range others {
		if r, err := ReadRevision(stored); err == nil { // no node follows what cannot be read
			revisions = append(revisions, r)
		}
	}
	followed, err := RevisionsOf(snd, nodes, revisions)
	if err != nil || len(followed) < len(nodes) {
		return nil, err
	}
	inUse := slices.Collect(maps.Values(followed))
	unused := slices.DeleteFunc(slices.Clone(others), func(r *appsv1.ControllerRevision) bool { return slices.Contains(inUse, r.Name) })
	surplus := unused[min(limit, len(unused)):]
	slices.Reverse(surplus)
	return surplus, nil
}
