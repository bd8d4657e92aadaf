package fleet

import (
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// seen is a node at a resource version.
func seen(ordinal int, at int, image string, inSync metav1.ConditionStatus, ready string) *v1alpha1.SeiNode {
	n := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{
		Name: child(stormy, ordinal), UID: types.UID(strconv.Itoa(ordinal)), ResourceVersion: strconv.Itoa(at),
		Labels: map[string]string{v1alpha1.LabelDeploymentOrdinal: strconv.Itoa(ordinal)},
	}}
	n.Spec.Image = image
	n.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionInSync, Status: inSync},
		{Type: v1alpha1.ConditionReady, Status: inSync, Reason: ready},
	}
	return n
}

// unseen is a node that was not reconciled since its spec was written.
func unseen(n *v1alpha1.SeiNode, at int) *v1alpha1.SeiNode {
	n = n.DeepCopy()
	n.ResourceVersion, n.Generation = strconv.Itoa(at), n.Generation+1
	return n
}

func askedFor(at int, image string) *v1alpha1.SeiNodeDeployment {
	f := unavailable(rpc(stormy, 3), 1, 600)
	f.ResourceVersion, f.Spec.Template.Spec.Image = strconv.Itoa(at), image
	return f
}

// A move breaks a rule only if the operator's caches held what it depends on.
func TestViolations_OfAMove_AreJudgedByWhatTheCachesHeld(t *testing.T) {
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	failed := seen(0, 10, "seid:bad", no, v1alpha1.ReasonImagePullFailed)
	before, after := seen(1, 11, "seid:a", yes, ""), seen(1, 30, "seid:bad", yes, "")
	reason := func(n *v1alpha1.SeiNode) string {
		return strings.Join(history{nodes: []*v1alpha1.SeiNode{n}}.violations(1), "")
	}
	if got := reason(after); got != "" {
		t.Errorf("a node that was made is no move: %s", got)
	}
	for name, c := range map[string]struct {
		allowed int
		other   *v1alpha1.SeiNode
		since   []*v1alpha1.SeiNode
		fleets  []*v1alpha1.SeiNodeDeployment
		change  func(*v1alpha1.SeiNodeDeployment)
		want    []string
	}{
		"nobody is down":                       {allowed: 1, other: seen(0, 10, "seid:bad", yes, "")},
		"one is down, as allowed":              {allowed: 2, other: seen(0, 10, "seid:a", no, "")},
		"as many as allowed are down already":  {allowed: 1, other: seen(0, 10, "seid:a", no, ""), want: []string{"[storm-0] were down"}},
		"nobody knows":                         {allowed: 1, other: seen(0, 10, "seid:a", unknown, ""), want: []string{"[storm-0] were down"}},
		"it came back in between":              {allowed: 1, other: seen(0, 10, "seid:a", no, ""), since: []*v1alpha1.SeiNode{seen(0, 20, "seid:a", yes, "")}},
		"it came back later":                   {allowed: 1, other: seen(0, 10, "seid:a", no, ""), since: []*v1alpha1.SeiNode{seen(0, 40, "seid:a", yes, "")}, want: []string{"[storm-0] were down"}},
		"past one that failed":                 {allowed: 2, other: failed, want: []string{"past storm-0"}},
		"past one that failed with other spec": {allowed: 2, other: seen(0, 10, "seid:b", no, v1alpha1.ReasonImagePullFailed)},
		"the change was replaced":              {allowed: 2, other: failed, fleets: []*v1alpha1.SeiNodeDeployment{askedFor(20, "seid:b"), askedFor(22, "seid:bad")}},
		"it was written to and not looked at":  {allowed: 2, other: failed, since: []*v1alpha1.SeiNode{unseen(failed, 20)}, want: []string{"past storm-0"}},
		"replaced later":                       {allowed: 2, other: failed, fleets: []*v1alpha1.SeiNodeDeployment{askedFor(40, "seid:b")}, want: []string{"past storm-0"}},
		"paused":                               {allowed: 1, change: func(f *v1alpha1.SeiNodeDeployment) { f.Spec.Paused = true }, want: []string{"paused"}},
		"held back":                            {allowed: 1, change: func(f *v1alpha1.SeiNodeDeployment) { f.Spec.UpdateStrategy.InPlace.Partition = 2 }, want: []string{"holds it back"}},
		"not held back":                        {allowed: 1, change: func(f *v1alpha1.SeiNodeDeployment) { f.Spec.UpdateStrategy.InPlace.Partition = 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			k := knowledge{version: 15, fleet: askedFor(15, "seid:bad")}
			if c.change != nil {
				c.change(k.fleet)
			}
			later := k.fleet.DeepCopy()
			later.ResourceVersion = "50"
			h := history{nodes: append([]*v1alpha1.SeiNode{before, after}, c.since...), fleets: append(c.fleets, later)}
			if c.other != nil {
				k.nodes, h.nodes = []v1alpha1.SeiNode{*c.other}, append(h.nodes, c.other)
			}
			if early := h.violations(c.allowed); len(early) > 0 {
				t.Errorf("nobody knew: %q", early)
			}
			h.known = []knowledge{k}
			got := h.violations(c.allowed)
			if len(got) != len(c.want) || len(got) == 1 && !strings.Contains(got[0], c.want[0]) {
				t.Errorf("violations %q, want %q", got, c.want)
			}
		})
	}
}
