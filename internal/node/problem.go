package node

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/text"
)

// maxProblem is how much of a problem is shown, in bytes: a line of a table. The condition has all
// of it.
const maxProblem = 200

// ailment is a status of a condition that calls for somebody to look.
type ailment struct {
	conditionType string
	status        metav1.ConditionStatus
	// reasons limit it to some; empty means every one but NotApplicable.
	reasons []string
}

// ailments are in the order in which they explain each other: the cause comes first. Ready names
// what is wrong with a pod better than a sidecar that cannot be asked; behind it is what does not
// keep a node from being Ready.
var ailments = []ailment{
	{conditionType: v1alpha1.ConditionStalled, status: metav1.ConditionTrue},
	{conditionType: v1alpha1.ConditionSpecValid, status: metav1.ConditionFalse},
	{conditionType: v1alpha1.ConditionImportPVCReady, status: metav1.ConditionFalse},
	{conditionType: v1alpha1.ConditionSigningKeyReady, status: metav1.ConditionFalse},
	{conditionType: v1alpha1.ConditionNodeKeyReady, status: metav1.ConditionFalse},
	{conditionType: v1alpha1.ConditionOperatorKeyringReady, status: metav1.ConditionFalse},
	{conditionType: v1alpha1.ConditionSidecarReady, status: metav1.ConditionFalse},
	{conditionType: v1alpha1.ConditionReady, status: metav1.ConditionFalse},
	{conditionType: v1alpha1.ConditionReady, status: metav1.ConditionUnknown},
	{conditionType: v1alpha1.ConditionSidecarReady, status: metav1.ConditionUnknown},
	{conditionType: v1alpha1.ConditionUpgradeFailed, status: metav1.ConditionTrue},
	{conditionType: v1alpha1.ConditionUpgradeImageMissing, status: metav1.ConditionTrue},
	{conditionType: v1alpha1.ConditionUpgradeScheduled, status: metav1.ConditionTrue, reasons: []string{v1alpha1.ReasonImagePullFailed}},
	{conditionType: v1alpha1.ConditionResultsMatch, status: metav1.ConditionFalse},
	{conditionType: v1alpha1.ConditionSnapshotsPublished, status: metav1.ConditionFalse, reasons: []string{
		v1alpha1.ReasonPublishFailed, v1alpha1.ReasonNoBucket, v1alpha1.ReasonSidecarTooOld,
	}},
}

// Problem is what is wrong with a node in one line, the reason first; empty when nothing is. It
// follows from the conditions alone and so changes only with them.
func Problem(list []metav1.Condition) string {
	for _, a := range ailments {
		c := conditions.Get(list, a.conditionType)
		if c == nil || !a.is(c) {
			continue
		}
		if running := conditions.Get(list, v1alpha1.ConditionPlanInProgress); c.Message == "" && running != nil && running.Status == metav1.ConditionTrue {
			return inOneLine(c.Reason, running.Message) // of a new node the plan knows what it waits for
		}
		return inOneLine(c.Reason, c.Message)
	}
	return ""
}

// inOneLine is a reason with as much of its message as fits.
func inOneLine(reason, message string) string {
	if message == "" {
		return reason
	}
	return text.Shorten(reason+": "+strings.Join(strings.Fields(message), " "), maxProblem)
}

func (a ailment) is(c *metav1.Condition) bool {
	if c.Status != a.status || c.Reason == v1alpha1.ReasonNotApplicable {
		return false
	}
	return len(a.reasons) == 0 || slices.Contains(a.reasons, c.Reason)
}
