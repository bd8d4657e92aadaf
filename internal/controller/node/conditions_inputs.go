package node

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	domain "github.com/sei-operator/sei-operator/internal/node"
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
		tasks:         []string{domain.StepEnsureDataPVC},
		applies:       func(s *v1alpha1.SeiNodeSpec) bool { return s.ImportedClaim() != "" },
		validated:     v1alpha1.ReasonPVCValidated,
		notReady:      v1alpha1.ReasonPVCNotReady,
		waits:         []string{v1alpha1.ReasonPVCNotReady, v1alpha1.ReasonPVCInvalid},
	},
	{
		conditionType: v1alpha1.ConditionSigningKeyReady,
		tasks:         []string{domain.StepValidateSigningKey, domain.StepReserveConsensusKey},
		applies:       func(s *v1alpha1.SeiNodeSpec) bool { return s.SigningKeySecret() != "" },
		validated:     v1alpha1.ReasonSigningKeyValidated,
		notReady:      v1alpha1.ReasonSigningKeyNotReady,
		waits:         []string{v1alpha1.ReasonSigningKeyNotReady, v1alpha1.ReasonSigningKeyInvalid, v1alpha1.ReasonKeyInUse, v1alpha1.ReasonKeyChanged},
	},
	{
		conditionType: v1alpha1.ConditionNodeKeyReady,
		tasks:         []string{domain.StepValidateNodeKey},
		applies:       func(s *v1alpha1.SeiNodeSpec) bool { return s.NodeKeySecret() != "" },
		validated:     v1alpha1.ReasonNodeKeyValidated,
		notReady:      v1alpha1.ReasonNodeKeyNotReady,
		waits:         []string{v1alpha1.ReasonNodeKeyNotReady, v1alpha1.ReasonNodeKeyInvalid},
	},
	{
		conditionType: v1alpha1.ConditionOperatorKeyringReady,
		tasks:         []string{domain.StepValidateOperatorKeyring},
		applies:       func(s *v1alpha1.SeiNodeSpec) bool { return s.OperatorKeyringSecret() != nil },
		validated:     v1alpha1.ReasonOperatorKeyringValidated,
		notReady:      v1alpha1.ReasonOperatorKeyringNotReady,
		waits:         []string{v1alpha1.ReasonOperatorKeyringNotReady, v1alpha1.ReasonOperatorKeyringInvalid},
	},
}

// inputConditions speaks of the inputs whose tasks ran in this pass. What an earlier
// pass found stays: an input that was checked is in use.
func (s *scope) inputConditions(set conditions.Setter) {
	for _, c := range inputConditions {
		if !c.applies(&s.node.Spec) {
			set.False(c.conditionType, v1alpha1.ReasonNotApplicable, "")
			continue
		}
		status, reason, message, known := c.judge(s)
		if known {
			conditions.Set(&s.node.Status.Conditions, s.node.Generation, s.now, c.conditionType, status, reason, message)
		} else if old := conditions.Get(s.node.Status.Conditions, c.conditionType); old == nil || old.Reason == v1alpha1.ReasonNotApplicable {
			set.Unknown(c.conditionType, c.notReady, "not checked yet")
		}
	}
}

// judge looks at the condition's steps: one that waits for the user speaks; otherwise the last
// one decides, if it ran.
func (c inputCondition) judge(s *scope) (status metav1.ConditionStatus, reason, message string, known bool) {
	for _, t := range c.tasks {
		if o, ran := s.progress.Outcome(t); ran && o.IsWait() && slices.Contains(c.waits, o.Reason) {
			return metav1.ConditionFalse, o.Reason, o.Message, true
		}
	}
	if last, ran := s.progress.Outcome(c.tasks[len(c.tasks)-1]); ran && last.IsDone() {
		return metav1.ConditionTrue, c.validated, "", true
	}
	return "", "", "", false
}
