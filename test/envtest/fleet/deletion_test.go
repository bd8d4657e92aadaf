package fleet

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// possession is an object of a fleet whose fate a test follows.
type possession struct {
	name string
	obj  client.Object
	uid  types.UID
}

// possessions are the nodes, pods and volumes of a fleet of two validators, its Service, its
// genesis, its disruption budget and its template.
func (w fleets) possessions() []possession {
	w.T.Helper()
	revisions := w.awaitHistory("val", "1 "+w.fleet("val").Spec.Template.Spec.Image)
	all := []possession{
		{"val-0", &v1alpha1.SeiNode{}, ""}, {"val-1", &v1alpha1.SeiNode{}, ""},
		{"val-0-0", &corev1.Pod{}, ""}, {"val-1-0", &corev1.Pod{}, ""},
		{"data-val-0", &corev1.PersistentVolumeClaim{}, ""}, {"data-val-1", &corev1.PersistentVolumeClaim{}, ""},
		{"val-internal", &corev1.Service{}, ""}, {"val-genesis", &corev1.ConfigMap{}, ""},
		{"val", &policyv1.PodDisruptionBudget{}, ""},
		{revisions.Items[0].Name, &appsv1.ControllerRevision{}, ""},
	}
	for i := range all {
		w.Get(all[i].name, all[i].obj)
		all[i].uid = all[i].obj.GetUID()
	}
	return all
}

// requireKept checks that everything is there as it was, and that nobody is about to take it.
func (w fleets) requireKept(all []possession) {
	w.T.Helper()
	for _, p := range all {
		err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.NS, Name: p.name}, p.obj)
		if err != nil || p.obj.GetUID() != p.uid || p.obj.GetDeletionTimestamp() != nil {
			w.T.Errorf("%T %s is gone or going: %v", p.obj, p.name, err)
		}
		for _, owner := range p.obj.GetOwnerReferences() {
			if owner.Kind == v1alpha1.KindSeiNodeDeployment {
				w.T.Errorf("%T %s still has the fleet as its owner", p.obj, p.name)
			}
		}
	}
}

// dependent is an object that the garbage collector handles like the fleet's own. When it has been
// dealt with, so have they.
func (w fleets) dependent(snd *v1alpha1.SeiNodeDeployment) *corev1.ConfigMap {
	w.T.Helper()
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "dependent", OwnerReferences: []metav1.OwnerReference{*fleet.OwnerReference(snd)}}}
	w.Create(c)
	return c
}

func (w fleets) deleteFleet(name string, policy metav1.DeletionPropagation) {
	w.T.Helper()
	w.askToDelete(name, policy)
	envtest.WaitGone[v1alpha1.SeiNodeDeployment](w.T, w.Env, w.NS, name)
}

func (w fleets) askToDelete(name string, policy metav1.DeletionPropagation) {
	w.T.Helper()
	if err := w.Client.Delete(w.T.Context(), w.fleet(name), client.PropagationPolicy(policy)); err != nil {
		w.T.Fatal(err)
	}
}

// The garbage collector acts on a deletion in the foreground at once, whether or not an operator runs
// that could keep something from it. (V2)
func TestV2_RetainFleetDeletedWhileTheOperatorIsDown_IsLeftAlone(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	snd := validators("val", 2)
	snd.Spec.DeletionPolicy = v1alpha1.VolumeRetain
	snd = w.bringUp(snd)
	all := w.possessions()
	w.dependent(snd)
	w.Stop()
	w.askToDelete("val", metav1.DeletePropagationForeground)
	w.awaitCollected(metav1.DeletePropagationForeground)
	w.requireKept(all)
	w.StartOperator()
	envtest.WaitGone[v1alpha1.SeiNodeDeployment](t, w.Env, w.NS, "val")
	w.requireKept(all)
	w.AwaitEvent("val", events.NodesRetained)
}

// However a Retain fleet is deleted, all it has made runs on. Argo CD prunes in the foreground. (V2)
func TestV2_RetainFleet_SurvivesEveryWayOfDeletion(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan} {
		t.Run(string(policy), func(t *testing.T) {
			w := newOperatedWorld(t)
			w.chain()
			snd := validators("val", 2)
			snd.Spec.DeletionPolicy = v1alpha1.VolumeRetain
			snd = w.bringUp(snd)
			all := w.possessions()
			w.requireKept(all) // nothing is bound to the fleet while it lives
			w.dependent(snd)
			w.deleteFleet("val", policy)
			w.awaitCollected(policy)
			w.requireKept(all)
			w.AwaitEvent("val", events.NodesRetained)
			w.forgetDependent(policy)
			again := validators("val", 2)
			again.Spec.DeletionPolicy = v1alpha1.VolumeRetain
			w.bringUp(again)
			w.requireKept(all)
		})
	}
}

// awaitCollected waits until the garbage collector is through with what depends on the fleet.
func (w fleets) awaitCollected(policy metav1.DeletionPropagation) {
	w.T.Helper()
	if policy == metav1.DeletePropagationOrphan {
		envtest.WaitFor(w.T, w.Env, w.NS, "dependent", func(c *corev1.ConfigMap) bool { return c != nil && len(c.OwnerReferences) == 0 })
		return
	}
	envtest.WaitGone[corev1.ConfigMap](w.T, w.Env, w.NS, "dependent")
}

func (w fleets) forgetDependent(policy metav1.DeletionPropagation) {
	w.T.Helper()
	if policy == metav1.DeletePropagationOrphan {
		w.Delete(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.NS, Name: "dependent"}})
	}
}

// A Delete fleet takes its nodes along, unless whoever deletes it says otherwise. (V2)
func TestV2_DeleteFleet_HonoursThePropagation(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan} {
		t.Run(string(policy), func(t *testing.T) {
			w := newOperatedWorld(t)
			w.chain()
			snd := validators("val", 2)
			snd.Spec.Template.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeDelete}
			snd = w.bringUp(snd)
			all := w.possessions()
			w.dependent(snd)
			w.deleteFleet("val", policy)
			w.awaitCollected(policy)
			if policy == metav1.DeletePropagationOrphan {
				w.requireKept(all)
				w.AwaitEvent("val", events.NodesRetained)
				return
			}
			envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "val-0")
			envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "val-1")
			envtest.WaitGone[corev1.PersistentVolumeClaim](t, w.Env, w.NS, "data-val-0")
			envtest.WaitGone[corev1.Service](t, w.Env, w.NS, "val-internal")
			envtest.WaitGone[corev1.ConfigMap](t, w.Env, w.NS, "val-genesis")
			w.awaitHistory("val")
		})
	}
}

// bound reports whether the garbage collector would take an object with the fleet.
func bound(obj client.Object) bool {
	owner := metav1.GetControllerOf(obj)
	return owner != nil && owner.Kind == v1alpha1.KindSeiNodeDeployment
}

// The policy may change, also while the fleet is paused, and what an older operator has made is
// bound to the fleet: the nodes follow. (V2)
func TestV2_PolicyChanged_OwnersFollowAlsoWhilePaused(t *testing.T) {
	w := newOperatedWorld(t)
	w.chain()
	w.bringUp(validators("val", 2))
	pod := &corev1.Pod{}
	w.Get("val-1-0", pod)
	w.edit("val", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Paused, s.Spec.DeletionPolicy = true, v1alpha1.VolumeRetain
	})
	for _, name := range []string{"val-0", "val-1"} {
		w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool { return !bound(n) })
	}
	envtest.WaitFor(t, w.Env, w.NS, "val-genesis", func(c *corev1.ConfigMap) bool { return c != nil && !bound(c) })
	envtest.WaitFor(t, w.Env, w.NS, "val-internal", func(s *corev1.Service) bool { return s != nil && !bound(s) })
	w.edit("val", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Paused = false })
	w.await("val", settled)

	w.edit("val", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.DeletionPolicy = v1alpha1.VolumeDelete })
	for _, name := range []string{"val-0", "val-1"} {
		w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool {
			return bound(n) && n.Annotations[v1alpha1.AnnotationDeploymentUID] == ""
		})
	}
	envtest.WaitFor(t, w.Env, w.NS, "val-genesis", func(c *corev1.ConfigMap) bool { return c != nil && bound(c) })
	envtest.WaitFor(t, w.Env, w.NS, "val-internal", func(s *corev1.Service) bool { return s != nil && bound(s) })
	w.await("val", settled)
	now := &corev1.Pod{}
	if w.Get("val-1-0", now); now.UID != pod.UID {
		t.Error("a change of owners replaced a pod")
	}
	w.forceReconcile("val")
	mark := w.Recorder.Mark()
	w.forceReconcile("val")
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes of a settled fleet")
}
