package fleet

import (
	"cmp"
	"slices"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Ordinals are those of the nodes the fleet should have, ascending.
func Ordinals(snd *v1alpha1.SeiNodeDeployment) []int {
	ordinals := make([]int, 0, snd.Spec.Replicas)
	if len(snd.Status.Ordinals) == 0 {
		for ordinal := range int(snd.Spec.Replicas) {
			ordinals = append(ordinals, ordinal)
		}
		return ordinals
	}
	for _, ordinal := range snd.Status.Ordinals {
		ordinals = append(ordinals, int(ordinal))
	}
	return ordinals
}

// ChooseOrdinals decides which nodes the fleet should have, as it is kept in status: nothing when
// they are the first ones. An ordinal is a node's identity, so the others keep theirs when one
// goes: of too many, those that are marked go first and then the highest; of too few, the lowest
// that are free are added. The nodes matter to a fleet whose status says nothing. One that is being
// deleted holds its place against those that stay, but not against a lower one that is free: it is
// recreated in any case.
func ChooseOrdinals(snd *v1alpha1.SeiNodeDeployment, nodes []*v1alpha1.SeiNode) []int32 {
	chosen, marked, leaving := slices.Clone(snd.Status.Ordinals), map[int32]bool{}, map[int32]bool{}
	for _, node := range counted(snd, nodes) {
		ordinal, ok := ordinalOf(node)
		if !ok {
			continue
		}
		marked[ordinal] = removedFirst(node)
		if len(snd.Status.Ordinals) == 0 {
			chosen, leaving[ordinal] = append(chosen, ordinal), node.DeletionTimestamp != nil
		}
	}
	replicas := int(snd.Spec.Replicas)
	slices.SortFunc(chosen, func(a, b int32) int {
		if marked[a] != marked[b] {
			return map[bool]int{false: -1, true: 1}[marked[a]]
		}
		return int(a - b)
	})
	chosen = slices.DeleteFunc(chosen[:min(len(chosen), replicas)], func(ordinal int32) bool { return leaving[ordinal] })
	for ordinal := int32(0); len(chosen) < replicas; ordinal++ {
		if !slices.Contains(chosen, ordinal) {
			chosen = append(chosen, ordinal)
		}
	}
	slices.Sort(chosen)
	if int(chosen[len(chosen)-1]) == replicas-1 {
		return nil
	}
	return chosen
}

// counted are the nodes that have a say in which ordinals a fleet has: its own or, for a new fleet
// without any, those that an earlier one of its name has left behind.
func counted(snd *v1alpha1.SeiNodeDeployment, nodes []*v1alpha1.SeiNode) []*v1alpha1.SeiNode {
	own := slices.DeleteFunc(slices.Clone(nodes), func(node *v1alpha1.SeiNode) bool { return !Owns(snd, node) })
	if len(own) > 0 || len(snd.Status.Ordinals) > 0 {
		return own
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(node *v1alpha1.SeiNode) bool {
		return MayAdopt(snd, v1alpha1.KindSeiNode, node) != ""
	})
}

// Surplus are the fleet's nodes that it must not have any more, in the order in which they are
// removed: the highest ordinal first.
func Surplus(snd *v1alpha1.SeiNodeDeployment, nodes []*v1alpha1.SeiNode) []*v1alpha1.SeiNode {
	wanted := Ordinals(snd)
	surplus := slices.DeleteFunc(slices.Clone(nodes), func(node *v1alpha1.SeiNode) bool {
		ordinal, ok := ordinalOf(node)
		return !ok || !Owns(snd, node) || slices.Contains(wanted, int(ordinal)) || node.DeletionTimestamp != nil
	})
	slices.SortFunc(surplus, func(a, b *v1alpha1.SeiNode) int { return cmp.Compare(OrdinalOf(b), OrdinalOf(a)) })
	return surplus
}

// OrdinalOf is the ordinal in a node's name; 0 when it has none.
func OrdinalOf(node *v1alpha1.SeiNode) int {
	_, ordinal, _ := ParseChildName(node.Name)
	return ordinal
}

func ordinalOf(node *v1alpha1.SeiNode) (int32, bool) {
	_, ordinal, ok := ParseChildName(node.Name)
	return int32(ordinal), ok
}

// removedFirst reports whether a node is to go before others when its fleet is scaled down.
func removedFirst(node *v1alpha1.SeiNode) bool {
	value, there := node.Annotations[v1alpha1.AnnotationRemoveFirst]
	return there && value != "false"
}
