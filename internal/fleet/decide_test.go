package fleet_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

func TestLeavesAlone_WhatIsNotOursOrWouldWaitInVain(t *testing.T) {
	live := func(change func(*v1alpha1.SeiNode)) *v1alpha1.SeiNode {
		node := &v1alpha1.SeiNode{}
		change(node)
		return node
	}
	there := live(func(*v1alpha1.SeiNode) {})
	going := live(func(n *v1alpha1.SeiNode) { n.DeletionTimestamp = new(metav1.Now()) })
	blocked, running := fleet.Ceremony{State: fleet.CeremonyBlocked}, fleet.Ceremony{State: fleet.CeremonyRunning}
	for name, c := range map[string]struct {
		ceremony fleet.Ceremony
		member   fleet.Member
		want     bool
	}{
		"a node of ours":                       {running, fleet.Member{Live: there}, false},
		"to be made":                           {running, fleet.Member{}, false},
		"somebody else's":                      {running, fleet.Member{Live: there, Foreign: "theirs"}, true},
		"about to go":                          {running, fleet.Member{Live: going}, true},
		"to be made, without a genesis":        {blocked, fleet.Member{}, true},
		"there, without a genesis":             {blocked, fleet.Member{Live: there}, false},
		"to be made, its port is not known":    {running, fleet.Member{Target: fleet.Child{Awaits: "a port"}}, true},
		"there, its new port is not known yet": {running, fleet.Member{Live: there, Target: fleet.Child{Awaits: "a port"}}, false},
	} {
		d := fleet.Decision{Ceremony: c.ceremony}
		if got := d.LeavesAlone(&c.member); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestReportTerminating_SaysWhetherItWaitsForNodes(t *testing.T) {
	for name, c := range map[string]struct {
		policy v1alpha1.VolumeDeletionPolicy
		bound  int
		want   string
	}{
		"nodes go first":        {v1alpha1.VolumeDelete, 2, "the fleet is being deleted: waiting for its nodes to stop"},
		"the last one went":     {v1alpha1.VolumeDelete, 0, "the fleet is being deleted"},
		"its nodes are to stay": {v1alpha1.VolumeRetain, 2, "the fleet is being deleted"},
	} {
		snd := rpcFleet()
		snd.Generation, snd.Spec.DeletionPolicy = 7, c.policy
		fleet.ReportTerminating(snd, c.bound, time.Now())
		said := conditions.Get(snd.Status.Conditions, v1alpha1.ConditionNodesReady)
		if said == nil || said.Message != c.want || said.Reason != v1alpha1.ReasonTerminating || snd.Status.Phase != v1alpha1.DeploymentTerminating || snd.Status.ObservedGeneration != 7 {
			t.Errorf("%s: %+v, want not nil, Message %v, Reason %v, Phase %v and ObservedGeneration 7", name, snd.Status, c.want, v1alpha1.ReasonTerminating, v1alpha1.DeploymentTerminating)
		}
	}
}
