package deployment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

// historian is the client of an operator whose writes are looked at.
type historian struct {
	client.Client
	// writes are the nodes and revisions that were applied or deleted, in their order.
	writes []string
	// blind: the cache shows no revisions.
	blind bool
	// fails is what the API server answers to writes of revisions; nil when it takes them.
	fails error
}

// revisions are the writes that are not of nodes.
func (h *historian) revisions() []string {
	return slices.DeleteFunc(slices.Clone(h.writes), func(write string) bool { return write == "node" })
}

// Apply implements client.Writer.
func (h *historian) Apply(ctx context.Context, obj runtime.ApplyConfiguration, o ...client.ApplyOption) error {
	if revision, ok := obj.(*appsv1ac.ControllerRevisionApplyConfiguration); ok {
		h.writes = append(h.writes, fmt.Sprintf("revision %d", *revision.Revision))
		if h.fails != nil {
			return h.fails
		}
	} else if strings.HasPrefix(fmt.Sprintf("%T", obj), "*client.unstructured") {
		h.writes = append(h.writes, "node")
	}
	return h.Client.Apply(ctx, obj, o...)
}

// Delete implements client.Writer.
func (h *historian) Delete(ctx context.Context, obj client.Object, o ...client.DeleteOption) error {
	if revision, ok := obj.(*appsv1.ControllerRevision); ok {
		h.writes = append(h.writes, fmt.Sprintf("delete %d", revision.Revision))
		if asked := (&client.DeleteOptions{}).ApplyOptions(o).Preconditions; asked == nil || asked.UID == nil {
			return errors.New("deleted without its UID")
		}
		if h.fails != nil {
			return h.fails
		}
	}
	return h.Client.Delete(ctx, obj, o...)
}

// List implements client.Reader.
func (h *historian) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	if _, ok := list.(*appsv1.ControllerRevisionList); ok && h.blind {
		return nil
	}
	return h.Client.List(ctx, list, o...)
}

// observed is a running fleet whose operator's writes are looked at from now on.
func observed(t *testing.T) (*controllertest.Cluster, *Reconciler, *historian) {
	t.Helper()
	c, r, _ := runningFleet(t)
	h := &historian{Client: c}
	r.Client = h
	pass(t, r)
	h.writes = nil
	return c, r, h
}

// kept are the images of the stored revisions, newest first.
func kept(t *testing.T, c *controllertest.Cluster) []string {
	t.Helper()
	list := &appsv1.ControllerRevisionList{}
	if err := c.List(t.Context(), list, client.MatchingLabels{v1alpha1.LabelRevisionOf: key.Name}); err != nil {
		t.Fatal(err)
	}
	stored := make([]*appsv1.ControllerRevision, 0, len(list.Items))
	for i := range list.Items {
		stored = append(stored, &list.Items[i])
	}
	fleet.SortRevisions(stored)
	images := make([]string, 0, len(stored))
	for _, s := range stored {
		r, err := fleet.ReadRevision(s)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, fmt.Sprintf("%d %s", r.Number, r.Template.Spec.Image))
	}
	return images
}

func image(name string) func(*v1alpha1.SeiNodeDeployment) {
	return func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image = name }
}

// A template is in the history before the first node has it, and is written once.
func TestHistory_IsWrittenBeforeTheFirstNodeMoves(t *testing.T) {
	c, r, h := observed(t)
	edit(t, c, image("seid:b"))
	pass(t, r)
	if len(h.writes) < 2 || h.writes[0] != "revision 2" || h.writes[1] != "node" || slices.Contains(h.writes[1:], "revision 2") {
		t.Errorf("wrote %v", h.writes)
	}
	h.writes = nil
	for range 50 {
		pass(t, r)
	}
	if wrote := h.revisions(); len(wrote) > 0 {
		t.Errorf("at rest wrote %v", wrote)
	}
	if diff := cmp.Diff([]string{"2 seid:b", "1 seid:a"}, kept(t, c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A fleet of an older operator has no history. It gets one by a single write, and no node is touched.
func TestHistory_OfAFleetFromAnOlderOperator_IsOneWrite(t *testing.T) {
	c, _, h := observed(t)
	if err := c.DeleteAllOf(t.Context(), &appsv1.ControllerRevision{}, client.InNamespace(key.Namespace)); err != nil {
		t.Fatal(err)
	}
	r := operator(t, c)
	r.Client = h
	status := c.StatusWrites
	pass(t, r)
	pass(t, r)
	if diff := cmp.Diff([]string{"revision 1"}, h.writes); diff != "" || c.StatusWrites != status {
		t.Errorf("%d writes of the status, and (-want +got):\n%s", c.StatusWrites-status, diff)
	}
}

// A cache that does not show the revision yet leads to no second write by the operator that made it, and
// to the same object by another.
func TestHistory_OnALateCache_IsNotWrittenTwice(t *testing.T) {
	c, r, h := observed(t)
	edit(t, c, image("seid:b"))
	pass(t, r)
	h.blind, h.writes = true, nil
	pass(t, r)
	if wrote := h.revisions(); len(wrote) > 0 {
		t.Errorf("wrote %v, want none", wrote)
	}
	another := operator(t, c)
	another.Client = h
	pass(t, another)
	h.blind = false
	pass(t, another)
	if diff := cmp.Diff([]string{"2 seid:b", "1 seid:a"}, kept(t, c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// No answer of the API server about history holds up a rollout. A refusal is told; what may pass by itself
// is tried again.
func TestHistory_ThatCannotBeWritten_HoldsUpNothing(t *testing.T) {
	revisions := schema.GroupResource{Group: "apps", Resource: "controllerrevisions"}
	for name, tc := range map[string]struct {
		err     error
		again   bool
		problem string
	}{
		"refused":  {apierrors.NewForbidden(revisions, "fleet-x", errors.New("no history here")), false, "no history here"},
		"invalid":  {apierrors.NewInvalid(schema.GroupKind{Kind: "ControllerRevision"}, "fleet-x", nil), false, "rejects ControllerRevision"},
		"broken":   {apierrors.NewInternalError(errors.New("webhook is down")), true, "webhook is down"},
		"lost":     {errors.New("connection reset"), true, "connection reset"},
		"conflict": {apierrors.NewConflict(revisions, "fleet-x", errors.New("changed")), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, r, h := observed(t)
			h.fails = tc.err
			edit(t, c, image("seid:b"))
			s := r.newScope(stored(t, c))
			if err := errors.Join(r.observe(t.Context(), s), r.decide(s), r.act(t.Context(), s)); err != nil {
				t.Fatal(err)
			}
			if storedNode(t, c, 0).Spec.Image != "seid:b" || (s.requeueAfter != 0) != tc.again || !strings.Contains(s.historyProblem, tc.problem) {
				t.Errorf("node 0 has %s, %q, again in %s", storedNode(t, c, 0).Spec.Image, s.historyProblem, s.requeueAfter)
			}
			if (s.historyProblem == "") != (tc.problem == "") {
				t.Errorf("told of %q", s.historyProblem)
			}
			h.fails = nil
			pass(t, r)
			if diff := cmp.Diff([]string{"2 seid:b", "1 seid:a"}, kept(t, c)); diff != "" {
				t.Errorf("later (-want +got):\n%s", diff)
			}
		})
	}
}

// Templates beyond the limit are deleted by their UID, once, and not while the cache shows one that is gone.
func TestHistory_BeyondTheLimit_IsDeleted(t *testing.T) {
	c, r, h := observed(t)
	edit(t, c, func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.RevisionHistoryLimit, s.Spec.UpdateStrategy = new(int32), &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{Partition: 3}}
	})
	edit(t, c, image("seid:b"))
	pass(t, r)
	edit(t, c, image("seid:c"))
	pass(t, r)
	pass(t, r)
	// The nodes still have the first template: the second one goes.
	if diff := cmp.Diff([]string{"3 seid:c", "1 seid:a"}, kept(t, c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"revision 2", "revision 3", "delete 2"}, h.writes); diff != "" {
		t.Errorf("wrote (-want +got):\n%s", diff)
	}
}

// A fleet that is about to be deleted with --cascade=orphan takes no revision over again.
func TestHistory_OfAFleetThatLeaves_IsNotAdopted(t *testing.T) {
	c, r, h := observed(t)
	list := &appsv1.ControllerRevisionList{}
	if err := c.List(t.Context(), list); err != nil || len(list.Items) != 1 {
		t.Fatal(len(list.Items), err)
	}
	list.Items[0].OwnerReferences = nil
	if err := c.Update(t.Context(), &list.Items[0]); err != nil {
		t.Fatal(err)
	}
	before := stored(t, c)
	c.Late = before
	if err := c.Delete(t.Context(), stored(t, c)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.run(t.Context(), before.DeepCopy()); err != nil && !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
	if slices.Contains(h.writes, "revision 1") {
		t.Errorf("wrote %v", h.writes)
	}
}

func TestFleetOfRevision_IsNamedByTheLabel(t *testing.T) {
	revision := &appsv1.ControllerRevision{}
	if got := fleetOfRevision(t.Context(), revision); got != nil {
		t.Errorf("one without a label wakes %v", got)
	}
	revision.Namespace, revision.Labels = "ns", map[string]string{v1alpha1.LabelRevisionOf: "fleet"}
	if got := fleetOfRevision(t.Context(), revision); len(got) != 1 || got[0].NamespacedName != key {
		t.Errorf("wakes %v, want 1 of them and NamespacedName %v", got, key)
	}
}
