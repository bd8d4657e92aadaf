package fleet

import (
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// TakeOver removes from a fleet's status what another operator of these kinds has left there and meant
// differently: its plan, its rollout, and its own hash of the template. Otherwise the hash would begin a
// rollout although no node has to move. That it has started the chain is kept as a fact, where it left
// only a condition. The selector says whose status it is: only this operator writes it.
func TakeOver(snd *v1alpha1.SeiNodeDeployment) {
	status := &snd.Status
	if status.Selector != "" {
		return
	}
	status.Plan, status.Rollout, status.TemplateHash = nil, nil, ""
	if conditions.Is(status.Conditions, v1alpha1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, "") {
		status.GenesisConfigMap = GenesisName(snd.Name)
	}
}

// KeepingLabels is the node with the podLabels of our domain that it was given by another operator, or
// by this one before admission refused them, as long as it has all others that are wanted. No pod gets
// them from us, but without them the spec would be another one, and the pod would be replaced.
func (c Child) KeepingLabels(live *v1alpha1.SeiNode) Child {
	ofUsers := func(labels map[string]v1alpha1.LabelValue) map[string]v1alpha1.LabelValue {
		labels = maps.Clone(labels)
		maps.DeleteFunc(labels, func(key string, _ v1alpha1.LabelValue) bool { return strings.HasPrefix(key, v1alpha1.LabelDomain) })
		return labels
	}
	if maps.Equal(c.Spec.PodLabels, live.Spec.PodLabels) || !maps.Equal(ofUsers(c.Spec.PodLabels), ofUsers(live.Spec.PodLabels)) {
		return c
	}
	c.Spec = c.Spec.DeepCopy()
	c.Spec.PodLabels = maps.Clone(live.Spec.PodLabels)
	return c
}
