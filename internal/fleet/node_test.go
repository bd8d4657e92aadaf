package fleet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/platform"
)

func condition(n *v1alpha1.SeiNode, conditionType string, status metav1.ConditionStatus, reason string) {
	n.Status.Conditions = append(n.Status.Conditions, metav1.Condition{Type: conditionType, Status: status, Reason: reason})
}

func readySince(n *v1alpha1.SeiNode, ago time.Duration) {
	n.Status.Conditions[0].LastTransitionTime = metav1.NewTime(passAt.Add(-ago))
}

// judged is what a decision makes of the first node of a fleet.
func judged(t *testing.T, snd *v1alpha1.SeiNodeDeployment, live *v1alpha1.SeiNode, restarted string) fleet.Node {
	t.Helper()
	member := fleet.Member{Target: fleet.Target(snd, platform.Default(), 0), Live: live, Restarted: restarted}
	d, err := fleet.Decide(&fleet.Observation{Fleet: snd, Members: []fleet.Member{member}, Now: passAt}, platform.Default())
	if err != nil {
		t.Fatal(err)
	}
	return d.Nodes[0]
}

func TestObserve_OnlyASettledReadyNode_IsAvailable(t *testing.T) {
	now := metav1.Now()
	cases := map[string]struct {
		change                      func(*v1alpha1.SeiNode)
		current, settled, available bool
		why                         string
	}{
		"in sync":         {func(*v1alpha1.SeiNode) {}, true, true, true, "it is being updated"},
		"old image":       {func(n *v1alpha1.SeiNode) { n.Spec.Image, n.Status.CurrentImage = "seid:0", "seid:0" }, false, true, true, "is waiting for its turn"},
		"not seen yet":    {func(n *v1alpha1.SeiNode) { n.Generation = 2 }, true, false, false, "it is being updated"},
		"plan":            {func(n *v1alpha1.SeiNode) { n.Status.Plan = &v1alpha1.TaskPlan{} }, true, false, false, "it is being updated"},
		"rewritten image": {func(n *v1alpha1.SeiNode) { n.Status.CurrentImage = "mirror/seid:a" }, true, true, true, "it is being updated"},
		"in sync on another spec": {func(n *v1alpha1.SeiNode) {
			n.Status.Conditions[0].Status, n.Status.Conditions[0].Reason = metav1.ConditionFalse, v1alpha1.ReasonOutOfDate
			condition(n, v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonInSync)
		}, true, false, false, "Ready is False: OutOfDate"},
		"not in sync":     {func(n *v1alpha1.SeiNode) { n.Status.Conditions[0].Status = "False" }, true, true, false, "Ready is False: InSync"},
		"initializing":    {func(n *v1alpha1.SeiNode) { n.Status.Phase = v1alpha1.NodeInitializing }, true, false, false, ""},
		"restart to come": {func(n *v1alpha1.SeiNode) { n.Annotations[v1alpha1.AnnotationRestart] = "2" }, true, false, false, ""},
		"restarted":       {func(n *v1alpha1.SeiNode) { n.Annotations[v1alpha1.AnnotationRestart] = "1" }, true, true, true, ""},
		"going":           {func(n *v1alpha1.SeiNode) { n.DeletionTimestamp = &now }, true, false, false, "it is being created"},
		"invalid": {func(n *v1alpha1.SeiNode) {
			condition(n, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, "Invalid")
		}, true, false, false, "SpecValid is False"},
		"a volume that cannot grow": {func(n *v1alpha1.SeiNode) {
			condition(n, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonVolumeNotResized)
			condition(n, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonVolumeNotResized)
		}, true, true, true, ""},
		"peers changed":                    {func(n *v1alpha1.SeiNode) { n.Status.Plan = &v1alpha1.TaskPlan{Reason: domain.ReasonPeersChanged} }, true, true, true, ""},
		"Ready for a moment":               {func(n *v1alpha1.SeiNode) { readySince(n, 9*time.Second) }, true, false, false, "less than minReadySeconds"},
		"Ready for long enough":            {func(n *v1alpha1.SeiNode) { readySince(n, 10*time.Second) }, true, true, true, ""},
		"not seen yet, Ready for a moment": {func(n *v1alpha1.SeiNode) { n.Generation = 2; readySince(n, time.Second) }, true, false, false, "it is being updated"},
		"old, Ready for a while":           {func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:0"; readySince(n, time.Second) }, false, false, false, "less than minReadySeconds"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			snd := rpcFleet()
			live := liveOf(t, snd, 0)
			live.Status = v1alpha1.SeiNodeStatus{ObservedGeneration: 1, Phase: v1alpha1.NodeRunning, CurrentImage: "seid:a"}
			condition(live, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync)
			tc.change(live)
			n := judged(t, snd, live, "1")
			if n.Current != tc.current || n.Settled() != tc.settled || n.Available() != tc.available || !strings.Contains(n.Why, tc.why) {
				t.Errorf("%+v, want Current %v, Settled %v, Available %v and %q in it", n, tc.current, tc.settled, tc.available, tc.why)
			}
		})
	}
}

func TestObserve_StoppedNode_IsDoneWithoutBeingReady(t *testing.T) {
	snd := rpcFleet()
	snd.Spec.Template.Spec.Paused = true
	live := liveOf(t, snd, 0)
	live.Status = v1alpha1.SeiNodeStatus{ObservedGeneration: 1, Phase: v1alpha1.NodeRunning, CurrentImage: "seid:0"}
	n := judged(t, snd, live, "")
	if !n.Done() || n.Available() {
		t.Errorf("%+v, want Done true and Available false", n)
	}
}

func TestObserve_NoNode_IsUnavailableAndMadeFromTheTemplate(t *testing.T) {
	if n := judged(t, rpcFleet(), nil, ""); !n.Current || n.Available() || n.Done() {
		t.Errorf("%+v, want Current true, Available false and Done false", n)
	}
}

func TestObserve_FailedNode_SaysWhy(t *testing.T) {
	target := func(config string) *v1alpha1.PlanTarget {
		return &v1alpha1.PlanTarget{SpecHash: "s", ConfigHash: config}
	}
	failed := &v1alpha1.PlanSummary{
		Reason: domain.ReasonConfigChanged, Outcome: v1alpha1.OutcomeFailed, FailedTask: "config-validate", Error: "no", Target: target("c"),
	}
	stalled := func(n *v1alpha1.SeiNode, reason string) {
		condition(n, v1alpha1.ConditionStalled, metav1.ConditionTrue, reason)
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.SeiNode)
		want   string
	}{
		"in sync":                    {func(*v1alpha1.SeiNode) {}, ""},
		"out of sync":                {func(n *v1alpha1.SeiNode) { readyFalse(n, v1alpha1.ReasonCatchingUp) }, ""},
		"an update goes on":          {func(n *v1alpha1.SeiNode) { n.Status.Plan = &v1alpha1.TaskPlan{Target: target("c")} }, ""},
		"a plan failed":              {func(n *v1alpha1.SeiNode) { stalled(n, v1alpha1.ReasonHeldBack) }, "Stalled is True: HeldBack"},
		"a plan failed for a volume": {func(n *v1alpha1.SeiNode) { stalled(n, v1alpha1.ReasonVolumeNotResized) }, ""},
		"a refused configuration": {func(n *v1alpha1.SeiNode) {
			condition(n, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonConfigRefused)
		}, "SpecValid is False: ConfigRefused"},
		"crash-looping":              {func(n *v1alpha1.SeiNode) { readyFalse(n, v1alpha1.ReasonPodCrashLooping) }, "Ready is False: PodCrashLooping"},
		"an image that is not there": {func(n *v1alpha1.SeiNode) { readyFalse(n, v1alpha1.ReasonImagePullFailed) }, "Ready is False: ImagePullFailed"},
		"a Secret that is not there": {func(n *v1alpha1.SeiNode) { readyFalse(n, v1alpha1.ReasonContainerConfigFailed) }, "Ready is False: ContainerConfigFailed"},
		"bring-up failed": {func(n *v1alpha1.SeiNode) {
			n.Status.Phase = v1alpha1.NodeFailed
			readyFalse(n, v1alpha1.ReasonInitFailed)
		}, "InitFailed"},
		"tried again": {func(n *v1alpha1.SeiNode) {
			n.Status.LastPlan, n.Status.Plan = failed, &v1alpha1.TaskPlan{Target: target("c")}
		}, "failed at step config-validate and is retried: no"},
		"another configuration": {func(n *v1alpha1.SeiNode) {
			n.Status.LastPlan, n.Status.Plan = failed, &v1alpha1.TaskPlan{Target: target("d")}
		}, ""},
		"went back after the failure": {func(n *v1alpha1.SeiNode) { n.Status.LastPlan = failed }, ""},
		"a spec nobody has read":      {func(n *v1alpha1.SeiNode) { n.Generation++; stalled(n, v1alpha1.ReasonHeldBack) }, ""},
		"stopped":                     {func(n *v1alpha1.SeiNode) { n.Spec.Paused = true; readyFalse(n, v1alpha1.ReasonPodCrashLooping) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			snd := rpcFleet()
			live := liveOf(t, snd, 0)
			live.Status = v1alpha1.SeiNodeStatus{ObservedGeneration: 1, Phase: v1alpha1.NodeRunning}
			condition(live, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync)
			c.change(live)
			got := judged(t, snd, live, "").Failed
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("failed %q, want %q", got, c.want)
			}
		})
	}
}

// F1: a change of a live field writes to all nodes. One that failed with the template has failed
// until it was looked at again, and nobody moves past it; nor is it said to have failed with what
// nobody has tried.
func TestDecide_LiveChangeAfterAFailure_MovesNobodyUntilTheNodeWasLookedAt(t *testing.T) {
	snd := rpcFleet()
	snd.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MaxUnavailable: new(intstr.FromInt32(2))}}
	o := &fleet.Observation{Fleet: snd, Now: passAt}
	for i := range 3 {
		live := liveOf(t, snd, i)
		live.Generation, live.Status = 2, v1alpha1.SeiNodeStatus{ObservedGeneration: 1, Phase: v1alpha1.NodeRunning}
		condition(live, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync)
		if i > 0 {
			live.Spec.Image = "seid:0"
		}
		o.Members = append(o.Members, fleet.Member{Target: fleet.Target(snd, platform.Default(), i), Live: live})
	}
	moves := func() []int {
		d, err := fleet.Decide(o, platform.Default())
		if err != nil {
			t.Fatal(err)
		}
		if _, failed := fleet.FirstFailed(d.Nodes); failed {
			t.Error("a node failed that was not looked at")
		}
		return d.Moves
	}
	first := o.Members[0].Live
	readyFalse(first, v1alpha1.ReasonImagePullFailed)
	if got := moves(); len(got) > 0 {
		t.Errorf("%v move past a node that had failed and was not looked at since", got)
	}
	first.Status.ObservedGeneration = 2
	readyFalse(first, v1alpha1.ReasonCatchingUp)
	if got := moves(); !slices.Equal(got, []int{1}) {
		t.Errorf("%v move once the node was looked at, want the first of the others", got)
	}
}

func readyFalse(n *v1alpha1.SeiNode, reason string) {
	n.Status.Conditions[0].Status, n.Status.Conditions[0].Reason = metav1.ConditionFalse, reason
}

func TestObserve_SilentKubelet_IsNeitherUpNorDown(t *testing.T) {
	snd := rpcFleet()
	live := liveOf(t, snd, 0)
	live.Status = v1alpha1.SeiNodeStatus{ObservedGeneration: 1, Phase: v1alpha1.NodeRunning}
	if n := judged(t, snd, live, ""); !n.Unknown || n.Ready {
		t.Errorf("without any condition: %+v", n)
	}
	condition(live, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonPodUnknown)
	if n := judged(t, snd, live, ""); !n.Unknown || n.Ready || n.Done() {
		t.Errorf("Unknown: %+v", n)
	}
}
