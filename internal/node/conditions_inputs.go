package node

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// inputCondition is a condition about something the user hands in, and the tasks that
// check it.
type inputCondition struct {
	conditionType string
	tasks         []string
	applies       func(*v1alpha1.SeiNodeSpec) bool
	validated     string
	notReady      string
	// waits are the reasons with which the tasks wait for the user.
	waits []string
}

var inputConditions = []inputCondition{
	{
		conditionType: v1alpha1.ConditionImportPVCReady,
		tasks:         []string{StepEnsureDataPVC},
		applies:       func(s *v1alpha1.SeiNodeSpec) bool { return s.ImportedClaim() != "" },
		validated:     v1alpha1.ReasonPVCValidated,
		notReady:      v1alpha1.ReasonPVCNotReady,
		waits:         []string{v1alpha1.ReasonPVCNotReady, v1alpha1.ReasonPVCInvalid},
	},
	{
		conditionType: v1alpha1.ConditionSigningKeyReady,
		tasks:         []string{StepMarkReady, StepValidateSigningKey, StepReserveConsensusKey},
		applies:       (*v1alpha1.SeiNodeSpec).Signs,
		validated:     v1alpha1.ReasonSigningKeyValidated,
		notReady:      v1alpha1.ReasonSigningKeyNotReady,
		waits:         []string{v1alpha1.ReasonSigningKeyNotReady, v1alpha1.ReasonSigningKeyInvalid, v1alpha1.ReasonKeyInUse, v1alpha1.ReasonKeyChanged},
	},
	{
		conditionType: v1alpha1.ConditionNodeKeyReady,
		tasks:         []string{StepValidateNodeKey},
		applies:       func(s *v1alpha1.SeiNodeSpec) bool { return s.NodeKeySecret() != "" },
		validated:     v1alpha1.ReasonNodeKeyValidated,
		notReady:      v1alpha1.ReasonNodeKeyNotReady,
		waits:         []string{v1alpha1.ReasonNodeKeyNotReady, v1alpha1.ReasonNodeKeyInvalid},
	},
	{
		conditionType: v1alpha1.ConditionOperatorKeyringReady,
		tasks:         []string{StepValidateOperatorKeyring},
		applies:       func(s *v1alpha1.SeiNodeSpec) bool { return s.OperatorKeyringSecret() != nil },
		validated:     v1alpha1.ReasonOperatorKeyringValidated,
		notReady:      v1alpha1.ReasonOperatorKeyringNotReady,
		waits:         []string{v1alpha1.ReasonOperatorKeyringNotReady, v1alpha1.ReasonOperatorKeyringInvalid},
	},
}

// inputs is about the inputs whose tasks ran in this pass. What an earlier
// pass found holds for this generation too: an input that was checked is in use.
func (r *report) inputs() {
	for _, c := range inputConditions {
		status, reason, message, known := c.judge(&r.Progress)
		if !c.applies(&r.Node.Spec) && (!known || status != metav1.ConditionFalse) {
			r.set.False(c.conditionType, v1alpha1.ReasonNotApplicable, "")
			continue
		}
		if known {
			r.set.Set(c.conditionType, status, reason, message)
		} else if v, news := r.mountedKey(); news && c.conditionType == v1alpha1.ConditionSigningKeyReady {
			r.setVerdict(c.conditionType, v)
		} else if !applies(r.status.Conditions, c.conditionType) {
			r.set.Unknown(c.conditionType, c.notReady, "not checked yet")
		} else if r.Err == nil {
			r.again(c.conditionType)
		}
	}
}

// again says of this generation what a condition has said before.
func (r *report) again(conditionType string) {
	if said := conditions.Get(r.status.Conditions, conditionType); said != nil {
		r.set.Set(conditionType, said.Status, said.Reason, said.Message)
	}
}

// judge looks at the condition's steps: one that waits for the user speaks; otherwise the last
// one decides, if it ran.
func (c inputCondition) judge(progress *plan.Progress) (status metav1.ConditionStatus, reason, message string, known bool) {
	for _, t := range c.tasks {
		if o, ran := progress.Outcome(t); ran && o.IsWait() && slices.Contains(c.waits, o.Reason) {
			return metav1.ConditionFalse, o.Reason, o.Message, true
		}
	}
	if last, ran := progress.Outcome(c.tasks[len(c.tasks)-1]); ran && last.IsDone() {
		return metav1.ConditionTrue, c.validated, "", true
	}
	return "", "", "", false
}

// mountedKey is about the key in the pod while no plan looks at the Secret: the kubelet replaces
// it there under a seid that runs, which will not be started with another key.
func (r *report) mountedKey() (verdict, bool) {
	document, reserved := r.Facts.Document, r.ConsensusAddress
	if document == nil || document.Home.ConsensusAddress == "" || reserved == "" || r.activePlan() != nil {
		return verdict{}, false
	}
	if mounted := document.Home.ConsensusAddress; mounted != reserved {
		return no(v1alpha1.ReasonKeyChanged, fmt.Sprintf(
			"the pod now has consensus key %s; this node has signed with %s, and seid starts with no other key: "+
				"restore the old key%s, or create a new SeiNode",
			mounted, reserved, intoSecret(r.Node.Spec.SigningKeySecret()))), true
	}
	was := conditions.Get(r.status.Conditions, v1alpha1.ConditionSigningKeyReady)
	return verdict{metav1.ConditionTrue, v1alpha1.ReasonSigningKeyValidated, ""}, was != nil && was.Reason == v1alpha1.ReasonKeyChanged
}

func intoSecret(name string) string {
	if name == "" {
		return " onto the volume"
	}
	return " into Secret " + name
}
