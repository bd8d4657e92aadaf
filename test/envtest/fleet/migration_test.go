package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// takenOver is a fleet of the public operator whose nodes run on in their pods.
func takenOver(s *v1alpha1.SeiNodeDeployment) bool {
	return s.Status.ObservedGeneration == s.Generation && s.Status.Phase == v1alpha1.DeploymentReady && s.Status.Rollout == nil &&
		s.Status.ReadyReplicas == s.Spec.Replicas && is(s, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonOutOfDate)
}

// uids are those of objects of one kind, by their names.
func uids[T client.Object](w fleets, obj T, names ...string) map[string]types.UID {
	w.T.Helper()
	found := map[string]types.UID{}
	for _, name := range names {
		w.Get(name, obj)
		found[name] = obj.GetUID()
	}
	return found
}

// running waits for the pods of a fleet with three nodes, and returns their uids.
func (w fleets) running(fleet string) map[string]types.UID {
	w.T.Helper()
	found := map[string]types.UID{}
	for i := range 3 {
		pod := envtest.WaitFor(w.T, w.Env, w.NS, child(fleet, i)+"-0", func(p *corev1.Pod) bool { return p != nil && p.Status.Phase == corev1.PodRunning })
		found[pod.Name] = pod.UID
	}
	return found
}

// publicFleet makes a fleet with three nodes as the public operator leaves it.
func (w fleets) publicFleet(snd *v1alpha1.SeiNodeDeployment, mode seid.Mode, conditions ...metav1.Condition) (pods map[string]types.UID) {
	w.T.Helper()
	for _, claim := range w.PublicFleet(snd, conditions...) {
		w.Sidecars.Furnish(claim.UID, mode, nil)
	}
	return w.running(snd.Name)
}

// A fleet of full nodes is taken over without a rollout: nodes, Services and pods stay. A restart of the fleet
// then replaces the pods one after the other.
func TestMigration_AFleetOfFullNodes_RunsOnUntilItsRestart(t *testing.T) {
	w := newWorldBeforeOthers(t)
	snd := rpc("rpc", 3)
	snd.Spec.Networking = &v1alpha1.NetworkingSpec{HTTP: &v1alpha1.HTTPNetworking{}}
	pods := w.publicFleet(snd, seid.ModeFull)
	names := []string{"rpc-0", "rpc-1", "rpc-2"}
	nodes, services := uids(w, &v1alpha1.SeiNode{}, names...), uids(w, &corev1.Service{}, "rpc-internal", "rpc-external")

	w.StartOperator()
	got := w.await("rpc", takenOver)
	wantCondition(t, got, v1alpha1.ConditionRolloutInProgress, metav1.ConditionFalse, v1alpha1.ReasonRolloutNotStarted)
	w.forceReconcile("rpc")
	w.await("rpc", takenOver)
	if now := uids(w, &v1alpha1.SeiNode{}, names...); !maps.Equal(now, nodes) {
		t.Errorf("nodes are %v, want %v", now, nodes)
	}
	if now := uids(w, &corev1.Service{}, "rpc-internal", "rpc-external"); !maps.Equal(now, services) {
		t.Errorf("Services are %v, want %v", now, services)
	}
	if now := w.running("rpc"); !maps.Equal(now, pods) {
		t.Errorf("pods are %v, want %v", now, pods)
	}

	watch := w.watchNodes()
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Template.Metadata.Annotations = map[string]string{v1alpha1.AnnotationRestart: "now"}
	})
	w.await("rpc", settled)
	watch.require(t, 1)
	for name, uid := range w.running("rpc") {
		if uid == pods[name] {
			t.Errorf("%s is still the pod of the other operator", name)
		}
	}
}

// A fleet of the public operator gets another image as any fleet does: by a rollout that keeps the budget.
func TestMigration_AFleetGetsAnotherImage_WithinItsBudget(t *testing.T) {
	w := newWorldBeforeOthers(t)
	w.publicFleet(rpc("rpc", 3), seid.ModeFull)
	w.StartOperator()
	w.await("rpc", takenOver)
	watch := w.watchNodes()
	w.edit("rpc", image("seid:b"))
	w.await("rpc", runs("seid:b"))
	watch.require(t, 1)
}

// A fleet that the public operator has stopped, because it is paused, stays stopped until it is resumed.
func TestMigration_APausedFleet_StaysStoppedUntilItIsResumed(t *testing.T) {
	w := newWorldBeforeOthers(t)
	snd := rpc("rpc", 3)
	snd.Spec.Paused = true
	for _, claim := range w.PublicFleet(snd) {
		w.Sidecars.Furnish(claim.UID, seid.ModeFull, nil)
	}
	names := []string{"rpc-0", "rpc-1", "rpc-2"}
	nodes := uids(w, &v1alpha1.SeiNode{}, names...)
	w.StartOperator()
	paused := func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.Selector != "" && s.Status.Phase == v1alpha1.DeploymentPaused && is(s, v1alpha1.ConditionPaused, metav1.ConditionTrue, v1alpha1.ReasonPaused)
	}
	w.await("rpc", paused)
	for _, name := range names {
		w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool { return n.Status.ObservedGeneration == n.Generation })
	}
	w.forceReconcile("rpc")
	w.await("rpc", paused)
	pods := &corev1.PodList{}
	if err := w.Client.List(t.Context(), pods, client.InNamespace(w.NS)); err != nil || len(pods.Items) > 0 {
		t.Errorf("%d pods run in a fleet that was stopped, %v", len(pods.Items), err)
	}

	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Paused = false })
	w.await("rpc", settled)
	if now := uids(w, &v1alpha1.SeiNode{}, names...); !maps.Equal(now, nodes) {
		t.Errorf("nodes are %v, want %v", now, nodes)
	}
	if n := len(w.running("rpc")); n != 3 {
		t.Errorf("%d pods run", n)
	}
}

// The operator is killed at any moment of the takeover, and a pod is lost: that one comes back with our
// sidecar, and the others are left alone.
func TestMigration_OperatorKilledAndAPodLost_OnlyThatOneIsReplaced(t *testing.T) {
	w := newWorldBeforeOthers(t)
	pods := w.publicFleet(rpc("rpc", 3), seid.ModeFull)
	mark, start := w.Recorder.Mark(), func() {}
	for writes := range 12 {
		w.StartOperator()
		snd := &v1alpha1.SeiNodeDeployment{}
		w.Eventually("a write", func() bool {
			w.Get("rpc", snd)
			return len(w.Recorder.Since(mark).Writes().In(w.NS)) > writes || takenOver(snd)
		})
		w.Stop()
		if writes == 3 {
			// In a pod of the other operator nothing opens the gate any more.
			start = w.Pods.Rule(podsim.Match{Namespace: w.NS, Pod: "rpc-1-0", Container: render.ContainerSeid}, podsim.Behaviour{NotStarted: true})
			w.Delete(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.NS, Name: "rpc-1-0"}})
		}
	}
	w.StartOperator()
	envtest.WaitFor(w.T, w.Env, w.NS, "rpc-1-0", func(p *corev1.Pod) bool {
		return p != nil && slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == render.ContainerSidecar })
	})
	start()
	w.await("rpc", takenOver)
	w.AwaitNode("rpc-1", func(n *v1alpha1.SeiNode) bool {
		return conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync)
	})
	w.await("rpc", takenOver)
	for name, uid := range w.running("rpc") {
		if lost := name == "rpc-1-0"; (uid != pods[name]) != lost {
			t.Errorf("%s was replaced: %t, want %t", name, uid != pods[name], lost)
		}
	}
}

// publicGenesis is the content that stands for the genesis on a furnished volume.
const publicGenesis = "genesis"

// A chain that the public operator has started continues with its genesis, which is taken from the validators.
// No ceremony is run again, and all validators keep the keys on their volumes.
func TestMigration_AFleetThatHasStartedItsChain_KeepsItsGenesis(t *testing.T) {
	w := newWorldBeforeOthers(t)
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	if _, err := zipped.Write([]byte(publicGenesis)); err != nil || zipped.Close() != nil {
		t.Fatal(err)
	}
	w.Sidecars.Program("", api.ExportGenesis, sidecarsim.Outcome{Do: func(_ context.Context, call sidecarsim.Call) (any, error) {
		return wire.ExportedGenesis{Genesis: base64.StdEncoding.EncodeToString(packed.Bytes()), GenesisHash: w.Sidecars.Home(call.Node).GenesisHash}, nil
	}})
	pods := w.publicFleet(validators("val", 3), seid.ModeValidator, metav1.Condition{
		Type: v1alpha1.ConditionGenesisCeremonyComplete, Status: metav1.ConditionTrue, Reason: "Complete", LastTransitionTime: metav1.Now(),
	})
	watch := w.watchNodes()
	w.StartOperator()
	got := w.await("val", settled)
	for _, seen := range watch.fleets() {
		if !is(seen, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, "") {
			t.Errorf("in between the chain had no genesis: %+v", seen.Status.Conditions)
		}
	}
	stored := w.genesis("val-genesis")
	if hash := w.Sidecars.Home(w.Key("val-0")).GenesisHash; got.Status.GenesisHash != hash || stored.Annotations[v1alpha1.AnnotationGenesisHash] != hash {
		t.Errorf("genesis %s, in the ConfigMap %s, want %s, which the validators have", got.Status.GenesisHash, stored.Annotations[v1alpha1.AnnotationGenesisHash], hash)
	}
	wantCondition(t, got, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, v1alpha1.ReasonCeremonyComplete)
	if text := message(got, v1alpha1.ConditionGenesisCeremonyComplete); !strings.Contains(text, "is in ConfigMap val-genesis") {
		t.Errorf("message %q, want where the genesis is", text)
	}
	for i := range 3 {
		sent := w.Sidecars.Submissions(w.Key(child("val", i)))
		for _, task := range []api.TaskType{api.GenerateIdentity, api.GenerateGentx, api.ExportGentx, api.AssembleGenesis, api.ConfigureGenesis} {
			if count(sent, task) > 0 {
				t.Errorf("val-%d was sent %s: %v", i, task, sent)
			}
		}
	}
	for name, uid := range w.running("val") {
		if uid == pods[name] {
			t.Errorf("%s signs without a sidecar of this operator", name)
		}
	}
}
