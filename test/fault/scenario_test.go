package fault

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// scenario is something that the operator has to do.
type scenario struct {
	name string
	// arrange makes what has to be there before; nil for nothing.
	arrange func(*run)
	// act is what a user does, or what happens.
	act func(*run)
	// settle waits until the operator has done all that follows from it.
	settle func(*run)
	// objects are reconciled some more times afterwards.
	objects []object
}

// scenarios are all there are.
var scenarios = slices.Concat(ofNodes, ofModes, ofChains, ofFleets, ofCeremonies, ofTasks, ofOtherTasks())

// ofNodes are the scenarios of a single node.
var ofNodes = []*scenario{
	{
		name:    "init",
		act:     func(r *run) { r.Create(world.FullNode("full")) },
		settle:  func(r *run) { r.AwaitNode("full", settled) },
		objects: []object{node("full")},
	},
	{
		name:    "update",
		arrange: bringUp,
		act: func(r *run) {
			r.EditNode("full", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
		},
		settle:  func(r *run) { r.AwaitNode("full", settled) },
		objects: []object{node("full")},
	},
	{
		name:    "rollback",
		arrange: bringUp,
		act: func(r *run) {
			r.EditNode("full", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
			r.awaitStarts("full", 2)
			r.EditNode("full", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:a" })
		},
		settle:  func(r *run) { r.awaitStarts("full", 3) },
		objects: []object{node("full")},
	},
	{
		name:    "reconfigure",
		arrange: bringUp,
		act: func(r *run) {
			r.EditNode("full", func(n *v1alpha1.SeiNode) { n.Spec.Overrides = map[string]string{"evm.http_port": "8547"} })
		},
		settle:  func(r *run) { r.AwaitNode("full", settled) },
		objects: []object{node("full")},
	},
	{
		name:    "pod-loss",
		arrange: bringUp,
		act: func(r *run) {
			pod := &corev1.Pod{}
			r.Get("full-0", pod)
			r.Delete(pod)
			envtest.WaitReplaced(r.T, r.Env, pod, func(*corev1.Pod) bool { return true })
		},
		settle:  func(r *run) { r.awaitStarts("full", 2) },
		objects: []object{node("full")},
	},
	{
		name:    "validator",
		arrange: makeKeys,
		act:     func(r *run) { r.Create(validator()) },
		settle:  func(r *run) { r.AwaitNode("val", settled) },
		objects: []object{node("val")},
	},
	{
		name: "delete",
		arrange: func(r *run) {
			makeKeys(r)
			r.Create(validator())
			r.AwaitNode("val", settled)
		},
		act: func(r *run) { r.Delete(r.Node("val")) },
		settle: func(r *run) {
			envtest.WaitGone[v1alpha1.SeiNode](r.T, r.Env, r.NS, "val")
			envtest.WaitGone[corev1.PersistentVolumeClaim](r.T, r.Env, r.NS, "data-val")
			envtest.WaitGone[appsv1.StatefulSet](r.T, r.Env, r.NS, "val")
			envtest.WaitGone[corev1.Service](r.T, r.Env, r.NS, "val")
		},
	},
	{
		name: "bootstrap",
		act: func(r *run) {
			n := world.FullNode("full")
			n.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{S3: &v1alpha1.S3Snapshot{TargetHeight: 100}, BootstrapImage: "seid:old"}
			r.Create(n)
			r.endBootstrap("full")
		},
		settle: func(r *run) {
			envtest.WaitGone[batchv1.Job](r.T, r.Env, r.NS, "full-bootstrap")
			r.AwaitNode("full", settled)
		},
		objects: []object{node("full")},
	},
	{
		name:    "pause",
		arrange: bringUp,
		act: func(r *run) {
			r.EditNode("full", func(n *v1alpha1.SeiNode) { n.Spec.Paused = true })
			envtest.WaitGone[corev1.Pod](r.T, r.Env, r.NS, "full-0")
			r.EditNode("full", func(n *v1alpha1.SeiNode) { n.Spec.Paused = false })
		},
		settle:  func(r *run) { r.awaitStarts("full", 2) },
		objects: []object{node("full")},
	},
}

func bringUp(r *run) {
	r.Create(world.FullNode("full"))
	r.AwaitNode("full", settled)
}

// awaitStarts waits until seid was started so many times and the node is settled.
func (r *run) awaitStarts(name string, times int) {
	r.T.Helper()
	r.Eventually("another start of seid", func() bool { return len(r.Sidecars.Starts(r.Key(name))) >= times })
	r.AwaitNode(name, settled)
}

// makeKeys makes the Secrets of the validator.
func makeKeys(r *run) {
	signing, _ := world.ConsensusKey('v')
	r.Create(world.Secret("signing", v1alpha1.SecretKeySigningKey, signing))
	r.Create(world.Secret("nodekey", v1alpha1.SecretKeyNodeKey, world.NodeKey('v')))
}

func validator() *v1alpha1.SeiNode {
	n := world.Validator("val", "signing", "nodekey")
	n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeDelete}
	return n
}

// endBootstrap has the seid of a bootstrap Job come to its height.
func (r *run) endBootstrap(name string) {
	r.T.Helper()
	r.Eventually("seid of the bootstrap Job", func() bool { return len(r.Sidecars.Starts(r.Key(name))) > 0 })
	pods := &corev1.PodList{}
	err := r.Client.List(r.T.Context(), pods, client.InNamespace(r.NS), client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentBootstrap})
	if err != nil || len(pods.Items) != 1 {
		r.T.Fatalf("%d bootstrap pods, %v", len(pods.Items), err)
	}
	if err := r.Pods.Kill(r.NS, pods.Items[0].Name, "seid", 0); err != nil {
		r.T.Fatal(err)
	}
}

// settled is a node that runs its spec, is in sync, and has nothing left to do.
func settled(n *v1alpha1.SeiNode) bool {
	return n.Status.Phase == v1alpha1.NodeRunning && n.Status.Plan == nil && n.Status.ObservedGeneration == n.Generation &&
		n.Status.CurrentImage == n.Spec.Image &&
		conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync) &&
		conditions.Is(n.Status.Conditions, v1alpha1.ConditionSidecarReady, metav1.ConditionTrue, v1alpha1.ReasonSidecarReady)
}
