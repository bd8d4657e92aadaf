package task

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

func TestInShape_KnownOnlyWhileNodeAndObjectAreTheSame(t *testing.T) {
	nodeAt := func(uid types.UID, version string) *v1alpha1.SeiNode {
		return &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: uid, ResourceVersion: version}}
	}
	serviceAt := func(uid types.UID, version string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: uid, ResourceVersion: version}}
	}
	for name, c := range map[string]struct {
		do      func(*InShape)
		node    *v1alpha1.SeiNode
		service *corev1.Service
		want    bool
	}{
		"never compared":         {func(*InShape) {}, nodeAt("a", "1"), serviceAt("s", "5"), false},
		"both as they were":      {func(s *InShape) { s.note(nodeAt("a", "1"), serviceAt("s", "5")) }, nodeAt("a", "1"), serviceAt("s", "5"), true},
		"the object was changed": {func(s *InShape) { s.note(nodeAt("a", "1"), serviceAt("s", "5")) }, nodeAt("a", "1"), serviceAt("s", "6"), false},
		"the object is another":  {func(s *InShape) { s.note(nodeAt("a", "1"), serviceAt("s", "5")) }, nodeAt("a", "1"), serviceAt("t", "5"), false},
		"the node was changed":   {func(s *InShape) { s.note(nodeAt("a", "1"), serviceAt("s", "5")) }, nodeAt("a", "2"), serviceAt("s", "5"), false},
		"the node is another":    {func(s *InShape) { s.note(nodeAt("a", "1"), serviceAt("s", "5")) }, nodeAt("b", "1"), serviceAt("s", "5"), false},
		"another object of the changed node was compared": {func(s *InShape) {
			s.note(nodeAt("a", "1"), serviceAt("s", "5"))
			s.note(nodeAt("a", "2"), serviceAt("t", "7"))
		}, nodeAt("a", "2"), serviceAt("s", "5"), false},
		"the node is gone": {func(s *InShape) {
			s.note(nodeAt("a", "1"), serviceAt("s", "5"))
			s.Forget(client.ObjectKeyFromObject(nodeAt("a", "1")))
		}, nodeAt("a", "1"), serviceAt("s", "5"), false},
	} {
		shape := &InShape{}
		c.do(shape)
		if got := shape.known(c.node, c.service); got != c.want {
			t.Errorf("%s: known %t", name, got)
		}
	}
}

func TestContentVersion_ChangesWithSpecAndMetadata_NotWithStatus(t *testing.T) {
	node := func(change func(*v1alpha1.SeiNode)) *v1alpha1.SeiNode {
		n := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{
			UID: "a", Generation: 2, ResourceVersion: "7", Labels: map[string]string{"team": "rpc", "zone": "a"}, Annotations: map[string]string{"k": "v"},
			OwnerReferences: []metav1.OwnerReference{{UID: "fleet", Controller: new(true)}},
		}}
		change(n)
		return n
	}
	before := ContentVersion(node(func(*v1alpha1.SeiNode) {}))
	for name, c := range map[string]struct {
		change func(*v1alpha1.SeiNode)
		same   bool
	}{
		"status":              {func(n *v1alpha1.SeiNode) { n.ResourceVersion, n.Status.Phase = "8", v1alpha1.NodeRunning }, true},
		"finalizer":           {func(n *v1alpha1.SeiNode) { n.ResourceVersion, n.Finalizers = "8", []string{"f"} }, true},
		"spec":                {func(n *v1alpha1.SeiNode) { n.Generation = 3 }, false},
		"another of its name": {func(n *v1alpha1.SeiNode) { n.UID = "b" }, false},
		"label":               {func(n *v1alpha1.SeiNode) { n.Labels["team"] = "archive" }, false},
		"label removed":       {func(n *v1alpha1.SeiNode) { delete(n.Labels, "zone") }, false},
		"annotation":          {func(n *v1alpha1.SeiNode) { n.Annotations["k"] = "w" }, false},
		"label as annotation": {func(n *v1alpha1.SeiNode) { n.Labels, n.Annotations = n.Annotations, n.Labels }, false},
		"owner":               {func(n *v1alpha1.SeiNode) { n.OwnerReferences = nil }, false},
		"owner's control":     {func(n *v1alpha1.SeiNode) { n.OwnerReferences[0].Controller = nil }, false},
		"no generations":      {func(n *v1alpha1.SeiNode) { n.Generation = 0 }, false},
	} {
		if after := ContentVersion(node(c.change)); (after == before) != c.same {
			t.Errorf("%s: the same content is %t, want %t", name, after == before, c.same)
		}
	}
}
