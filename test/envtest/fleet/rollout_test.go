package fleet

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

func image(to string) func(*v1alpha1.SeiNodeDeployment) {
	return func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image = to }
}

// runs is a settled fleet on an image.
func runs(image string) func(*v1alpha1.SeiNodeDeployment) bool {
	return func(s *v1alpha1.SeiNodeDeployment) bool {
		for _, n := range s.Status.Nodes {
			if n.CurrentImage != image {
				return false
			}
		}
		return settled(s)
	}
}

// A2: changed patches rise during a rollout and stay the same after it.
func TestRollout_HealthyFleet_MovesOneByOne(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 3))
	watch := w.watchNodes()
	before := w.patches("rpc", statuspatch.Changed)
	w.edit("rpc", image("seid:b"))
	rolling := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.Rollout != nil })
	wantCondition(t, rolling, v1alpha1.ConditionRolloutInProgress, metav1.ConditionTrue, v1alpha1.ReasonRollingOut)
	if r := rolling.Status.Rollout; rolling.Status.Phase != v1alpha1.DeploymentUpgrading || r.Total != 3 || !strings.HasPrefix(r.WaitingOn, "rpc-0: ") {
		t.Errorf("phase %s, rollout %+v, want %s and one of 3 nodes that waits on rpc-0", rolling.Status.Phase, r, v1alpha1.DeploymentUpgrading)
	}
	done := w.await("rpc", runs("seid:b"))
	watch.require(t, 1)
	wantCondition(t, done, v1alpha1.ConditionRolloutInProgress, metav1.ConditionFalse, v1alpha1.ReasonRolloutComplete)
	if got, want := done.Status.TemplateHash, rolling.Status.Rollout.TargetHash; got != want {
		t.Errorf("hash of the template %s, want %s, which was rolled out", got, want)
	}
	w.AwaitEvent("", events.RolloutStarted)
	w.AwaitEvent("", events.RolloutComplete)
	after := w.patches("rpc", statuspatch.Changed)
	if after <= before {
		t.Errorf("changed patches went from %v to %v", before, after)
	}
	w.forceReconcile("rpc")
	if still := w.patches("rpc", statuspatch.Changed); still != after {
		t.Errorf("changed patches went on from %v to %v at rest", after, still)
	}
}

// Live fields reach every node at once, also while a rollout holds some of them back.
func TestRollout_LiveFields_DoNotWaitForTheirTurn(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 3))
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:bad"}, podsim.Behaviour{PullError: "no such image"})
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Template.Spec.Image = "seid:bad"
		s.Spec.Template.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeRetain}
	})
	for _, name := range []string{"rpc-0", "rpc-1", "rpc-2"} {
		w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool { return n.Spec.DataVolume != nil })
	}
	if n := w.Node("rpc-2"); n.Spec.Image != "seid:a" {
		t.Errorf("rpc-2 has image %s before its turn", n.Spec.Image)
	}
}

func TestRollout_BadImage_HurtsNoMoreThanAllowedSaysWhyAndIsRolledBack(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(unavailable(rpc("rpc", 10), 2, 1))
	watch := w.watchNodes()
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:bad"}, podsim.Behaviour{PullError: "no such image"})
	w.edit("rpc", image("seid:bad"))
	stalled := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionRolloutStalled, metav1.ConditionTrue, v1alpha1.ReasonDeadlineExceeded) &&
			strings.Contains(message(s, v1alpha1.ConditionRolloutStalled), "Ready is False")
	})
	text := message(stalled, v1alpha1.ConditionRolloutStalled)
	if !strings.Contains(text, "waiting on rpc-0") || !strings.Contains(text, "has completed in 1s") {
		t.Errorf("message %q, want that it is waiting on rpc-0, and since when", text)
	}
	w.AwaitEvent("", events.RolloutStalled)
	if stalled.Status.ReadyReplicas < 8 {
		t.Errorf("%d of 10 are ready", stalled.Status.ReadyReplicas)
	}
	// Restarts of the operator change nothing about that.
	started := stalled.Status.Rollout.StartedAt
	w.RestartOperator()
	w.forceWrite("rpc")
	if again := w.fleet("rpc"); again.Status.Rollout == nil || !again.Status.Rollout.StartedAt.Equal(&started) {
		t.Errorf("the rollout was forgotten: %+v", again.Status.Rollout)
	}
	watch.require(t, 2)
	watch.reset()
	w.edit("rpc", image("seid:a"))
	w.await("rpc", runs("seid:a"))
	watch.require(t, 2)
	w.AwaitEvent("", events.RolloutSuperseded)
}

func TestRollout_NodesThatAreDown_MoveAtOnceAndFirst(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 4))
	for _, name := range []string{"rpc-1", "rpc-2", "rpc-3"} {
		w.Sidecars.SetInSync(w.Key(name), false)
	}
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.ReadyReplicas == 1 && s.Status.Phase == v1alpha1.DeploymentDegraded
	})
	w.edit("rpc", image("seid:b"))
	for _, name := range []string{"rpc-1", "rpc-2", "rpc-3"} {
		w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool { return n.Status.CurrentImage == "seid:b" && n.Status.Plan == nil })
	}
	if n := w.Node("rpc-0"); n.Spec.Image != "seid:a" || !fleet.IsReady(n) {
		t.Errorf("the only node in sync was moved: %s", n.Spec.Image)
	}
	for _, name := range []string{"rpc-1", "rpc-2", "rpc-3"} {
		w.Sidecars.SetInSync(w.Key(name), true)
	}
	w.await("rpc", runs("seid:b"))
}

func TestRollout_ReplicasLoweredInTheMiddle_Ends(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 3))
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Pod: "rpc-2-0"}, podsim.Behaviour{NotReady: true})
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.ReadyReplicas == 2 })
	w.edit("rpc", image("seid:b"))
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.Rollout != nil })
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas = 2 })
	w.await("rpc", runs("seid:b"))
}

// A restart of the whole fleet goes by the same rule, though it changes no spec.
func TestRollout_RestartAnnotationInTheTemplate_RestartsOneByOne(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 3))
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Pod: "rpc-0-0"}, podsim.Behaviour{NotReady: true})
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.ReadyReplicas == 2 })
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Template.Metadata.Annotations = map[string]string{v1alpha1.AnnotationRestart: "now"}
	})
	w.AwaitNode("rpc-0", func(n *v1alpha1.SeiNode) bool {
		return n.Annotations[v1alpha1.AnnotationRestart] == "now" && n.Status.LastPlan.Reason == "RestartRequested"
	})
	for _, name := range []string{"rpc-1", "rpc-2"} {
		if n := w.Node(name); n.Annotations[v1alpha1.AnnotationRestart] != "" {
			t.Errorf("%s restarts while rpc-0 is down", name)
		}
	}
}

func TestPause_FreezesTheFleetAndGoesOnWhereItWas(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 2))
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Paused = true })
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.Phase == v1alpha1.DeploymentPaused && is(s, v1alpha1.ConditionPaused, metav1.ConditionTrue, v1alpha1.ReasonPaused)
	})
	mark := w.Recorder.Mark()
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image, s.Spec.Replicas = "seid:b", 3 })
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Pod: "rpc-1-0"}, podsim.Behaviour{NotReady: true})
	frozen := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.ObservedGeneration == s.Generation && s.Status.ReadyReplicas == 1
	})
	w.Recorder.Since(mark).Of("seinodes").Writes().In(w.NS).RequireNone(t, "writes of nodes by a paused fleet")
	if frozen.Status.Replicas != 2 || frozen.Status.Phase != v1alpha1.DeploymentPaused {
		t.Errorf("%d replicas, phase %s, want 2 and %s", frozen.Status.Replicas, frozen.Status.Phase, v1alpha1.DeploymentPaused)
	}
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Paused = false })
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.Replicas == 3 && s.Status.Rollout != nil })
	w.AwaitEvent("", events.Resumed)
}

func TestPause_OfTheTemplate_StopsThePodsAtOnce(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 2))
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Paused = true })
	stopped := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.ReadyReplicas == 0 && s.Status.Phase == v1alpha1.DeploymentPaused
	})
	if stopped.Status.Rollout != nil {
		t.Errorf("stopping is no rollout: %+v", stopped.Status.Rollout)
	}
	w.edit("rpc", image("seid:b"))
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.UpdatedReplicas == 2 && s.Status.Rollout == nil
	})
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Paused = false })
	w.await("rpc", runs("seid:b"))
}
