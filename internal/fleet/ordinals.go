package fleet

import (
	"slices"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Ordinals are those of the nodes the fleet shall have, ascending.
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

// ChooseOrdinals decides which nodes the fleet shall have, as it is kept in status: nothing when
// they are the first ones. An ordinal is a node's identity, so the others keep theirs when one
// goes: of too many, those that are marked go first and then the highest; of too few, the lowest
// that are free are added. own are the fleet's nodes, for a fleet whose status says nothing.
func ChooseOrdinals(snd *v1alpha1.SeiNodeDeployment, own []*v1alpha1.SeiNode) []int32 {
	chosen, marked := slices.Clone(snd.Status.Ordinals), map[int32]bool{}
	for _, node := range own {
		ordinal, ok := ordinalOf(node)
		if !ok {
			continue
		}
		marked[ordinal] = removedFirst(node)
		if len(snd.Status.Ordinals) == 0 {
			chosen = append(chosen, ordinal)
		}
	}
	replicas := int(snd.Spec.Replicas)
	slices.SortFunc(chosen, func(a, b int32) int {
		if marked[a] != marked[b] {
			return map[bool]int{false: -1, true: 1}[marked[a]]
		}
		return int(a - b)
	})
	chosen = chosen[:min(len(chosen), replicas)]
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

func ordinalOf(node *v1alpha1.SeiNode) (int32, bool) {
	_, ordinal, ok := ParseChildName(node.Name)
	return int32(ordinal), ok
}

// removedFirst reports whether a node is to go before others when its fleet is scaled down.
func removedFirst(node *v1alpha1.SeiNode) bool {
	value, there := node.Annotations[v1alpha1.AnnotationRemoveFirst]
	return there && value != "false"
}
