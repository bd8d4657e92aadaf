package deployment

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

// recording is the client of an operator whose writes of nodes are looked at.
type recording struct {
	client.Client
	// applied are the nodes that were applied, as name, uid and version.
	applied []string
	// refused is a node that the API server does not take.
	refused string
	// seenAs is the uid that the cache shows of nodes and Services in lists; empty for the right one.
	seenAs types.UID
	// hides is a node that the cache does not have.
	hides string
}

// Get implements client.Reader.
func (r *recording) Get(ctx context.Context, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
	if _, isNode := obj.(*v1alpha1.SeiNode); isNode && r.hides != "" && key.Name == r.hides {
		return apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("seinodes").GroupResource(), key.Name)
	}
	return r.Client.Get(ctx, key, obj, o...)
}

// Apply implements client.Writer.
func (r *recording) Apply(ctx context.Context, obj runtime.ApplyConfiguration, o ...client.ApplyOption) error {
	raw, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	sent := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(raw, sent); err != nil {
		return err
	}
	if sent.Kind == v1alpha1.KindSeiNode {
		r.applied = append(r.applied, fmt.Sprintf("%s %s %s", sent.Name, sent.UID, sent.ResourceVersion))
		if sent.Name == r.refused {
			return apierrors.NewInvalid(v1alpha1.GroupVersion.WithKind(sent.Kind).GroupKind(), sent.Name, nil)
		}
	}
	return r.Client.Apply(ctx, obj, o...)
}

// List implements client.Reader.
func (r *recording) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	err := r.Client.List(ctx, list, o...)
	if r.seenAs == "" {
		return err
	}
	switch l := list.(type) {
	case *v1alpha1.SeiNodeList:
		for i := range l.Items {
			l.Items[i].UID = r.seenAs
		}
	case *corev1.ServiceList:
		for i := range l.Items {
			l.Items[i].UID = r.seenAs
		}
	}
	return err
}

// runningFleet is a cluster with a fleet of three nodes that are all in sync, and its operator.
func runningFleet(t *testing.T) (*controllertest.Cluster, *Reconciler, *recording) {
	t.Helper()
	c := newCluster(t)
	snd := stored(t, c)
	snd.Spec.Genesis, snd.Spec.Replicas = nil, 3
	snd.Spec.Template.Spec.Validator, snd.Spec.Template.Spec.FullNode = nil, &v1alpha1.FullNodeSpec{}
	if err := c.Update(t.Context(), snd); err != nil {
		t.Fatal(err)
	}
	r := operator(t, c)
	seen := &recording{Client: c}
	r.Client = seen
	pass(t, r)
	for i := range 3 {
		n := storedNode(t, c, i)
		n.UID = types.UID(fmt.Sprintf("uid-%d", i))
		if err := c.Update(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		now := metav1.NewTime(c.Clock.Now().Add(-time.Hour))
		n.Status.Phase = v1alpha1.NodeRunning
		for _, condition := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionInSync} {
			n.Status.Conditions = append(n.Status.Conditions, metav1.Condition{
				Type: condition, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInSync, LastTransitionTime: now,
			})
		}
		if err := c.Status().Update(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	pass(t, r)
	seen.applied = nil
	return c, r, seen
}

func pass(t *testing.T, r *Reconciler) {
	t.Helper()
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
}

func storedNode(t *testing.T, c *controllertest.Cluster, ordinal int) *v1alpha1.SeiNode {
	t.Helper()
	return controllertest.Stored(t, c, client.ObjectKey{Namespace: key.Namespace, Name: fleet.ChildName(key.Name, ordinal)}, &v1alpha1.SeiNode{})
}

func edit(t *testing.T, c *controllertest.Cluster, change func(*v1alpha1.SeiNodeDeployment)) {
	t.Helper()
	snd := stored(t, c)
	change(snd)
	snd.Generation++
	if err := c.Update(t.Context(), snd); err != nil {
		t.Fatal(err)
	}
}

// S9: of a fleet in sync one node gets the template, in exactly the state in which it was judged: one
// that was down and serves by now would be taken down beyond the budget.
func TestRollout_NodeIsAppliedAsItWasJudged(t *testing.T) {
	c, r, seen := runningFleet(t)
	edit(t, c, func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image = "seid:b" })
	judged := storedNode(t, c, 0)
	pass(t, r)
	want := []string{fmt.Sprintf("fleet-0 uid-0 %s", judged.ResourceVersion)}
	if len(seen.applied) == 0 || seen.applied[0] != want[0] || storedNode(t, c, 1).Spec.Image != "seid:a" {
		t.Errorf("applied %q, want %q", seen.applied, want)
	}
}

// S9: a node that the API server refuses holds the others, also in the pass that finds it out.
func TestRollout_NodeIsRefused_NoOtherMoves(t *testing.T) {
	c, r, seen := runningFleet(t)
	seen.refused = "fleet-0"
	edit(t, c, func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Template.Spec.Image = "seid:b"
		s.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MaxUnavailable: new(intstr.FromInt32(2))}}
	})
	pass(t, r)
	pass(t, r)
	if image := storedNode(t, c, 1).Spec.Image; image != "seid:a" || len(seen.applied) == 0 {
		t.Errorf("fleet-1 has %s after %q", image, seen.applied)
	}
}

// N37: a node that the API server has and the cache does not have yet was not deleted: it is not made again.
// One that the API server does not have either is.
func TestN37_NodeMissingInALateCache_IsNotMadeAgain(t *testing.T) {
	c, r, seen := runningFleet(t)
	edit(t, c, func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image = "seid:b" })
	pass(t, r)
	seen.applied, seen.hides = nil, "fleet-0"
	for _, after := range []time.Duration{0, 5 * time.Second, time.Minute} {
		c.Clock.SetTime(c.Clock.Now().Add(after))
		if result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil || result.RequeueAfter != loop.StaleInterval {
			t.Errorf("%s later the reconcile ends with %+v, %v, want another look", after, result, err)
		}
	}
	if len(seen.applied) > 0 {
		t.Errorf("applied %q", seen.applied)
	}
	if err := c.Delete(t.Context(), storedNode(t, c, 0)); err != nil {
		t.Fatal(err)
	}
	c.Clock.SetTime(c.Clock.Now().Add(time.Minute))
	seen.hides = ""
	pass(t, r)
	if storedNode(t, c, 0).Spec.Image != "seid:b" {
		t.Errorf("applied %q", seen.applied)
	}
}

// Nodes beyond the wanted number go, the very ones that were seen, and none of a paused fleet.
func TestScaleDown_OnlyWhatWasSeenGoes(t *testing.T) {
	for name, tc := range map[string]struct {
		paused bool
		seenAs types.UID
		left   int
	}{
		"scaled down":                          {false, "", 1},
		"paused":                               {true, "", 3},
		"others have taken their places since": {false, "earlier", 3},
	} {
		c, r, seen := runningFleet(t)
		seen.seenAs = tc.seenAs
		edit(t, c, func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas, s.Spec.Paused = 1, tc.paused })
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil && tc.seenAs == "" {
			t.Fatal(err)
		}
		list := &v1alpha1.SeiNodeList{}
		if err := c.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != tc.left {
			t.Errorf("%s: %d nodes are left, want %d", name, len(list.Items), tc.left)
		}
	}
}

// A Service that is not asked for any more goes if it is the fleet's own, and the one that was seen.
func TestRemoveUnwanted_OnlyTheFleetsOwn(t *testing.T) {
	for name, tc := range map[string]struct {
		own    bool
		seenAs types.UID
		gone   bool
	}{
		"its own":                       {true, "", true},
		"somebody else's":               {false, "", false},
		"one that took its place since": {true, "earlier", false},
	} {
		c, r, seen := runningFleet(t)
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "fleet-unwanted", UID: "service", Labels: map[string]string{v1alpha1.LabelDeployment: "fleet"},
		}}
		if tc.own {
			service.OwnerReferences = []metav1.OwnerReference{*fleet.OwnerReference(stored(t, c))}
		}
		if err := c.Create(t.Context(), service); err != nil {
			t.Fatal(err)
		}
		seen.seenAs = tc.seenAs
		_, _ = r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(service), &corev1.Service{})
		if apierrors.IsNotFound(err) != tc.gone {
			t.Errorf("%s: %v, want IsNotFound %v", name, err, tc.gone)
		}
	}
}

// The fleet's Services select the pods of its own nodes alone.
func TestSelectPod_OfAForeignNode_IsNotTouched(t *testing.T) {
	c, r, _ := runningFleet(t)
	n := storedNode(t, c, 1)
	n.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "theirs", UID: "theirs", Controller: new(true)}}
	if err := c.Update(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		makePod(t, c, storedNode(t, c, i))
	}
	pass(t, r)
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.MatchingLabels{v1alpha1.LabelDeployment: "fleet"}); err != nil {
		t.Fatal(err)
	}
	selected := make([]string, 0, len(pods.Items))
	for i := range pods.Items {
		selected = append(selected, pods.Items[i].Name)
	}
	if !slices.Equal(selected, []string{"fleet-0-0", "fleet-2-0"}) {
		t.Errorf("the Services select %q", selected)
	}
}

// makePod makes the StatefulSet of a node, and its pod without the label of a fleet.
func makePod(t *testing.T, c *controllertest.Cluster, n *v1alpha1.SeiNode) {
	t.Helper()
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: n.Namespace, Name: n.Name, UID: "sts-" + n.UID,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(n, v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNode))},
	}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: n.Namespace, Name: n.Name + "-0", Labels: map[string]string{v1alpha1.LabelNode: n.Name},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
	}}
	for _, obj := range []client.Object{sts, pod} {
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
}
