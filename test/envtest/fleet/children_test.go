package fleet

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/test/envtest"
)

func TestFleet_FromOneManifest_ComesUpAndFallsSilent(t *testing.T) {
	w := newOperatedWorld(t)
	snd := rpc("rpc", 3)
	snd.Spec.Template.Metadata = v1alpha1.TemplateMetadata{Labels: map[string]string{"team": "infra"}, Annotations: map[string]string{"note": "x"}}
	got := w.bringUp(snd)
	want := []v1alpha1.FleetNode{
		{Name: "rpc-0", Phase: v1alpha1.NodeRunning, Ready: true, Synced: true, CurrentImage: "seid:a"},
		{Name: "rpc-1", Phase: v1alpha1.NodeRunning, Ready: true, Synced: true, CurrentImage: "seid:a"},
		{Name: "rpc-2", Phase: v1alpha1.NodeRunning, Ready: true, Synced: true, CurrentImage: "seid:a"},
	}
	if diff := cmp.Diff(want, got.Status.Nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if want := v1alpha1.LabelDeployment + "=rpc"; got.Status.Selector != want || got.Status.TemplateHash == "" {
		t.Errorf("selector %q, hash of the template %q, want %q and any hash", got.Status.Selector, got.Status.TemplateHash, want)
	}
	if diff := cmp.Diff([]string{"rpc-0", "rpc-1", "rpc-2"}, got.Status.IncumbentNodes); diff != "" {
		t.Errorf("incumbent nodes (-want +got):\n%s", diff)
	}
	for _, c := range []string{v1alpha1.ConditionNodesReady, v1alpha1.ConditionPaused, v1alpha1.ConditionRolloutInProgress, v1alpha1.ConditionRolloutStalled} {
		if !slices.ContainsFunc(got.Status.Conditions, func(have metav1.Condition) bool { return have.Type == c }) {
			t.Errorf("condition %s is missing", c)
		}
	}
	n := w.Node("rpc-1")
	if n.Labels["team"] != "infra" || n.Labels[v1alpha1.LabelDeploymentOrdinal] != "1" || n.Annotations["note"] != "x" || !metav1.IsControlledBy(n, got) {
		t.Errorf("node metadata %+v", n.ObjectMeta)
	}
	w.forceReconcile("rpc") // what the nodes' last steps caused is over
	mark := w.Recorder.Mark()
	for range 50 {
		w.forceReconcile("rpc")
	}
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes of a settled fleet")
	w.Recorder.Since(mark).Reads().In(w.NS).RequireNone(t, "reads of a settled fleet")
}

func TestFleet_ForeignLabelsAndAnnotations_AreLeftAlone(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 1))
	w.EditNode("rpc-0", func(n *v1alpha1.SeiNode) {
		n.Labels["theirs"], n.Annotations["theirs"] = "1", "1"
		delete(n.Labels, v1alpha1.LabelDeploymentOrdinal)
	})
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Template.Metadata.Labels = map[string]string{"team": "core"}
	})
	n := w.AwaitNode("rpc-0", func(n *v1alpha1.SeiNode) bool {
		return n.Labels["team"] == "core" && n.Labels[v1alpha1.LabelDeploymentOrdinal] == "0"
	})
	if n.Labels["theirs"] != "1" || n.Annotations["theirs"] != "1" {
		t.Errorf("foreign metadata went: %v %v", n.Labels, n.Annotations)
	}
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Metadata.Labels = nil })
	w.AwaitNode("rpc-0", func(n *v1alpha1.SeiNode) bool { return n.Labels["team"] == "" && n.Labels["theirs"] == "1" })
}

func TestScale_UpAndDownBySubresource_HighestOrdinalFirstAndVolumesByPolicy(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 2))
	scale := func(n int32) {
		t.Helper()
		err := w.Client.SubResource("scale").Update(t.Context(), w.fleet("rpc"),
			client.WithSubResourceBody(&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: n}}))
		if err != nil {
			t.Fatal(err)
		}
	}
	scale(4)
	w.await("rpc", settled)
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Template.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeRetain}
	})
	w.AwaitNode("rpc-3", func(n *v1alpha1.SeiNode) bool {
		return n.Spec.DataVolume != nil && n.Status.ObservedGeneration == n.Generation
	})
	mark := w.Recorder.Mark()
	scale(1)
	for _, name := range []string{"rpc-3", "rpc-2", "rpc-1"} {
		envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, name)
	}
	got := w.await("rpc", settled)
	if got.Status.Replicas != 1 || len(got.Status.Nodes) != 1 {
		t.Errorf("%d replicas and nodes %+v, want one of each", got.Status.Replicas, got.Status.Nodes)
	}
	deletions := w.Recorder.Since(mark).Of("seinodes").Verb("delete").In(w.NS)
	order := make([]string, 0, len(deletions))
	for _, r := range deletions {
		order = append(order, r.Name)
	}
	if diff := cmp.Diff([]string{"rpc-3", "rpc-2", "rpc-1"}, order); diff != "" {
		t.Errorf("order of deletion (-want +got):\n%s", diff)
	}
	claim := &corev1.PersistentVolumeClaim{}
	w.Get("data-rpc-3", claim) // Retain
	w.AwaitEvent("", events.NodeRemoved)
}

// S5: what is taken out of the template is taken out of the nodes, also where it is the last field of its
// object: the API server refuses an apply that does so.
func TestTemplate_LastFieldOfAnObjectTakenOut_ReachesTheNodes(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 1))
	w.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) {
		f.Spec.Template.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{StateSync: &v1alpha1.StateSyncSnapshot{}, RPCServers: []v1alpha1.HostPort{"a:1", "b:1"}}
	})
	w.AwaitNode("rpc-0", func(n *v1alpha1.SeiNode) bool { return n.Spec.FullNode.Snapshot != nil })
	w.await("rpc", settled)
	w.edit("rpc", func(f *v1alpha1.SeiNodeDeployment) { f.Spec.Template.Spec.FullNode.Snapshot = nil })
	n := w.AwaitNode("rpc-0", func(n *v1alpha1.SeiNode) bool { return n.Spec.FullNode != nil && n.Spec.FullNode.Snapshot == nil })
	w.await("rpc", settled)
	if edited, err := fleet.Edited(n); edited || err != nil {
		t.Errorf("the fleet's own change counts as a hand's: %v", err)
	}
}

func TestChild_DeletedByHand_IsMadeAgain(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 2))
	old := w.Node("rpc-1")
	w.Delete(old)
	envtest.WaitReplaced(t, w.Env, old, func(*v1alpha1.SeiNode) bool { return true })
	w.await("rpc", settled)
	w.AwaitEvent("", events.NodeRecreated)
}

func TestChild_EditedByHand_IsPutBackWithAnEvent(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 2))
	w.EditNode("rpc-0", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:mine" })
	w.AwaitEvent("", events.NodeRestored)
	w.AwaitNode("rpc-0", func(n *v1alpha1.SeiNode) bool { return n.Spec.Image == "seid:a" })
	// What the template does not mention is taken out too.
	w.EditNode("rpc-1", func(n *v1alpha1.SeiNode) { n.Spec.ExternalAddress = "added.example:1"; n.Spec.Paused = true })
	w.AwaitNode("rpc-1", func(n *v1alpha1.SeiNode) bool { return n.Spec.ExternalAddress == "" && !n.Spec.Paused })
	w.await("rpc", settled)
}

func TestChild_AnotherControllersNodeUnderOurName_IsLeftAloneAndNamed(t *testing.T) {
	w := newOperatedWorld(t)
	theirs := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "rpc-1"},
		Spec: v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:theirs", FullNode: &v1alpha1.FullNodeSpec{}}}
	w.Create(theirs)
	w.Create(rpc("rpc", 2))
	got := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonNodesFailed) && s.Status.ReadyReplicas == 1
	})
	if text := message(got, v1alpha1.ConditionNodesReady); !strings.Contains(text, "SeiNode rpc-1 already exists and belongs to no fleet") {
		t.Errorf("message %q", text)
	}
	w.AwaitEvent("", events.NodeNotOurs)
	if n := w.Node("rpc-1"); n.Spec.Image != "seid:theirs" || len(n.OwnerReferences) > 0 || n.UID != theirs.UID {
		t.Errorf("a foreign node was touched: %+v", n)
	}
	w.Delete(w.Node("rpc-1"))
	w.await("rpc", settled)
}

func TestDeletion_Delete_TakesTheNodesAlong(t *testing.T) {
	w := newOperatedWorld(t)
	snd := w.bringUp(rpc("rpc", 2))
	w.Delete(snd)
	envtest.WaitGone[v1alpha1.SeiNodeDeployment](t, w.Env, w.NS, "rpc")
	for _, name := range []string{"rpc-0", "rpc-1"} {
		if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: w.NS, Name: name}, &v1alpha1.SeiNode{}); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("%s outlives the fleet: %v", name, err)
		}
	}
}

func TestDeletion_Retain_NodesRunOnAndAreAdoptedAgain(t *testing.T) {
	w := newOperatedWorld(t)
	snd := rpc("rpc", 2)
	snd.Spec.DeletionPolicy = v1alpha1.VolumeRetain
	w.bringUp(snd)
	uid, pod := w.Node("rpc-1").UID, &corev1.Pod{}
	w.Get("rpc-1-0", pod)
	w.Delete(w.fleet("rpc"))
	envtest.WaitGone[v1alpha1.SeiNodeDeployment](t, w.Env, w.NS, "rpc")
	if n := w.Node("rpc-1"); len(n.OwnerReferences) > 0 || n.DeletionTimestamp != nil {
		t.Errorf("a retained node is still owned or going: %+v", n.ObjectMeta)
	}
	w.AwaitEvent("", events.NodesRetained)

	again := w.bringUp(rpc("rpc", 2))
	n := w.Node("rpc-1")
	now := &corev1.Pod{}
	w.Get("rpc-1-0", now)
	if n.UID != uid || !metav1.IsControlledBy(n, again) || now.UID != pod.UID {
		t.Errorf("the retained node was not adopted as it is: %+v", n.ObjectMeta)
	}
}

// A volume follows what becomes of its node: removed by scaling down, or deleted.
func TestRetention_ScaledDownAndDeleted_AreToldApart(t *testing.T) {
	w := newOperatedWorld(t)
	snd := rpc("rpc", 3)
	snd.Spec.Template.Spec.DataVolume = &v1alpha1.DataVolumeSpec{
		Retention: &v1alpha1.VolumeRetention{WhenDeleted: v1alpha1.VolumeDelete, WhenScaled: v1alpha1.VolumeRetain},
	}
	w.bringUp(snd)
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas = 2 })
	envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "rpc-2")
	kept := &corev1.PersistentVolumeClaim{}
	if w.Get("data-rpc-2", kept); kept.DeletionTimestamp != nil {
		t.Error("the volume of a node that was scaled down goes")
	}
	w.Delete(w.fleet("rpc"))
	envtest.WaitGone[v1alpha1.SeiNodeDeployment](t, w.Env, w.NS, "rpc")
	envtest.WaitGone[corev1.PersistentVolumeClaim](t, w.Env, w.NS, "data-rpc-0")
	if w.Get("data-rpc-2", kept); kept.DeletionTimestamp != nil {
		t.Error("the volume of a node that was scaled down goes with the fleet")
	}
}

// A note that a node was to be removed does not outlive a change of mind.
func TestRetention_ScaledDownAndUpAgain_ForgetsTheNote(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 1))
	w.EditNode("rpc-0", func(n *v1alpha1.SeiNode) { n.Annotations[v1alpha1.AnnotationScaledDown] = "true" })
	w.AwaitNode("rpc-0", func(n *v1alpha1.SeiNode) bool { return n.Annotations[v1alpha1.AnnotationScaledDown] == "" })
}
