package fleet_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

func TestMinReady_AsAskedForOrTenSeconds(t *testing.T) {
	for name, c := range map[string]struct {
		strategy *v1alpha1.UpdateStrategy
		want     time.Duration
	}{
		"no strategy":    {nil, 10 * time.Second},
		"nothing of it":  {&v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{}}, 10 * time.Second},
		"no time at all": {&v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MinReadySeconds: new(int32(0))}}, 0},
		"a minute":       {&v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MinReadySeconds: new(int32(60))}}, time.Minute},
	} {
		snd := rpcFleet()
		snd.Spec.UpdateStrategy = c.strategy
		if got := fleet.MinReady(snd); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A node that serves while Ready is False is being updated: its time has not begun.
func TestObserve_InSyncAndNotReady_DoesNotCountTheTimeSinceThen(t *testing.T) {
	snd := rpcFleet()
	live := runningNode(t, snd, "seid:a")
	readyFalse(live, v1alpha1.ReasonOutOfDate)
	readySince(live, time.Second)
	condition(live, v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonInSync)
	if n := judged(t, snd, live, ""); !n.Ready || n.Soak != 0 {
		t.Errorf("%+v, want Ready true and Soak 0", n)
	}
}

// runningNode is the first node of a fleet, in sync on an image.
func runningNode(t *testing.T, snd *v1alpha1.SeiNodeDeployment, image string) *v1alpha1.SeiNode {
	t.Helper()
	live := liveOf(t, snd, 0)
	live.Spec.Image = image
	live.Status = v1alpha1.SeiNodeStatus{ObservedGeneration: 1, Phase: v1alpha1.NodeRunning}
	condition(live, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync)
	return live
}

func TestPartition_HoldsBackWhoIsBelowItAndBehind(t *testing.T) {
	for name, c := range map[string]struct {
		partition int32
		image     string
		held      bool
		why       string
	}{
		"behind, below it":   {1, "seid:0", true, "updateStrategy.inPlace.partition holds it back"},
		"behind, not below":  {0, "seid:0", false, "it is waiting for its turn"},
		"current, below it":  {1, "seid:a", false, ""},
		"to be made":         {1, "", false, "it is being created"},
		"current, not below": {0, "seid:a", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			snd := rpcFleet()
			partitionOf(c.partition)(snd)
			var live *v1alpha1.SeiNode
			if c.image != "" {
				live = runningNode(t, snd, c.image)
			}
			if n := judged(t, snd, live, ""); n.Held != c.held || !strings.Contains(n.Why, c.why) {
				t.Errorf("held %t, %q", n.Held, n.Why)
			}
		})
	}
}

// A rollout does not wait for nodes that a partition holds back, but one of them that is down takes
// budget, and that is said.
func TestWaitingOn_NodesThatAreHeld_AreNotWaitedFor(t *testing.T) {
	held := fleet.Node{Name: "rpc-0", Held: true, Ready: true, InForce: true, Why: "held"}
	next := fleet.Node{Name: "rpc-1", Ordinal: 1, Ready: true, InForce: true, Why: "why"}
	if got := fleet.WaitingOn([]fleet.Node{held, next}); got != "rpc-1: why" {
		t.Errorf("waiting on %q", got)
	}
	held.Ready = false
	if got := fleet.WaitingOn([]fleet.Node{held, next}); got != "rpc-1: why; rpc-0 is down and counts against maxUnavailable" {
		t.Errorf("waiting on %q", got)
	}
}
