package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/manager"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// The tests of this file carry the ids of the cases in docs/contributing/soundness.md: a node under
// sequences of events, each of which is harmless alone.

// losePod deletes a node's pod and waits for the one that takes its place.
func (w nodes) losePod(name string) *corev1.Pod {
	w.T.Helper()
	pod := &corev1.Pod{}
	w.Get(name+"-0", pod)
	w.Delete(pod)
	return envtest.WaitReplaced(w.T, w.Env, pod, func(p *corev1.Pod) bool { return p.Status.PodIP != "" })
}

// running waits until seid runs in a node's pod.
func (w nodes) running(name string) {
	w.T.Helper()
	w.Eventually("seid of "+name+" to run", func() bool { return w.Sidecars.Process(w.Key(name)).State == api.SeidRunning })
}

func (w nodes) sound() {
	w.T.Helper()
	if v := w.Sidecars.Violations(); len(v) > 0 {
		w.T.Errorf("invariants were violated: %v", v)
	}
}

func (w nodes) override(name, key, value string) {
	w.T.Helper()
	w.edit(name, func(n *v1alpha1.SeiNode) {
		overrides := maps.Clone(n.Spec.Overrides)
		if overrides == nil {
			overrides = map[string]string{}
		}
		if overrides[key] = value; value == "" {
			delete(overrides, key)
		}
		n.Spec.Overrides = overrides
	})
}

// refuseMempool has every version of seid crash on a mempool of the given size.
func (w nodes) refuseMempool(size string) {
	w.Sidecars.RefuseConfig(func(overrides map[string]string, _ string) error {
		if overrides["mempool.size"] == size {
			return errors.New("seid panics: the mempool does not fit")
		}
		return nil
	})
}

// N2: a typo in overrides does not keep a lost pod down.
func TestN2_TypoThenPodLost_ComesBackOnTheLastGoodConfiguration(t *testing.T) {
	w := newOperatedWorld(t)
	before := w.bringUp(fullNode("n"))
	w.override("n", "mempool.sise", "1")
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonSpecInvalid)
	})
	w.losePod("n")
	w.running("n")
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionInSync, metav1.ConditionTrue, "") && n.Status.Plan == nil
	})
	if is(n, v1alpha1.ConditionReady, metav1.ConditionTrue, "") || n.Status.ConfigHash != before.Status.ConfigHash {
		t.Errorf("Ready %+v, configuration %s, want not ready on %s", n.Status.Conditions, n.Status.ConfigHash, before.Status.ConfigHash)
	}
	wantMessage(t, n, v1alpha1.ConditionReady, "mempool.sise")
	w.override("n", "mempool.sise", "")
	w.await("n", settled)
}

// N3: a configuration that seid refuses neither takes the node down nor holds a lost pod; once
// it is unset the node is in order within one plan.
func TestN3_RefusedConfiguration_NodeGoesOnAndRecovers(t *testing.T) {
	w := newOperatedWorld(t)
	w.refuseMempool("1")
	w.bringUp(fullNode("n"))
	w.override("n", "mempool.size", "1")
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonConfigRefused) && n.Status.Plan == nil
	})
	wantMessage(t, n, v1alpha1.ConditionSpecValid, "the mempool does not fit")
	wantCondition(t, n, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonConfigRefused)
	if is(n, v1alpha1.ConditionReady, metav1.ConditionTrue, "") {
		t.Errorf("condition Ready is %+v, want another status than True", conditions.Get(n.Status.Conditions, v1alpha1.ConditionReady))
	}
	w.losePod("n")
	w.running("n")
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionInSync, metav1.ConditionTrue, "") && n.Status.Plan == nil
	})
	w.override("n", "mempool.size", "")
	w.await("n", settled)
	w.sound()
}

// N4: a change made while the node was paused is written before the gate is opened, in one plan
// and without a restart.
func TestN4_ChangeWhilePaused_IsOnePlan(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Paused = true })
	envtest.WaitGone[corev1.Pod](t, w.Env, w.NS, "n-0")
	w.override("n", "evm.http_port", "8547")
	plans := w.node("n").Status.LastPlan.ID
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Paused = false })
	n := w.await("n", settled)
	if got := count(w.Sidecars.Submissions(w.Key("n")), api.RestartSeid); got != 0 {
		t.Errorf("seid was restarted %d times", got)
	}
	if n.Status.LastPlan.Reason != domain.ReasonConfigChanged || n.Status.LastPlan.ID == plans {
		t.Errorf("last plan %+v, want one for the changed configuration", n.Status.LastPlan)
	}
	if starts := w.Sidecars.Starts(w.Key("n")); starts[len(starts)-1].Overrides["evm.http_port"] != "8547" {
		t.Errorf("seid was started with %v", starts[len(starts)-1].Overrides)
	}
}

// N5: a pod lost during a reconfiguration supersedes it: what is missing now is an open gate,
// not a restart.
func TestN5_PodLostDuringReconfiguration_IsSupersededAtOnce(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	release := make(chan struct{})
	remove := w.Sidecars.Program(w.Key("n"), api.RestartSeid, sidecarsim.Outcome{Do: func(ctx context.Context, _ sidecarsim.Call) (any, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return nil, ctx.Err()
	}})
	w.override("n", "evm.http_port", "8547")
	w.Eventually("the restart to begin", func() bool { return count(w.Sidecars.Submissions(w.Key("n")), api.RestartSeid) == 1 })
	w.losePod("n")
	close(release)
	remove()
	n := w.await("n", settled)
	if n.Status.LastPlan.Outcome != v1alpha1.OutcomeComplete {
		t.Errorf("last plan %+v", n.Status.LastPlan)
	}
	if starts := w.Sidecars.Starts(w.Key("n")); starts[len(starts)-1].Overrides["evm.http_port"] != "8547" {
		t.Errorf("seid runs with %v", starts[len(starts)-1].Overrides)
	}
	w.sound()
}

// N6: going back to the old configuration while the new one is being rolled out ends with the old
// one on disk and running.
func TestN6_ConfigurationThereAndBack_EndsWhereItBegan(t *testing.T) {
	w := newOperatedWorld(t)
	before := w.bringUp(fullNode("n"))
	w.Sidecars.Program(w.Key("n"), api.RestartSeid, sidecarsim.Outcome{Error: errors.New("seid did not come back"), Times: 1})
	w.override("n", "evm.http_port", "8547")
	w.Eventually("the new configuration on disk", func() bool { return w.Sidecars.Home(w.Key("n")).ConfigHash != before.Status.ConfigHash })
	w.override("n", "evm.http_port", "")
	n := w.await("n", settled)
	if home := w.Sidecars.Home(w.Key("n")); home.ConfigHash != before.Status.ConfigHash || n.Status.ConfigHash != before.Status.ConfigHash {
		t.Errorf("on disk %s, in status %s, want %s", home.ConfigHash, n.Status.ConfigHash, before.Status.ConfigHash)
	}
	if got := w.Sidecars.Process(w.Key("n")).ConfigHash; got != before.Status.ConfigHash {
		t.Errorf("seid runs with %s, want %s", got, before.Status.ConfigHash)
	}
}

// N7: an update whose configuration the new version refuses keeps the gate closed and says so;
// going back works.
func TestN7_UpdateThatRefusesItsConfiguration_StaysClosedAndRollsBack(t *testing.T) {
	w := newOperatedWorld(t)
	w.Sidecars.RefuseConfig(func(_ map[string]string, version string) error {
		if strings.Contains(version, "seid:b") {
			return errors.New("seid panics: unknown key")
		}
		return nil
	})
	w.bringUp(fullNode("n"))
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return n.Status.Plan == nil && is(n, v1alpha1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, v1alpha1.ReasonUpdateFailed)
	})
	wantMessage(t, n, v1alpha1.ConditionNodeUpdateInProgress, "unknown key")
	w.forceReconciles("n", 3)
	if w.Sidecars.Ready(w.Key("n")) {
		t.Error("the gate was opened on a configuration that the new version refuses")
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:a" })
	w.await("n", settled)
	w.sound()
}

// N8: a restart that is due stays due until it happened, whatever the tasks in between said.
func TestN8_RestartThatFailed_IsDueUntilItHappened(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	remove := w.Sidecars.Program(w.Key("n"), api.RestartSeid, sidecarsim.Outcome{
		Error: api.Terminal(api.CodeInternal, errors.New("seid could not be stopped")),
	})
	w.override("n", "evm.http_port", "8547")
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return n.Status.Plan == nil && n.Status.LastPlan.FailedTask == domain.StepRestartSeid
	})
	if is(n, v1alpha1.ConditionReady, metav1.ConditionTrue, "") {
		t.Error("Ready although seid runs with the old configuration")
	}
	remove()
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"} })
	w.await("n", settled)
	if got := w.Sidecars.Process(w.Key("n")).RestartDue; len(got) != 0 {
		t.Errorf("a restart is still due for %v", got)
	}
}

// N9, S6: a peer that appears never restarts a node, in sync or in its first sync.
func TestN9_PeerAppears_RestartsNothing(t *testing.T) {
	w := newOperatedWorld(t)
	n := fullNode("n")
	n.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{StateSync: &v1alpha1.StateSyncSnapshot{}, RPCServers: []v1alpha1.HostPort{"a:1", "b:1"}}
	n.Spec.Peers = []v1alpha1.PeerSource{{Label: &v1alpha1.LabelPeers{Selector: map[string]string{"team": "sei"}}}}
	w.Sidecars.SetInSync(w.Key("n"), false)
	w.Create(n)
	w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.Phase == v1alpha1.NodeRunning && n.Status.Plan == nil })
	peer := fullNode("peer")
	peer.Labels = map[string]string{"team": "sei"}
	w.bringUp(peer)
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return len(n.Status.ResolvedPeers) == 1 && n.Status.Plan == nil && n.Status.LastPlan.Reason == domain.ReasonPeersChanged
	})
	if !w.Sidecars.Disk(w.Key("n")).StateSync {
		t.Error("state sync was switched off during the first sync")
	}
	w.Sidecars.SetInSync(w.Key("n"), true)
	w.await("n", settled)
}

// N10: an operator with another default image takes over in the middle of an update. The update
// ends at its own target; nothing else restarts.
func TestN10_OperatorUpgradedDuringAnUpdate_EndsAtItsTarget(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	pullable := w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:b"}, pullError())
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonImagePullFailed)
	})
	w.Stop()
	w.Platform.Images.Sidecar = "sidecar:2"
	pullable()
	w.StartOperator()
	n := w.await("n", settled)
	if n.Status.CurrentSidecarImage != "sidecar:1" {
		t.Errorf("the pod runs %s, want the sidecar the update began with", n.Status.CurrentSidecarImage)
	}
	wantCondition(t, n, v1alpha1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, v1alpha1.ReasonPendingRestart)
}

// N10, S6: nor does an operator with another default image throw away a restore that takes hours. It
// ends, and the node comes up with what it began with.
func TestN10_OperatorUpgradedDuringARestore_TheRestoreGoesOn(t *testing.T) {
	w := newOperatedWorld(t)
	restored := make(chan struct{})
	w.Sidecars.Program(w.Key("n"), api.SnapshotRestore, sidecarsim.Outcome{Do: func(ctx context.Context, _ sidecarsim.Call) (any, error) {
		select {
		case <-restored:
		case <-ctx.Done():
		}
		return nil, ctx.Err()
	}})
	n := fullNode("n")
	n.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{S3: &v1alpha1.S3Snapshot{TargetHeight: 100}, RPCServers: []v1alpha1.HostPort{"a:1", "b:1"}}
	w.Create(n)
	w.Eventually("the restore to begin", func() bool { return count(w.Sidecars.Submissions(w.Key("n")), api.SnapshotRestore) == 1 })
	pod := &corev1.Pod{}
	w.Get("n-0", pod)
	w.Stop()
	w.Platform.Images.Sidecar = "sidecar:2"
	w.StartOperator()
	w.forceReconciles("n", 2)
	close(restored)
	n = w.await("n", settled)
	now := &corev1.Pod{}
	w.Get("n-0", now)
	if got := count(w.Sidecars.Submissions(w.Key("n")), api.SnapshotRestore); got != 1 || now.UID != pod.UID {
		t.Errorf("the snapshot was restored %d times, pod %s became %s", got, pod.UID, now.UID)
	}
	wantCondition(t, n, v1alpha1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, v1alpha1.ReasonPendingRestart)
}

// N12: the source of the first state is switched while the bring-up hangs on the old one.
func TestN12_SnapshotSourceSwitchedDuringBringUp_IsSuperseded(t *testing.T) {
	w := newOperatedWorld(t)
	w.Sidecars.Program(w.Key("n"), api.SnapshotRestore, sidecarsim.Outcome{Hang: true})
	n := fullNode("n")
	n.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{S3: &v1alpha1.S3Snapshot{TargetHeight: 100}, RPCServers: []v1alpha1.HostPort{"a:1", "b:1"}}
	w.Create(n)
	w.Eventually("the restore to begin", func() bool { return count(w.Sidecars.Submissions(w.Key("n")), api.SnapshotRestore) == 1 })
	w.edit("n", func(n *v1alpha1.SeiNode) {
		n.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{StateSync: &v1alpha1.StateSyncSnapshot{}, RPCServers: []v1alpha1.HostPort{"a:1", "b:1"}}
	})
	w.await("n", settled)
	if got := count(w.Sidecars.Submissions(w.Key("n")), api.ConfigureStateSync); got != 1 {
		t.Errorf("state sync was set up %d times", got)
	}
}

// N13, S6: a webhook that rewrites images on their way into a pod changes nothing for the operator.
func TestN13_WebhookRewritesImages_NothingIsUpdated(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	rewritten := func() {
		pod := &corev1.Pod{}
		w.Get("n-0", pod)
		w.patch(pod, func() { pod.Spec.Containers[0].Image = "mirror.example.org/" + pod.Spec.Containers[0].Image })
	}
	rewritten()
	w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.CurrentImage == "mirror.example.org/seid:a" })
	mark := w.Recorder.Mark()
	w.forceReconciles("n", 5)
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes because of a rewritten image")
	if n := w.node("n"); n.Status.Plan != nil || n.Status.LastPlan.Reason != domain.ReasonNewNode {
		t.Errorf("plan %+v, last plan %+v", n.Status.Plan, n.Status.LastPlan)
	}
}

// N16: sidecars that swallow every request cost their own nodes time and no other: however many hang,
// no worker waits for one, and a healthy node's edit is done with while they are all still silent.
func TestN16_BlackHoledSidecars_DoNotHoldUpAHealthyNode(t *testing.T) {
	w := newOperatedWorld(t)
	const silent = 35
	name := func(i int) string { return fmt.Sprintf("silent-%02d", i) }
	for i := range silent {
		w.Create(fullNode(name(i)))
	}
	w.Create(fullNode("healthy"))
	for i := range silent {
		w.await(name(i), settled)
		pod := &corev1.Pod{}
		w.Get(name(i)+"-0", pod)
		w.Sidecars.SetReachable(pod.UID, false)
	}
	w.await("healthy", settled)
	// A worker that waits for a sidecar looks at no other. Twice the workers: a caller that has given up
	// may be noticed a moment after the next one came.
	look := 0
	w.Eventually("more sidecars to be waited for at once than there are workers", func() bool {
		look++
		for i := range silent {
			w.edit(name(i), func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{"look": fmt.Sprint(look)} })
		}
		return w.Sidecars.Hanging() > 2*manager.DefaultConcurrency
	})
	w.edit("healthy", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("healthy", settled)
	for i := range silent {
		w.await(name(i), func(n *v1alpha1.SeiNode) bool {
			return is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionUnknown, v1alpha1.ReasonSidecarUnreachable)
		})
	}
	w.sound()
}
