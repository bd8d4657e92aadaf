package fleet

import (
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// SpecProblems lists what of a fleet's spec does not do what was meant, beyond what admission
// refuses. Each names the field and the way out.
func SpecProblems(snd *v1alpha1.SeiNodeDeployment) []string {
	var problems []string
	if partition := Partition(snd); partition > int(snd.Spec.Replicas) {
		problems = append(problems, fmt.Sprintf(
			"spec.updateStrategy.inPlace.partition is %d, beyond the %d replicas, so that no node takes over a change: set it to %d or less", partition, snd.Spec.Replicas, snd.Spec.Replicas))
	}
	if snd.Spec.Template.Spec.ExternalAddress != "" && snd.Spec.Replicas > 1 && !snd.Spec.Networking.TCPEnabled() {
		problems = append(problems, fmt.Sprintf("spec.template.spec.externalAddress makes %d nodes announce the same address: "+
			"remove it, and set spec.nodes[].externalAddress for each, or spec.networking.tcp", snd.Spec.Replicas))
	}
	return problems
}
