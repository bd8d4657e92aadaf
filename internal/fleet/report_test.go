package fleet_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

var passAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// scene is a fleet of three nodes that a pass looks at. It begins with nodes that run the
// template and are in sync.
type scene struct {
	snd     *v1alpha1.SeiNodeDeployment
	members []fleet.Member
	surplus []*v1alpha1.SeiNode
	err     error
	// unseen: the pass failed before it saw the nodes.
	unseen bool
	// later is how long after passAt the pass is.
	later time.Duration
	// recheck is when the report asked for another look.
	recheck time.Duration
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{snd: rpcFleet()}
	s.snd.Spec.Replicas = 3
	for ordinal := range 3 {
		live := liveOf(t, s.snd, ordinal)
		live.Status = v1alpha1.SeiNodeStatus{ObservedGeneration: live.Generation, Phase: v1alpha1.NodeRunning, CurrentImage: live.Spec.Image}
		condition(live, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync)
		s.members = append(s.members, fleet.Member{Target: fleet.Target(s.snd, platform.Default(), ordinal), Live: live})
		s.snd.Status.Nodes = append(s.snd.Status.Nodes, v1alpha1.FleetNode{Name: live.Name, Synced: true})
	}
	hash, err := fleet.TargetHash(s.snd, platform.Default())
	if err != nil {
		t.Fatal(err)
	}
	s.snd.Status.TemplateHash = hash
	return s
}

func (s *scene) live(ordinal int) *v1alpha1.SeiNode { return s.members[ordinal].Live }

// down has a node fall out of sync.
func (s *scene) down(ordinal int) { s.ready(ordinal, metav1.ConditionFalse, v1alpha1.ReasonNotInSync) }

func (s *scene) ready(ordinal int, status metav1.ConditionStatus, reason string) {
	c := conditions.Get(s.live(ordinal).Status.Conditions, v1alpha1.ConditionReady)
	c.Status, c.Reason = status, reason
}

// rolling is a rollout to what the template asks for, without progress since the given time.
func (s *scene) rolling(since time.Time) {
	s.snd.Status.Rollout = &v1alpha1.RolloutStatus{TargetHash: s.snd.Status.TemplateHash, StartedAt: metav1.NewTime(since), Total: 3}
	s.snd.Status.TemplateHash = "an older one"
}

// stop has a node be stopped, and its target ask for that.
func (s *scene) stop(ordinal int) {
	s.live(ordinal).Spec.Paused = true
	s.members[ordinal].Target.Spec.Paused = true
	s.down(ordinal)
}

func (s *scene) partition(ordinal int32) {
	s.snd.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{Partition: ordinal}}
}

// reported is the fleet after a pass that could only look.
func (s *scene) reported(t *testing.T) *v1alpha1.SeiNodeDeployment {
	t.Helper()
	pass := fleet.Pass{Observed: fleet.Observation{Fleet: s.snd.DeepCopy(), Now: passAt.Add(s.later)}, Result: fleet.Result{Err: s.err}}
	if !s.unseen {
		pass.Observed.Members, pass.Observed.Surplus = s.members, s.surplus
		d, err := fleet.Decide(&pass.Observed, platform.Default())
		if err != nil {
			t.Fatal(err)
		}
		pass.Decision, pass.Result.Members, pass.Result.Nodes = d, s.members, d.Judge(&pass.Observed, s.members)
	}
	s.recheck = pass.Report(s.snd, platform.Default())
	return s.snd
}

func failedPlan() *v1alpha1.PlanSummary {
	return &v1alpha1.PlanSummary{Outcome: v1alpha1.OutcomeFailed, Reason: fleet.ReasonGenesisCeremony}
}

func TestReport_Phase(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scene)
		want   v1alpha1.SeiNodeDeploymentPhase
	}{
		"every node is in sync": {func(*scene) {}, v1alpha1.DeploymentReady},
		"none is there yet":     {func(s *scene) { drop(s, 0); drop(s, 1); drop(s, 2) }, v1alpha1.DeploymentPending},
		"one is there":          {func(s *scene) { drop(s, 0); drop(s, 1) }, v1alpha1.DeploymentInitializing},
		"one is being brought up": {func(s *scene) {
			s.live(1).Status.Phase = v1alpha1.NodeInitializing
			s.down(1)
		}, v1alpha1.DeploymentInitializing},
		"one is being brought up, another failed": {func(s *scene) {
			s.live(1).Status.Phase, s.live(2).Status.Phase = v1alpha1.NodeInitializing, v1alpha1.NodeFailed
			s.down(1)
			s.down(2)
		}, v1alpha1.DeploymentDegraded},
		"one fell out of sync": {func(s *scene) { s.down(1) }, v1alpha1.DeploymentDegraded},
		"one syncs for the first time": {func(s *scene) {
			s.snd.Status.Nodes[1].Synced = false
			s.down(1)
		}, v1alpha1.DeploymentInitializing},
		"one syncs for the first time, another fell out of sync": {func(s *scene) {
			s.snd.Status.Nodes[1].Synced = false
			s.down(1)
			s.down(2)
		}, v1alpha1.DeploymentDegraded},
		"one was made again": {func(s *scene) {
			s.live(1).Status.Phase = v1alpha1.NodePending
			s.down(1)
		}, v1alpha1.DeploymentInitializing},
		"one is stopped": {func(s *scene) { s.stop(1) }, v1alpha1.DeploymentReady},
		"could not be looked at": {func(s *scene) {
			s.snd.Status.Phase = v1alpha1.DeploymentDegraded
			s.unseen, s.err = true, errors.New("the cache is closed")
		}, v1alpha1.DeploymentDegraded},
		"one failed": {func(s *scene) {
			s.live(1).Status.Phase = v1alpha1.NodeFailed
			s.down(1)
		}, v1alpha1.DeploymentDegraded},
		"all failed": {func(s *scene) {
			for i := range 3 {
				s.live(i).Status.Phase = v1alpha1.NodeFailed
				s.down(i)
			}
		}, v1alpha1.DeploymentFailed},
		"a change is on its way": {func(s *scene) {
			s.rolling(passAt)
			s.down(0)
		}, v1alpha1.DeploymentUpgrading},
		"paused": {func(s *scene) { s.snd.Spec.Paused = true }, v1alpha1.DeploymentPaused},
		"paused in a rollout": {func(s *scene) {
			s.snd.Spec.Paused = true
			s.rolling(passAt)
			s.down(0)
		}, v1alpha1.DeploymentPaused},
		"its nodes are stopped": {func(s *scene) { s.snd.Spec.Template.Spec.Paused = true }, v1alpha1.DeploymentPaused},
		"the ceremony failed": {func(s *scene) {
			s.snd.Spec.Genesis = &v1alpha1.GenesisCeremony{}
			s.snd.Status.LastPlan = failedPlan()
		}, v1alpha1.DeploymentFailed},
		"a ceremony failed after the genesis was there": {func(s *scene) {
			s.snd.Spec.Genesis = &v1alpha1.GenesisCeremony{}
			s.snd.Status.LastPlan, s.snd.Status.GenesisHash = failedPlan(), "hash"
		}, v1alpha1.DeploymentReady},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			c.change(s)
			was, got := s.snd.Status.Phase, s.reported(t)
			if got.Status.Phase != c.want {
				t.Errorf("phase %s, want %s", got.Status.Phase, c.want)
			}
			if since := got.Status.PhaseTransitionTime; was != c.want && (since == nil || !since.Time.Equal(passAt)) {
				t.Errorf("in phase %s since %v, want since this pass", got.Status.Phase, since)
			}
		})
	}
}

// drop takes a node away.
func drop(s *scene, ordinal int) { s.members[ordinal].Live = nil }

func TestReport_Conditions(t *testing.T) {
	type said struct {
		conditionType string
		status        metav1.ConditionStatus
		reason, words string
	}
	for name, c := range map[string]struct {
		change func(*scene)
		want   []said
	}{
		"every node is in sync": {func(*scene) {}, []said{
			{v1alpha1.ConditionNodesReady, "True", v1alpha1.ReasonAllNodesReady, "3 of 3 nodes are in sync"},
			{v1alpha1.ConditionRolloutInProgress, "False", v1alpha1.ReasonRolloutNotStarted, ""},
			{v1alpha1.ConditionRolloutStalled, "False", v1alpha1.ReasonNoRollout, ""},
			{v1alpha1.ConditionPaused, "False", v1alpha1.ReasonNotPaused, ""},
			{v1alpha1.ConditionPlanInProgress, "False", v1alpha1.ReasonNoPlan, ""},
			{v1alpha1.ConditionGenesisCeremonyComplete, "False", v1alpha1.ReasonNotApplicable, ""},
		}},
		"one fell out of sync": {func(s *scene) { s.down(1) }, []said{
			{v1alpha1.ConditionNodesReady, "False", v1alpha1.ReasonNodesNotReady, "2 of 3 nodes are in sync; rpc-1: Ready is False: NotInSync"},
		}},
		"one is being made": {func(s *scene) { drop(s, 2) }, []said{
			{v1alpha1.ConditionNodesReady, "False", v1alpha1.ReasonNodesInitializing, "2 of 3 nodes are in sync; rpc-2: it is being created"},
		}},
		"one failed, one is being made": {func(s *scene) {
			drop(s, 2)
			s.live(1).Status.Phase = v1alpha1.NodeFailed
			s.down(1)
		}, []said{{v1alpha1.ConditionNodesReady, "False", v1alpha1.ReasonNodesFailed, "rpc-1: "}}},
		"one is refused": {func(s *scene) {
			drop(s, 1)
			s.members[1].Refused = "spec.image is too long"
		}, []said{{v1alpha1.ConditionNodesReady, "False", v1alpha1.ReasonNodesFailed, "rpc-1: spec.image is too long"}}},
		"one is somebody else's": {func(s *scene) { s.members[1].Foreign = "it is controlled by another" }, []said{
			{v1alpha1.ConditionNodesReady, "False", v1alpha1.ReasonNodesFailed, "rpc-1: it is controlled by another"},
		}},
		"not all are named": {func(s *scene) {
			s.snd.Spec.Replicas = 5
			s.members = append(s.members, fleet.Member{Target: fleet.Target(s.snd, platform.Default(), 3)}, fleet.Member{Target: fleet.Target(s.snd, platform.Default(), 4)})
			s.down(1)
			s.down(2)
		}, []said{{v1alpha1.ConditionNodesReady, "False", v1alpha1.ReasonNodesInitializing, "; and 1 more"}}},
		"a rollout goes on": {func(s *scene) {
			s.rolling(passAt.Add(-time.Minute))
			s.down(0)
		}, []said{
			{v1alpha1.ConditionRolloutInProgress, "True", v1alpha1.ReasonRollingOut, "2 of 3 nodes are done; waiting on rpc-0: "},
			{v1alpha1.ConditionRolloutStalled, "False", v1alpha1.ReasonRolloutProgressing, ""},
		}},
		"a rollout ends": {func(s *scene) { s.rolling(passAt.Add(-time.Minute)) }, []said{
			{v1alpha1.ConditionRolloutInProgress, "False", v1alpha1.ReasonRolloutComplete, "every node runs the template"},
			{v1alpha1.ConditionRolloutStalled, "False", v1alpha1.ReasonNoRollout, ""},
		}},
		"a rollout stands still": {func(s *scene) {
			s.rolling(passAt.Add(-time.Hour))
			s.snd.Status.Rollout.Updated = 2
			s.down(0)
		}, []said{{v1alpha1.ConditionRolloutStalled, "True", v1alpha1.ReasonDeadlineExceeded, "waiting on rpc-0: "}}},
		"a node that was done fell behind again, which is no progress": {func(s *scene) {
			s.rolling(passAt.Add(-time.Hour))
			s.snd.Status.Rollout.Updated = 3
			s.down(0)
		}, []said{{v1alpha1.ConditionRolloutStalled, "True", v1alpha1.ReasonDeadlineExceeded, "waiting on rpc-0: "}}},
		"paused in a rollout": {func(s *scene) {
			s.snd.Spec.Paused = true
			s.rolling(passAt.Add(-time.Hour))
			s.down(0)
		}, []said{
			{v1alpha1.ConditionPaused, "True", v1alpha1.ReasonPaused, "spec.paused is set"},
			{v1alpha1.ConditionRolloutInProgress, "True", v1alpha1.ReasonRollingOut, "(the fleet is paused)"},
			{v1alpha1.ConditionRolloutStalled, "False", v1alpha1.ReasonRolloutProgressing, ""},
		}},
		"a node failed with the template": {func(s *scene) {
			s.rolling(passAt.Add(-time.Minute))
			s.ready(0, metav1.ConditionFalse, v1alpha1.ReasonPodCrashLooping)
			s.live(1).Spec.Image = "seid:old"
		}, []said{
			{v1alpha1.ConditionRolloutFailed, "True", v1alpha1.ReasonNodeFailed, "rpc-0 failed with the template: Ready is False: PodCrashLooping"},
			{v1alpha1.ConditionRolloutInProgress, "True", v1alpha1.ReasonRollingOut, ""},
		}},
		"an old node failed": {func(s *scene) {
			s.rolling(passAt.Add(-time.Minute))
			s.live(0).Spec.Image = "seid:old"
			s.ready(0, metav1.ConditionFalse, v1alpha1.ReasonPodCrashLooping)
		}, []said{{v1alpha1.ConditionRolloutFailed, "False", v1alpha1.ReasonRolloutProgressing, ""}}},
		"a node refuses the template": {func(s *scene) {
			s.rolling(passAt.Add(-time.Minute))
			s.live(0).Spec.Image = "seid:old"
			s.members[0].Refused = "spec.image is too long"
		}, []said{{v1alpha1.ConditionRolloutFailed, "True", v1alpha1.ReasonNodeFailed, "rpc-0 failed with the template: spec.image is too long"}}},
		"a node failed without a rollout": {func(s *scene) { s.ready(0, metav1.ConditionFalse, v1alpha1.ReasonPodCrashLooping) }, []said{
			{v1alpha1.ConditionRolloutFailed, "False", v1alpha1.ReasonNoRollout, ""},
		}},
		"a volume cannot grow": {func(s *scene) {
			condition(s.live(1), v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonVolumeNotResized)
			s.live(1).Status.Conditions[1].Message = "the class forbids it"
		}, []said{
			{v1alpha1.ConditionResizePending, "True", v1alpha1.ReasonVolumeNotResized, "rpc-1: the class forbids it"},
			{v1alpha1.ConditionNodesReady, "True", v1alpha1.ReasonAllNodesReady, ""},
		}},
		"volumes are as they should be": {func(*scene) {}, []said{{v1alpha1.ConditionResizePending, "False", v1alpha1.ReasonVolumesResized, ""}}},
		"a partition is reached": {func(s *scene) {
			s.rolling(passAt.Add(-time.Minute))
			s.partition(2)
			s.live(0).Spec.Image, s.live(1).Spec.Image = "seid:old", "seid:old"
		}, []said{
			{v1alpha1.ConditionRolloutInProgress, "False", v1alpha1.ReasonRolloutComplete, "every node from ordinal 2 on runs the template; updateStrategy.inPlace.partition holds back 2"},
		}},
		"another operator has started the chain": {startedElsewhere, []said{
			{v1alpha1.ConditionGenesisCeremonyComplete, "True", v1alpha1.ReasonCeremonyComplete, "its genesis is in no ConfigMap yet"},
		}},
		"another operator has started the chain, and no node has its genesis": {func(s *scene) {
			startedElsewhere(s)
			s.snd.Status.LastPlan = &v1alpha1.PlanSummary{
				Outcome: v1alpha1.OutcomeFailed, Reason: fleet.ReasonGenesisMissing, FailedTask: fleet.TaskRestoreGenesis, Error: "lost",
			}
		}, []said{
			{v1alpha1.ConditionGenesisCeremonyComplete, "True", v1alpha1.ReasonCeremonyComplete, "failed at step restore-genesis: lost"},
			{v1alpha1.ConditionStalled, "False", v1alpha1.ReasonProgressing, ""},
		}},
		"could not be looked at": {func(s *scene) { s.unseen, s.err = true, errors.New("the cache is closed") }, []said{
			{v1alpha1.ConditionNodesReady, "Unknown", v1alpha1.ReasonNodesNotReady, "the cache is closed"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			c.change(s)
			got := s.reported(t)
			for _, want := range c.want {
				have := conditions.Get(got.Status.Conditions, want.conditionType)
				if have == nil || have.Status != want.status || have.Reason != want.reason || !strings.Contains(have.Message, want.words) {
					t.Errorf("%+v, want %+v", have, want)
				}
			}
		})
	}
}

// startedElsewhere makes the fleet one of validators whose chain another operator has started.
func startedElsewhere(s *scene) {
	s.snd.Spec.Genesis = &v1alpha1.GenesisCeremony{ChainID: "demo", StakingAmount: "1usei", AccountBalance: "10usei"}
	begunElsewhere(s.snd)
}

func TestReport_APassThatSawNothing_LeavesTheNodesAsTheyWere(t *testing.T) {
	s := newScene(t)
	s.reported(t)
	s.unseen, s.err = true, errors.New("the cache is closed")
	got := s.reported(t)
	if len(got.Status.Nodes) != 3 || got.Status.ReadyReplicas != 3 || !conditions.Is(got.Status.Conditions, v1alpha1.ConditionNodesReady, metav1.ConditionTrue, "") {
		t.Errorf("%d ready nodes of %+v, conditions %+v, want 3 of 3 and %s to be True",
			got.Status.ReadyReplicas, got.Status.Nodes, got.Status.Conditions, v1alpha1.ConditionNodesReady)
	}
}

func TestReport_TheObservationStaysAsItIs(t *testing.T) {
	s := newScene(t)
	s.rolling(passAt)
	s.down(0)
	s.members[1].Live.Spec.Image = "seid:old"
	before := make([]*v1alpha1.SeiNode, 0, len(s.members))
	for i := range s.members {
		before = append(before, s.live(i).DeepCopy())
	}
	s.reported(t)
	for i := range s.members {
		if diff := cmp.Diff(before[i], s.live(i)); diff != "" {
			t.Errorf("node %d (-seen +after):\n%s", i, diff)
		}
	}
}

func TestReport_PartitionReached_TheTemplateIsNotWhatAllNodesWereBroughtTo(t *testing.T) {
	s := newScene(t)
	target := s.snd.Status.TemplateHash
	s.rolling(passAt)
	s.partition(1)
	s.live(0).Spec.Image = "seid:old"
	reached := s.reported(t)
	if reached.Status.Rollout != nil || reached.Status.TemplateHash == target || reached.Status.UpdatedReplicas != 2 {
		t.Errorf("held back: %+v", reached.Status)
	}
	s.partition(0)
	if got := s.reported(t); got.Status.Rollout == nil || got.Status.Rollout.Total != 3 {
		t.Errorf("a lowered partition begins no rollout: %+v", got.Status.Rollout)
	}
	s.live(0).Spec.Image = s.live(1).Spec.Image
	if got := s.reported(t); got.Status.Rollout != nil || got.Status.TemplateHash != target {
		t.Errorf("through: %+v, want Rollout nil and TemplateHash %v", got.Status, target)
	}
}

// A partition that is reached ends the rollout for good: a node that falls out of sync later begins none,
// and lowering the partition does, also where all nodes move in one pass.
func TestReport_PartitionReached_ANodeThatFallsOutOfSync_IsNoRollout(t *testing.T) {
	s := newScene(t)
	s.rolling(passAt)
	s.partition(1)
	s.live(0).Spec.Image = "seid:old"
	s.snd.Status = s.reported(t).Status
	s.down(2)
	if got := s.reported(t); got.Status.Rollout != nil || got.Status.Phase != v1alpha1.DeploymentDegraded {
		t.Errorf("phase %s with rollout %+v, want %s without one", got.Status.Phase, got.Status.Rollout, v1alpha1.DeploymentDegraded)
	}
	s.partition(0)
	s.live(0).Spec.Image = s.live(1).Spec.Image
	if got := s.reported(t); got.Status.Rollout == nil {
		t.Error("a lowered partition begins no rollout")
	}
}

// A rollout is looked at again when the next node counts, and when it has stood still for too long.
func TestReport_ARolloutIsLookedAtAgainInTime(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scene)
		want   time.Duration
	}{
		"no rollout": {func(*scene) {}, 0},
		"a node is down": {func(s *scene) {
			s.rolling(passAt.Add(-time.Minute))
			s.snd.Status.Rollout.Updated = 2
			s.down(0)
		}, 9 * time.Minute},
		"a node is Ready for 4 seconds": {func(s *scene) {
			s.rolling(passAt.Add(-time.Minute))
			readySince(s.live(0), 4*time.Second)
		}, 6 * time.Second},
		"paused": {func(s *scene) { s.rolling(passAt); s.snd.Spec.Paused = true; s.down(0) }, 0},
	} {
		s := newScene(t)
		c.change(s)
		s.reported(t)
		if s.recheck != c.want {
			t.Errorf("%s: looked at again after %v, want %v", name, s.recheck, c.want)
		}
	}
}

// F6: a fleet that was paused for an hour during a rollout has not stood still.
func TestF6_PausedForAnHourInARollout_HasNotStalled(t *testing.T) {
	s := newScene(t)
	s.rolling(passAt.Add(-4 * time.Minute))
	s.snd.Status.Rollout.Updated = 2
	s.down(0)
	stalled := func() bool {
		return conditions.Is(s.reported(t).Status.Conditions, v1alpha1.ConditionRolloutStalled, metav1.ConditionTrue, "")
	}
	s.snd.Spec.Paused = true
	if stalled() {
		t.Error("stalled when paused")
	}
	s.later = time.Hour
	if stalled() {
		t.Error("stalled while paused")
	}
	s.snd.Spec.Paused = false
	if stalled() || s.recheck != 6*time.Minute {
		t.Errorf("resumed: %v left, want the 6 minutes that were left before", s.recheck)
	}
	s.later += 6 * time.Minute
	if !stalled() {
		t.Error("not stalled when the rest of its time is over")
	}
}
