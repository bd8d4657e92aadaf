package fleet

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// IsRetained reports whether a node is what an earlier fleet of the same name left behind and this
// one has no room for. It runs on by itself and keeps the label by which a larger fleet would take it
// over, but it is not behind the fleet's Services: nobody rolls it, and its chain data may be another's.
func IsRetained(snd *v1alpha1.SeiNodeDeployment, node *v1alpha1.SeiNode) bool {
	name, ordinal, ok := ParseChildName(node.Name)
	return ok && name == snd.Name && !slices.Contains(Ordinals(snd), ordinal) &&
		node.Labels[v1alpha1.LabelDeployment] == snd.Name && metav1.GetControllerOf(node) == nil && !Owns(snd, node)
}
