// Package conditions keeps lists of metav1.Condition: sorted, stamped with the
// generation they are about, and untouched when nothing changed, so that a settled
// object is never written. What a condition should say is decided elsewhere.
package conditions

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/internal/text"
)

// MaxMessage is the longest message that is kept, in bytes. The API server
// refuses a status with one above 32768; an error's full text belongs in the log.
const MaxMessage = 4096

// Setter sets conditions of one object within one reconcile.
type Setter struct {
	list       *[]metav1.Condition
	generation int64
	now        time.Time
}

// For returns a Setter of the given list. generation is the object's, now the
// time of any transition.
func For(list *[]metav1.Condition, generation int64, now time.Time) Setter {
	return Setter{list: list, generation: generation, now: now}
}

// True sets a condition to True.
func (s Setter) True(conditionType, reason, message string) {
	Set(s.list, s.generation, s.now, conditionType, metav1.ConditionTrue, reason, message)
}

// False sets a condition to False.
func (s Setter) False(conditionType, reason, message string) {
	Set(s.list, s.generation, s.now, conditionType, metav1.ConditionFalse, reason, message)
}

// Unknown sets a condition to Unknown.
func (s Setter) Unknown(conditionType, reason, message string) {
	Set(s.list, s.generation, s.now, conditionType, metav1.ConditionUnknown, reason, message)
}

// Set sets a condition to any status.
func (s Setter) Set(conditionType string, status metav1.ConditionStatus, reason, message string) {
	Set(s.list, s.generation, s.now, conditionType, status, reason, message)
}

// Status sets a condition to True or False.
func (s Setter) Status(conditionType string, value bool, reason, message string) {
	if value {
		s.True(conditionType, reason, message)
		return
	}
	s.False(conditionType, reason, message)
}

// Set puts one condition into the list and reports whether the list changed. The
// transition time moves only with the status; a new reason, message or generation
// keeps it.
func Set(list *[]metav1.Condition, generation int64, now time.Time,
	conditionType string, status metav1.ConditionStatus, reason, message string,
) bool {
	want := metav1.Condition{
		Type:               conditionType,
		Status:             status,
		ObservedGeneration: generation,
		LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
		Reason:             reason,
		Message:            text.Shorten(message, MaxMessage),
	}
	at := slices.IndexFunc(*list, func(c metav1.Condition) bool { return c.Type == conditionType })
	if at < 0 {
		*list = append(slices.Clone(*list), want)
		sortByType(*list)
		return true
	}
	have := (*list)[at]
	if have.Status == status {
		want.LastTransitionTime = have.LastTransitionTime
	}
	sorted := slices.IsSortedFunc(*list, byType)
	if have == want && sorted {
		return false
	}
	*list = slices.Clone(*list)
	(*list)[at] = want
	sortByType(*list)
	return true
}

// Get returns the condition of a type, or nil. Change it through Set only.
func Get(list []metav1.Condition, conditionType string) *metav1.Condition {
	for i := range list {
		if list[i].Type == conditionType {
			return &list[i]
		}
	}
	return nil
}

// Is reports whether the condition of a type has the given status and reason. An
// empty reason matches any.
func Is(list []metav1.Condition, conditionType string, status metav1.ConditionStatus, reason string) bool {
	c := Get(list, conditionType)
	return c != nil && c.Status == status && (reason == "" || c.Reason == reason)
}

func byType(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) }

func sortByType(list []metav1.Condition) { slices.SortStableFunc(list, byType) }
