package node

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// leavingNode is a cluster with a node that is being deleted and holds a consensus key, and whatever
// else is there.
func leavingNode(t *testing.T, change func(*v1alpha1.SeiNode), there ...client.Object) cluster {
	t.Helper()
	node := newFullNode()
	node.Spec.Paused = false
	change(node)
	c := newCluster(t, node)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "key", Labels: map[string]string{"sei.io/holder-uid": "uid"}}}
	lease.Spec.HolderIdentity = new("uid")
	for _, obj := range append(there, lease) {
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Delete(t.Context(), c.stored(t)); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c cluster) finalizer(t *testing.T) *Reconciler {
	t.Helper()
	r := c.operator(t)
	r.Namespace = "ops"
	return r
}

func (c cluster) has(t *testing.T, namespace, name string, obj client.Object) bool {
	t.Helper()
	err := c.Client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, obj)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return !apierrors.IsNotFound(err)
}

func (c cluster) hasKey(t *testing.T) bool {
	t.Helper()
	return c.has(t, "ops", "key", &coordinationv1.Lease{})
}

func podOfNode() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n-0", UID: "pod", Labels: map[string]string{v1alpha1.LabelNode: "n"}}}
}

// withoutPods is a cache that does not show pods.
type withoutPods struct{ client.Client }

func (c withoutPods) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	if _, pods := list.(*corev1.PodList); pods {
		return nil
	}
	return c.Client.List(ctx, list, o...)
}

// S1: a consensus key is given back when the last pod is gone, by the word of the API server.
func TestFinalize_KeyIsHeldUntilTheLastPodIsGone(t *testing.T) {
	for name, late := range map[string]bool{"the cache shows the pod": false, "the cache does not show it": true} {
		c := leavingNode(t, func(*v1alpha1.SeiNode) {}, podOfNode())
		r := c.finalizer(t)
		if late {
			r.Client = withoutPods{c}
		}
		if _, err := c.reconcile(t, r); err != nil {
			t.Fatal(err)
		}
		if !c.hasKey(t) || !c.has(t, "ns", "n", &v1alpha1.SeiNode{}) {
			t.Errorf("%s: the key was given back while the pod runs", name)
		}
		if err := c.Delete(t.Context(), podOfNode()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.reconcile(t, r); err != nil {
			t.Fatal(err)
		}
		if c.hasKey(t) || c.has(t, "ns", "n", &v1alpha1.SeiNode{}) {
			t.Errorf("%s: the node is still there after its pod has gone", name)
		}
	}
}

// S8: the claim goes or stays by the node's policy, and no other claim does.
func TestFinalize_ClaimFollowsThePolicy(t *testing.T) {
	owner := func(uid types.UID) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "sei.io/v1alpha1", Kind: v1alpha1.KindSeiNode, Name: "n", UID: uid, Controller: new(true)}
	}
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "theirs", UID: "theirs"}
	deletes := func(n *v1alpha1.SeiNode) {
		n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeDelete}
	}
	retains := func(n *v1alpha1.SeiNode) {
		n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeRetain}
	}
	imports := func(n *v1alpha1.SeiNode) {
		n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeDelete, Import: &v1alpha1.ImportVolume{PVCName: "data-n"}}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.SeiNode)
		labels map[string]string
		owners []metav1.OwnerReference
		stays  bool
		left   int // of the owners
	}{
		"Delete, its own":                        {deletes, map[string]string{v1alpha1.LabelNode: "n"}, nil, false, 0},
		"Delete, of an older operator":           {deletes, nil, []metav1.OwnerReference{owner("uid")}, false, 0},
		"Delete, somebody else's under the name": {deletes, nil, nil, true, 0},
		"Delete, of another node of the name":    {deletes, map[string]string{v1alpha1.LabelNode: "n"}, []metav1.OwnerReference{owner("earlier")}, true, 1},
		"imported, and left by an earlier node":  {imports, map[string]string{v1alpha1.LabelNode: "n"}, nil, true, 0},
		"Retain, its own":                        {retains, map[string]string{v1alpha1.LabelNode: "n"}, nil, true, 0},
		"Retain, of an older operator, shared":   {retains, nil, []metav1.OwnerReference{owner("uid"), other}, true, 1},
	} {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "data-n", UID: "claim", Labels: tc.labels, OwnerReferences: tc.owners}}
		c := leavingNode(t, tc.change, claim)
		if _, err := c.reconcile(t, c.finalizer(t)); err != nil {
			t.Fatal(err)
		}
		left := &corev1.PersistentVolumeClaim{}
		if stays := c.has(t, "ns", "data-n", left); stays != tc.stays || len(left.OwnerReferences) != tc.left {
			t.Errorf("%s: the claim is there: %t, owners %v", name, stays, left.OwnerReferences)
		}
		if c.has(t, "ns", "n", &v1alpha1.SeiNode{}) {
			t.Errorf("%s: the node is still there", name)
		}
	}
}

// What makes pods is deleted if it is the node's own, and the very one that was seen.
func TestFinalize_StatefulSet_OnlyTheNodesOwnGoes(t *testing.T) {
	for name, tc := range map[string]struct {
		owner types.UID
		// replaced: another one has taken the place of the one that the cache shows.
		replaced bool
		gone     bool
	}{
		"its own":                  {"uid", false, true},
		"somebody else's":          {"other", false, false},
		"one that nobody has seen": {"uid", true, false},
	} {
		sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: "sts", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "sei.io/v1alpha1", Kind: v1alpha1.KindSeiNode, Name: "n", UID: tc.owner, Controller: new(true)},
		}}}
		c := leavingNode(t, func(*v1alpha1.SeiNode) {}, sts)
		if tc.replaced {
			seen := sts.DeepCopy()
			seen.UID = "earlier"
			c.Late = seen
		}
		if _, err := c.reconcile(t, c.finalizer(t)); err != nil && !tc.replaced {
			t.Fatal(err)
		}
		if c.has(t, "ns", "n", &appsv1.StatefulSet{}) == tc.gone {
			t.Errorf("%s: gone %t, want %t", name, !tc.gone, tc.gone)
		}
	}
}

// N38: whoever deletes the StatefulSet with --cascade=orphan while the node is being deleted leaves a pod
// that nobody would stop. It goes with the node, as long as the StatefulSet says that it belongs to it.
func TestN38_StatefulSetOrphanedWhileItsNodeGoes_PodGoesToo(t *testing.T) {
	owned := func(name string, uid types.UID) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "sei.io/v1alpha1", Kind: v1alpha1.KindSeiNode, Name: name, UID: uid, Controller: new(true)}}
	}
	for name, tc := range map[string]struct {
		finalizer string
		owner     types.UID
		// alone: the StatefulSet is gone already.
		alone bool
		gone  bool
		says  string
	}{
		"deleted with orphan":                     {metav1.FinalizerOrphanDependents, "sts", false, true, "waiting for its pod to stop"},
		"deleted with all it has":                 {metav1.FinalizerDeleteDependents, "sts", false, false, "waiting for its pod to stop"},
		"the pod of another StatefulSet":          {metav1.FinalizerOrphanDependents, "other", false, false, "waiting for its pod to stop"},
		"the StatefulSet was gone when we looked": {"", "", true, false, "pod n-0 keeps running, because its StatefulSet was deleted without it: delete the pod"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := podOfNode()
			if tc.owner != "" {
				pod.OwnerReferences = owned("n", tc.owner)
			}
			there := []client.Object{pod}
			sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: "n", UID: "sts", Finalizers: []string{tc.finalizer}, OwnerReferences: owned("n", "uid"),
			}}
			if !tc.alone {
				there = append(there, sts)
			}
			c := leavingNode(t, func(*v1alpha1.SeiNode) {}, there...)
			if !tc.alone {
				if err := c.Delete(t.Context(), sts); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.reconcile(t, c.finalizer(t)); err != nil {
				t.Fatal(err)
			}
			if gone := !c.has(t, "ns", "n-0", &corev1.Pod{}); gone != tc.gone {
				t.Errorf("the pod is gone: %t, want %t", gone, tc.gone)
			}
			if problem := c.stored(t).Status.Problem; !strings.Contains(problem, tc.says) || !c.hasKey(t) {
				t.Errorf("problem %q, key held %t", problem, c.hasKey(t))
			}
		})
	}
}

// V2: a node that is deleted with --cascade=orphan leaves its pod, its claim and its key as they are.
func TestFinalize_Orphaned_NothingIsTakenDown(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "data-n", Labels: map[string]string{v1alpha1.LabelNode: "n"}}}
	c := leavingNode(t, func(n *v1alpha1.SeiNode) {
		n.Finalizers = append(n.Finalizers, metav1.FinalizerOrphanDependents)
		n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeDelete}
	}, podOfNode(), claim)
	if _, err := c.reconcile(t, c.finalizer(t)); err != nil {
		t.Fatal(err)
	}
	if !c.hasKey(t) || !c.has(t, "ns", "data-n", &corev1.PersistentVolumeClaim{}) || !c.has(t, "ns", "n-0", &corev1.Pod{}) {
		t.Error("something of an orphaned node was taken down")
	}
	if finalizers := c.stored(t).Finalizers; len(finalizers) != 1 {
		t.Errorf("the node waits for %v", finalizers)
	}
}
