package deployment

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

// blind is a cache that shows nothing of nodes yet.
type blind struct{ client.Client }

func (b blind) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	if _, nodes := list.(*v1alpha1.SeiNodeList); nodes {
		return nil
	}
	return b.Client.List(ctx, list, o...)
}

// makeNode stores a node of the fleet: bound to it, or as it is when it was released.
func makeNode(t *testing.T, c *controllertest.Cluster, bound bool) {
	t.Helper()
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "fleet-0", UID: "node", Labels: map[string]string{v1alpha1.LabelDeployment: "fleet"},
	}}
	if bound {
		node.OwnerReferences = []metav1.OwnerReference{*fleet.OwnerReference(stored(t, c)), {APIVersion: "v1", Kind: "ConfigMap", Name: "theirs", UID: "theirs"}}
	}
	if err := c.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
}

// What becomes of a fleet's nodes is decided on what is stored and never on a cache that is
// late. (V2)
func TestV2_Finalize_OnALateCache_DecidesByWhatIsStored(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.SeiNodeDeployment)
		bound  bool
		// stays: the node is there afterwards; waits: the fleet is too.
		stays, waits bool
	}{
		"Delete, a node that the cache does not show yet": {func(*v1alpha1.SeiNodeDeployment) {}, true, false, true},
		"Delete, the node was orphaned":                   {func(*v1alpha1.SeiNodeDeployment) {}, false, true, false},
		"Delete, it is to be orphaned": {func(s *v1alpha1.SeiNodeDeployment) {
			s.Finalizers = append(s.Finalizers, metav1.FinalizerOrphanDependents)
		}, true, true, true},
		"Retain, a node of an older operator": {func(s *v1alpha1.SeiNodeDeployment) { s.Spec.DeletionPolicy = v1alpha1.VolumeRetain }, true, true, false},
		"Retain, let go already":              {func(s *v1alpha1.SeiNodeDeployment) { s.Spec.DeletionPolicy = v1alpha1.VolumeRetain }, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			makeNode(t, c, tc.bound)
			snd := stored(t, c)
			tc.change(snd)
			if err := c.Update(t.Context(), snd); err != nil {
				t.Fatal(err)
			}
			if err := c.Delete(t.Context(), snd); err != nil {
				t.Fatal(err)
			}
			// The cache has the deletion, and neither the policy nor the finalizers.
			late := stored(t, c)
			late.Spec.DeletionPolicy, late.Finalizers = "", []string{v1alpha1.FinalizerSeiNodeDeployment}
			c.Late = late
			r := operator(t, c)
			r.Client = blind{c}
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			requireNode(t, c, tc.stays, false)
			err := c.Client.Get(t.Context(), key, &v1alpha1.SeiNodeDeployment{})
			if client.IgnoreNotFound(err) != nil || (err == nil) != tc.waits {
				t.Errorf("reading the fleet: %v, want it to be there: %t", err, tc.waits)
			}
		})
	}
}

// A fleet may end after it has marked a node as scaled down and before it has deleted it. The node runs
// on, and whoever deletes it later asks for whenDeleted: the mark is gone before the fleet is. (S8)
func TestFinalize_NodeThatRunsOn_LosesTheMarkOfScalingDown(t *testing.T) {
	for name, tc := range map[string]struct {
		change         func(*v1alpha1.SeiNodeDeployment)
		bound, leaving bool
	}{
		"Retain":                  {func(s *v1alpha1.SeiNodeDeployment) { s.Spec.DeletionPolicy = v1alpha1.VolumeRetain }, false, false},
		"Retain, bound":           {func(s *v1alpha1.SeiNodeDeployment) { s.Spec.DeletionPolicy = v1alpha1.VolumeRetain }, true, false},
		"Retain, it goes already": {func(s *v1alpha1.SeiNodeDeployment) { s.Spec.DeletionPolicy = v1alpha1.VolumeRetain }, false, true},
		"orphaned": {func(s *v1alpha1.SeiNodeDeployment) {
			s.Finalizers = append(s.Finalizers, metav1.FinalizerOrphanDependents)
		}, true, false},
		"orphaned before": {func(*v1alpha1.SeiNodeDeployment) {}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			makeNode(t, c, tc.bound)
			node := storedNode(t, c, 0)
			node.Annotations = map[string]string{v1alpha1.AnnotationScaledDown: "true", "theirs": "stays"}
			node.Finalizers = []string{v1alpha1.FinalizerSeiNode}
			if err := c.Update(t.Context(), node); err != nil {
				t.Fatal(err)
			}
			if tc.leaving {
				if err := c.Delete(t.Context(), node); err != nil {
					t.Fatal(err)
				}
			}
			snd := stored(t, c)
			tc.change(snd)
			if err := c.Update(t.Context(), snd); err != nil {
				t.Fatal(err)
			}
			if err := c.Delete(t.Context(), snd); err != nil {
				t.Fatal(err)
			}
			pass(t, operator(t, c))
			after := storedNode(t, c, 0).Annotations
			if _, marked := after[v1alpha1.AnnotationScaledDown]; marked != tc.leaving || after["theirs"] != "stays" {
				t.Errorf("annotations %v, want the mark: %t", after, tc.leaving)
			}
		})
	}
}

// The fleet does not go while the mark cannot be taken off.
func TestFinalize_MarkCannotBeTakenOff_TheFleetStays(t *testing.T) {
	c := newCluster(t)
	makeNode(t, c, false)
	node := storedNode(t, c, 0)
	node.Annotations = map[string]string{v1alpha1.AnnotationScaledDown: "true"}
	if err := c.Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	snd := stored(t, c)
	snd.Spec.DeletionPolicy = v1alpha1.VolumeRetain
	if err := c.Update(t.Context(), snd); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), snd); err != nil {
		t.Fatal(err)
	}
	r := operator(t, c)
	r.Client = refusing{c}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err == nil {
		t.Error("no error, want that of the patch")
	}
	stored(t, c)
}

// refusing is a client whose patches of nodes fail.
type refusing struct{ client.Client }

func (r refusing) Patch(ctx context.Context, obj client.Object, patch client.Patch, o ...client.PatchOption) error {
	if _, node := obj.(*v1alpha1.SeiNode); node {
		return errors.New("the API server is away")
	}
	return r.Client.Patch(ctx, obj, patch, o...)
}

// requireNode checks whether the node is there, and whether it is bound to the fleet. Other owners
// of it are none of the fleet's business.
func requireNode(t *testing.T, c *controllertest.Cluster, stays, bound bool) {
	t.Helper()
	node := &v1alpha1.SeiNode{}
	err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "fleet-0"}, node)
	if client.IgnoreNotFound(err) != nil || (err == nil) != stays {
		t.Fatalf("reading the node: %v, want it to be there: %t", err, stays)
	}
	if !stays {
		return
	}
	owners := map[string]bool{}
	for _, ref := range node.OwnerReferences {
		owners[string(ref.UID)] = true
	}
	if owners["uid"] != bound || len(node.OwnerReferences) > 0 && !owners["theirs"] {
		t.Errorf("owners %v, want it to be bound: %t", node.OwnerReferences, bound)
	}
}

// The garbage collector lets nodes go before the cache shows that the fleet is being deleted. They
// are not adopted again. (V2)
func TestV2_OrphanedNode_IsNotAdoptedByAFleetThatLeaves(t *testing.T) {
	c := newCluster(t)
	c.Late = stored(t, c)
	if err := c.Delete(t.Context(), stored(t, c)); err != nil {
		t.Fatal(err)
	}
	makeNode(t, c, false)
	if _, err := operator(t, c).Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	requireNode(t, c, true, false)
}

// The garbage collector drops its finalizer before anybody has looked, and has not known of the
// nodes: what the watch has shown counts. (V2)
func TestV2_Finalize_OrphanThatOnlyTheWatchHasShown_KeepsTheNodes(t *testing.T) {
	c := newCluster(t)
	makeNode(t, c, true)
	r := operator(t, c)
	shown := stored(t, c)
	shown.DeletionTimestamp, shown.Finalizers = new(metav1.Now()), append(shown.Finalizers, metav1.FinalizerOrphanDependents)
	r.orphans.watched().Update(event.UpdateEvent{ObjectOld: stored(t, c), ObjectNew: shown})
	if err := c.Delete(t.Context(), stored(t, c)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	requireNode(t, c, true, false)
	if err := c.Client.Get(t.Context(), key, &v1alpha1.SeiNodeDeployment{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the fleet is still there: %v", err)
	}
	if len(r.orphans.uids) != 0 {
		t.Errorf("%d fleets are remembered", len(r.orphans.uids))
	}
}
