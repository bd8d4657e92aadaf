package walk

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// prepare sets what images and overrides do in every world.
func prepare(w *world.World) {
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:bad"}, podsim.Behaviour{PullError: "no such image"})
	w.Sidecars.RefuseConfig(func(overrides map[string]string, version string) error {
		if size := overrides["mempool.size"]; size == "1" || size == "2" && version == "seid:b" {
			return errors.New("seid panics: the mempool does not fit")
		}
		return nil
	})
}

// worldActions happen to pods, machines and objects. Their variant is the number of a node.
var worldActions = []*action{
	{name: "pod-lost", variants: mostReplicas, often: 1, loses: true, do: func(w *walk, v int) { w.drop(&corev1.Pod{}, w.node(v)+"-0", metav1.DeletePropagationBackground) }},
	{name: "seid-restarted", variants: mostReplicas, often: 1, loses: true, do: func(w *walk, v int) { w.kill(v, "seid") }},
	{name: "sidecar-restarted", variants: mostReplicas, often: 1, loses: true, do: func(w *walk, v int) { w.kill(v, "sidecar") }},
	{name: "machine-lost", variants: mostReplicas, calm: true, do: (*walk).loseMachine},
	{name: "machine-back", variants: 1, calm: true, do: func(w *walk, _ int) { w.repair("machine") }},
	{name: "sidecar-silent", variants: mostReplicas, calm: true, do: (*walk).silence},
	{name: "sidecar-speaks", variants: 1, calm: true, do: func(w *walk, _ int) { w.repair("sidecar") }},
	{name: "bucket-away", variants: 1, calm: true, do: (*walk).takeBucket},
	{name: "bucket-back", variants: 1, calm: true, do: func(w *walk, _ int) { w.repair("bucket") }},
	{name: "set-deleted", variants: 2, do: func(w *walk, v int) {
		w.drop(&appsv1.StatefulSet{}, w.node(v), []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan}[v])
	}},
	{name: "set-edited", variants: 3, do: (*walk).editSet},
	{name: "webhook", variants: mostReplicas, calm: true, do: (*walk).rewriteImage},
	{name: "peer-appears", variants: 1, calm: true, do: (*walk).addPeer},
	{name: "peer-goes", variants: 1, calm: true, do: func(w *walk, _ int) {
		if w.blind["machine"] == nil { // or its pod stays until the machine is back
			w.repair("peer")
		}
	}},
	{name: "node-deleted", variants: mostReplicas, of: []string{"fleet"}, do: func(w *walk, v int) { w.deleteNode(w.node(v)) }},
}

// node is the name of the subject's node of a number.
func (w *walk) node(number int) string {
	names := nodesOf(w.wanted)
	return names[number%len(names)]
}

// drop deletes an object, if it is there.
func (w *walk) drop(obj client.Object, name string, how metav1.DeletionPropagation) {
	w.T.Helper()
	if !w.read(name, obj) || w.isForeign(obj) {
		return
	}
	err := w.Client.Delete(w.T.Context(), obj, client.PropagationPolicy(how), client.Preconditions{UID: new(obj.GetUID())})
	if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) { // or another one has taken its place
		w.T.Fatal(err)
	}
}

// kill ends a container, if it runs.
func (w *walk) kill(number int, container string) {
	if err := w.Pods.Kill(w.NS, w.node(number)+"-0", container, 1); err != nil {
		w.notef("%v", err)
	}
}

// repair undoes something, if it was done.
func (w *walk) repair(what string) {
	for _, of := range []map[string]func(){w.blind, w.repairs} {
		if f := of[what]; f != nil {
			f()
			delete(of, what)
		}
	}
}

// loseMachine has the kubelet of a node's machine fall silent.
func (w *walk) loseMachine(number int) {
	w.T.Helper()
	pod := &corev1.Pod{}
	if w.blind["machine"] != nil || !w.read(w.node(number)+"-0", pod) || pod.Spec.NodeName == "" {
		return
	}
	if err := w.Pods.LoseNode(w.T.Context(), pod.Spec.NodeName); err != nil {
		w.T.Fatal(err)
	}
	w.blind["machine"] = func() {
		if err := w.Pods.RestoreNode(w.T.Context(), pod.Spec.NodeName); err != nil {
			w.T.Fatal(err)
		}
	}
}

// silence has a sidecar answer no request.
func (w *walk) silence(number int) {
	if w.blind["sidecar"] == nil {
		w.blind["sidecar"] = w.Sidecars.Break(w.Key(w.node(number)), sidecarsim.Fault{Hang: true})
	}
}

// takeBucket has every task fail that needs the bucket.
func (w *walk) takeBucket(int) {
	if w.repairs["bucket"] == nil {
		w.repairs["bucket"] = w.Sidecars.Program("", api.SnapshotRestore, sidecarsim.Outcome{
			Error: api.Retryable(api.CodeUnavailable, errors.New("the bucket cannot be reached")),
		})
	}
}

// editSet changes a StatefulSet as somebody with kubectl may: a label of the pods, how pods are updated,
// and that there are none.
func (w *walk) editSet(variant int) {
	w.T.Helper()
	set := &appsv1.StatefulSet{}
	if !w.read(w.node(0), set) || w.isForeign(set) {
		return
	}
	before := set.DeepCopy()
	switch variant {
	case 0:
		set.Spec.Template.Labels["added"] = "by-hand"
	case 1:
		set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType}
	case 2:
		set.Spec.Replicas = new(int32)
	}
	if err := w.Client.Patch(w.T.Context(), set, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		w.T.Fatal(err)
	}
}

// rewriteImage does to a pod what a webhook does to it on its way in: its images are those of a mirror.
func (w *walk) rewriteImage(number int) {
	w.T.Helper()
	pod := &corev1.Pod{}
	if !w.read(w.node(number)+"-0", pod) || pod.DeletionTimestamp != nil || w.isForeign(pod) {
		return
	}
	before := pod.DeepCopy()
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Image = "mirror.example.org/" + containers[i].Image
		}
	}
	if err := w.Client.Patch(w.T.Context(), pod, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		w.T.Fatal(err)
	}
}

// addPeer makes a node that label peers find.
func (w *walk) addPeer(int) {
	w.T.Helper()
	if w.repairs["peer"] != nil {
		return
	}
	peer := world.FullNode("peer")
	peer.Labels = peerLabels
	w.Create(peer)
	w.AwaitNode("peer", func(n *v1alpha1.SeiNode) bool { return n.Status.NodeID != "" || !w.sees() })
	w.repairs["peer"] = func() { w.takeAway(&v1alpha1.SeiNode{}, "peer") }
}

// takeAway deletes an object and waits until it is gone, and with it the pod of its name.
func (w *walk) takeAway(obj client.Object, name string) {
	w.T.Helper()
	w.startOperator() // a finalizer needs one,
	w.releaseCaches() // and that it hears of everything
	w.drop(obj, name, metav1.DeletePropagationForeground)
	w.Eventually("the end of "+name, func() bool {
		return !w.read(name, obj) && !w.read(name+"-0", &corev1.Pod{})
	})
}

// deleteNode deletes a node of the fleet.
func (w *walk) deleteNode(name string) {
	w.T.Helper()
	n := &v1alpha1.SeiNode{}
	if w.read(name, n) {
		w.noteClaim(name, render.DeletionPolicy(n) == v1alpha1.VolumeRetain)
		w.drop(n, name, metav1.DeletePropagationBackground)
	}
}

// endOrphan does what is told to do before a validator takes the place of one that was deleted with
// --cascade=orphan: its pod is stopped, and then the reservation of its key is deleted.
func (w *walk) endOrphan() {
	w.T.Helper()
	name := w.wanted.GetName()
	n := &v1alpha1.SeiNode{}
	if w.read(name, n) && n.Status.ConsensusAddress != "" {
		return
	}
	w.drop(&appsv1.StatefulSet{}, name, metav1.DeletePropagationForeground)
	w.Eventually("the end of the orphaned pod", func() bool { return !w.read(name, &appsv1.StatefulSet{}) && !w.read(name+"-0", &corev1.Pod{}) })
	w.releaseKeys(fmt.Sprintf("%s/%s", w.NS, name))
}
