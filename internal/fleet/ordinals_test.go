package fleet_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// owned are nodes of a fleet by their ordinals; negative ones are marked to go first, with -10 for 0.
func owned(ordinals ...int) []*v1alpha1.SeiNode {
	list := make([]*v1alpha1.SeiNode, 0, len(ordinals))
	for _, ordinal := range ordinals {
		meta := metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.AnnotationRemoveFirst: "false"}}
		if ordinal < 0 {
			ordinal, meta.Annotations[v1alpha1.AnnotationRemoveFirst] = -ordinal%10, "true"
		}
		meta.Name, meta.OwnerReferences = fleet.ChildName("rpc", ordinal), []metav1.OwnerReference{*fleet.OwnerReference(rpcFleet())}
		list = append(list, &v1alpha1.SeiNode{ObjectMeta: meta})
	}
	return list
}

// leaving are nodes of a fleet that are being deleted.
func leaving(ordinals ...int) []*v1alpha1.SeiNode {
	list := owned(ordinals...)
	for _, node := range list {
		node.DeletionTimestamp = new(metav1.Now())
	}
	return list
}

// leftBehind are nodes that an earlier fleet of the name has left behind.
func leftBehind(ordinals ...int) []*v1alpha1.SeiNode {
	list := owned(ordinals...)
	for _, node := range list {
		node.OwnerReferences, node.Labels = nil, map[string]string{v1alpha1.LabelDeployment: "rpc"}
	}
	return list
}

// foreign are nodes that somebody else controls.
func foreign(ordinals ...int) []*v1alpha1.SeiNode {
	list := leftBehind(ordinals...)
	for _, node := range list {
		node.OwnerReferences = []metav1.OwnerReference{{Kind: "Other", UID: "other", Controller: new(true)}}
	}
	return list
}

func TestChooseOrdinals_OthersKeepTheirsWhenOneGoes(t *testing.T) {
	for name, c := range map[string]struct {
		replicas int32
		stored   []int32
		own      []*v1alpha1.SeiNode
		want     []int
	}{
		"a new fleet":                            {3, nil, nil, []int{0, 1, 2}},
		"one was deleted by hand":                {3, nil, owned(0, 2), []int{0, 1, 2}},
		"scaled up":                              {4, nil, owned(0, 1), []int{0, 1, 2, 3}},
		"scaled down":                            {2, nil, owned(0, 1, 2, 3), []int{0, 1}},
		"a mark alone":                           {3, nil, owned(0, -1, 2), []int{0, 1, 2}},
		"scaled down with a mark":                {3, nil, owned(0, -1, 2, 3), []int{0, 2, 3}},
		"scaled down by more than is marked":     {2, nil, owned(0, -1, 2, 3), []int{0, 2}},
		"scaled down by less than is marked":     {3, nil, owned(0, -1, -2, 3), []int{0, 1, 3}},
		"the first is marked":                    {1, nil, owned(-10, 1), []int{1}},
		"decided before":                         {3, []int32{0, 2, 3}, owned(0, 2, 3), []int{0, 2, 3}},
		"decided before, the marked one goes on": {3, []int32{0, 2, 3}, owned(0, -1, 2, 3), []int{0, 2, 3}},
		"decided before, one deleted by hand":    {3, []int32{0, 2, 3}, owned(0, 2), []int{0, 2, 3}},
		"decided before, all deleted":            {3, []int32{0, 2, 3}, nil, []int{0, 2, 3}},
		"scaled up again":                        {4, []int32{0, 2, 3}, owned(0, 2, 3), []int{0, 1, 2, 3}},
		"scaled down further":                    {2, []int32{0, 2, 3}, owned(0, 2, 3), []int{0, 2}},
		"the status was lost":                    {3, nil, owned(0, 2, 3), []int{0, 2, 3}},
		"the status was lost, and so was a node": {3, nil, owned(0, 3), []int{0, 1, 3}},
		"scaled to one and up again":             {2, nil, slices.Concat(owned(0), leaving(1, 2)), []int{0, 1}},
		"scaled up again, a lower one has gone":  {2, nil, slices.Concat(owned(0), leaving(2)), []int{0, 1}},
		"scaled down, one deleted by hand":       {2, nil, slices.Concat(leaving(0), owned(1, 2)), []int{0, 1}},
		"all are being deleted":                  {2, nil, leaving(1, 2), []int{0, 1}},
		"decided before, one is being deleted":   {2, []int32{0, 2}, slices.Concat(owned(0), leaving(2)), []int{0, 2}},
		"a new fleet, nodes left behind":         {2, nil, leftBehind(1, 3), []int{1, 3}},
		"nodes of its own and left behind":       {2, nil, slices.Concat(owned(0), leftBehind(3)), []int{0, 1}},
		"decided before, nodes left behind":      {2, []int32{0, 2}, leftBehind(3, 4), []int{0, 2}},
		"a new fleet, nodes of somebody else":    {2, nil, foreign(1, 3), []int{0, 1}},
	} {
		snd := rpcFleet()
		snd.Spec.Replicas, snd.Status.Ordinals = c.replicas, c.stored
		snd.Status.Ordinals = fleet.ChooseOrdinals(snd, c.own)
		if got := fleet.Ordinals(snd); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if first := slices.Max(c.want) == int(c.replicas)-1; first != (snd.Status.Ordinals == nil) {
			t.Errorf("%s: status keeps %v", name, snd.Status.Ordinals)
		}
	}
}

func TestSurplus_OwnNodesBeyondTheFleet_HighestFirst(t *testing.T) {
	snd := rpcFleet()
	snd.Spec.Replicas, snd.Status.Ordinals = 2, []int32{0, 10}
	going := owned(5)
	going[0].DeletionTimestamp = new(metav1.Now())
	stray := owned(1)
	stray[0].Name = "elsewhere"
	surplus := fleet.Surplus(snd, slices.Concat(owned(0, 2, 9, 11, 10), leftBehind(3), foreign(4), going, stray))
	names := make([]string, 0, len(surplus))
	for _, node := range surplus {
		names = append(names, node.Name)
	}
	if want := []string{"rpc-11", "rpc-9", "rpc-2"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

// Whatever is there: there are as many as asked for, a second choice is the same, and no node
// goes that need not.
func TestChooseOrdinals_AnyFleet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snd := rpcFleet()
		snd.Spec.Replicas = int32(rapid.IntRange(1, 8).Draw(t, "replicas"))
		have := rapid.SliceOfNDistinct(rapid.IntRange(0, 9), 0, 8, rapid.ID).Draw(t, "nodes")
		own := owned(have...)
		for _, node := range own {
			if rapid.Bool().Draw(t, "marked") {
				node.Annotations[v1alpha1.AnnotationRemoveFirst] = ""
			}
		}
		snd.Status.Ordinals = fleet.ChooseOrdinals(snd, own)
		chosen := fleet.Ordinals(snd)
		if len(chosen) != int(snd.Spec.Replicas) || !slices.IsSorted(chosen) || len(slices.Compact(slices.Clone(chosen))) != len(chosen) {
			t.Fatalf("%v for %d replicas", chosen, snd.Spec.Replicas)
		}
		kept := 0
		for _, ordinal := range have {
			if slices.Contains(chosen, ordinal) {
				kept++
			}
		}
		if want := min(len(have), int(snd.Spec.Replicas)); kept != want {
			t.Fatalf("%d of %v are kept in %v, want %d", kept, have, chosen, want)
		}
		if again := fleet.ChooseOrdinals(snd, own); !slices.Equal(again, snd.Status.Ordinals) {
			t.Fatalf("%v, then %v", snd.Status.Ordinals, again)
		}
	})
}

func TestSpecProblems_NameTheFieldAndTheWayOut(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha1.SeiNodeDeployment)
		want   string
	}{
		"nothing wrong":     {func(*v1alpha1.SeiNodeDeployment) {}, ""},
		"partition":         {partitionOf(4), "spec.updateStrategy.inPlace.partition is 4, beyond the 3 replicas, so no node is updated: set it to 3 or less"},
		"partition for all": {partitionOf(3), ""},
		"settings":          {func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Nodes = []v1alpha1.NodeSettings{{Ordinal: 2}} }, ""},
		"settings of nobody": {func(s *v1alpha1.SeiNodeDeployment) {
			s.Spec.Nodes = []v1alpha1.NodeSettings{{Ordinal: 0}, {Ordinal: 3}}
		}, "spec.nodes[1].ordinal is 3, and the fleet has no such node (its ordinals are 0-2)"},
		"settings of a removed node": {func(s *v1alpha1.SeiNodeDeployment) {
			s.Spec.Nodes, s.Status.Ordinals = []v1alpha1.NodeSettings{{Ordinal: 1}, {Ordinal: 3}}, []int32{0, 2, 3}
		}, "spec.nodes[0].ordinal is 1, and the fleet has no such node (its ordinals are 0, 2-3)"},
		"one address for all": {func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.ExternalAddress = "a:1" }, "spec.template.spec.externalAddress makes 3 nodes announce the same address"},
		"one address, each its own": {func(s *v1alpha1.SeiNodeDeployment) {
			s.Spec.Template.Spec.ExternalAddress = "a:1"
			for i := range int32(3) {
				s.Spec.Nodes = append(s.Spec.Nodes, v1alpha1.NodeSettings{Ordinal: i, ExternalAddress: "b:1"})
			}
		}, ""},
		"one address for one": {func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.ExternalAddress, s.Spec.Replicas = "a:1", 1 }, ""},
	} {
		snd := rpcFleet()
		c.change(snd)
		if got := strings.Join(fleet.SpecProblems(snd), "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func partitionOf(ordinal int32) func(*v1alpha1.SeiNodeDeployment) {
	return func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{Partition: ordinal}}
	}
}
