package fleet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// SpecProblems lists what of a fleet's spec does not do what was meant, beyond what admission
// refuses. Each names the field and the way out.
func SpecProblems(snd *v1alpha1.SeiNodeDeployment) []string {
	var problems []string
	if partition := Partition(snd); partition > int(snd.Spec.Replicas) {
		problems = append(problems, fmt.Sprintf(
			"spec.updateStrategy.inPlace.partition is %d, beyond the %d replicas, so no node is updated: set it to %[2]d or less",
			partition, snd.Spec.Replicas))
	}
	if shared := sharedAddress(snd); shared > 1 {
		problems = append(problems, fmt.Sprintf("spec.template.spec.externalAddress makes %d nodes announce the same address: "+
			"remove it, and set spec.nodes[].externalAddress for each, or spec.networking.tcp", shared))
	}
	ordinals := Ordinals(snd)
	for i, s := range snd.Spec.Nodes {
		if !slices.Contains(ordinals, int(s.Ordinal)) {
			problems = append(problems, fmt.Sprintf("spec.nodes[%d].ordinal is %d, and the fleet has no such node (its ordinals are %s): correct or remove the entry",
				i, s.Ordinal, ranges(ordinals)))
		}
	}
	return problems
}

// ranges writes ascending numbers as 0-3, 5.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.Itoa(numbers[i])
		if j > i {
			part += "-" + strconv.Itoa(numbers[j])
		}
		parts, i = append(parts, part), j+1
	}
	return strings.Join(parts, ", ")
}

// sharedAddress counts the nodes that would announce the address of the template.
func sharedAddress(snd *v1alpha1.SeiNodeDeployment) int {
	if snd.Spec.Template.Spec.ExternalAddress == "" || snd.Spec.Networking.TCPEnabled() {
		return 0
	}
	count := 0
	for _, ordinal := range Ordinals(snd) {
		if settingsOf(snd, ordinal).ExternalAddress == "" {
			count++
		}
	}
	return count
}
