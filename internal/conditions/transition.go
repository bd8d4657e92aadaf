package conditions

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Transition is a condition whose status or reason changed.
type Transition struct {
	// From is the condition before; nil when it is new.
	From *metav1.Condition
	// To is the condition after.
	To metav1.Condition
}

// Became reports whether the transition led to the given status and reason. An
// empty reason matches any.
func (t Transition) Became(conditionType string, status metav1.ConditionStatus, reason string) bool {
	return t.To.Type == conditionType && t.To.Status == status && (reason == "" || t.To.Reason == reason)
}

// Was reports whether the condition had the given status before.
func (t Transition) Was(status metav1.ConditionStatus) bool {
	return t.From != nil && t.From.Status == status
}

// Transitions lists what changed from one list to the next, in the order of the
// second. A changed message alone is no transition, nor is a removed condition:
// conditions stay once they exist.
func Transitions(before, after []metav1.Condition) []Transition {
	var found []Transition
	for _, to := range after {
		from := Get(before, to.Type)
		if from != nil && from.Status == to.Status && from.Reason == to.Reason {
			continue
		}
		found = append(found, Transition{From: from, To: to})
	}
	return found
}
