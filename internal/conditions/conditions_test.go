package conditions_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/internal/conditions"
)

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	later = noon.Add(time.Hour)
)

func TestSet_NewCondition_IsStampedTruncatedAndSorted(t *testing.T) {
	var list []metav1.Condition
	set := conditions.For(&list, 7, noon)
	set.True("Ready", "InSync", "caught up")
	set.False("Paused", "NotPaused", "")
	set.Unknown("SidecarReady", "Unreachable", "dialing")

	second := metav1.NewTime(noon.Truncate(time.Second))
	want := []metav1.Condition{
		{Type: "Paused", Status: "False", Reason: "NotPaused", ObservedGeneration: 7, LastTransitionTime: second},
		{Type: "Ready", Status: "True", Reason: "InSync", Message: "caught up", ObservedGeneration: 7, LastTransitionTime: second},
		{Type: "SidecarReady", Status: "Unknown", Reason: "Unreachable", Message: "dialing", ObservedGeneration: 7, LastTransitionTime: second},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestSet_ExistingCondition(t *testing.T) {
	old := metav1.NewTime(noon.Truncate(time.Second))
	moved := metav1.NewTime(later.Truncate(time.Second))
	cases := []struct {
		name       string
		generation int64
		status     metav1.ConditionStatus
		reason     string
		message    string
		changed    bool
		time       metav1.Time
	}{
		{"the same again changes nothing", 1, "True", "InSync", "ok", false, old},
		{"a message alone keeps the transition time", 1, "True", "InSync", "still ok", true, old},
		{"a reason alone keeps the transition time", 1, "True", "Other", "ok", true, old},
		{"a generation alone keeps the transition time", 2, "True", "InSync", "ok", true, old},
		{"a status moves the transition time", 1, "False", "InSync", "ok", true, moved},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			list := []metav1.Condition{{Type: "Ready", Status: "True", Reason: "InSync", Message: "ok", ObservedGeneration: 1, LastTransitionTime: old}}
			snapshot := append([]metav1.Condition(nil), list...)
			shared := list

			if got := conditions.Set(&list, tc.generation, later, "Ready", tc.status, tc.reason, tc.message); got != tc.changed {
				t.Errorf("changed = %v, want %v", got, tc.changed)
			}
			want := metav1.Condition{
				Type: "Ready", Status: tc.status, Reason: tc.reason, Message: tc.message,
				ObservedGeneration: tc.generation, LastTransitionTime: tc.time,
			}
			if diff := cmp.Diff(want, list[0]); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(snapshot, shared); diff != "" {
				t.Errorf("a list that shares its array with the old one was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSet_ListFoundUnsorted_IsSortedOnce(t *testing.T) {
	list := []metav1.Condition{{Type: "Ready", Status: "True", Reason: "A"}, {Type: "Paused", Status: "True", Reason: "A"}}
	if !conditions.Set(&list, 0, noon, "Ready", "True", "A", "") {
		t.Error("an unsorted list was left as it is")
	}
	if list[0].Type != "Paused" {
		t.Errorf("first condition is %s, want Paused", list[0].Type)
	}
	if conditions.Set(&list, 0, noon, "Ready", "True", "A", "") {
		t.Error("a sorted list was changed")
	}
}

func TestSet_OverlongMessage_IsCutOnACharacter(t *testing.T) {
	var list []metav1.Condition
	conditions.For(&list, 1, noon).False("Ready", "PodNotReady", strings.Repeat("é", conditions.MaxMessage)+"\xff")
	got := list[0].Message
	if len(got) > conditions.MaxMessage || !utf8.ValidString(got) || !strings.HasSuffix(got, "...") {
		t.Errorf("message has %d bytes, valid %v, end %q", len(got), utf8.ValidString(got), got[len(got)-4:])
	}
	if conditions.Set(&list, 1, later, "Ready", "False", "PodNotReady", strings.Repeat("é", conditions.MaxMessage)) {
		t.Error("the same overlong message changed the list again")
	}
}

func TestStatus_Boolean_ChoosesTrueOrFalse(t *testing.T) {
	var list []metav1.Condition
	set := conditions.For(&list, 1, noon)
	set.Status("A", true, "Yes", "")
	set.Status("B", false, "No", "")
	if !conditions.Is(list, "A", metav1.ConditionTrue, "Yes") || !conditions.Is(list, "B", metav1.ConditionFalse, "") {
		t.Errorf("conditions are %v", list)
	}
	if conditions.Is(list, "A", metav1.ConditionTrue, "No") || conditions.Is(list, "C", metav1.ConditionTrue, "") {
		t.Error("Is matched what is not there")
	}
	if conditions.Get(list, "C") != nil {
		t.Error("Get found a condition that is not there")
	}
}

func TestTransitions_StatusOrReason_NotMessage(t *testing.T) {
	before := []metav1.Condition{
		{Type: "A", Status: "True", Reason: "One", Message: "m"},
		{Type: "B", Status: "True", Reason: "One"},
		{Type: "C", Status: "True", Reason: "One"},
		{Type: "Gone", Status: "True", Reason: "One"},
	}
	after := []metav1.Condition{
		{Type: "A", Status: "True", Reason: "One", Message: "other"},
		{Type: "B", Status: "True", Reason: "Two"},
		{Type: "C", Status: "False", Reason: "One"},
		{Type: "New", Status: "False", Reason: "One"},
	}
	got := conditions.Transitions(before, after)
	want := []conditions.Transition{
		{From: &before[1], To: after[1]},
		{From: &before[2], To: after[2]},
		{From: nil, To: after[3]},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	if !got[1].Became("C", metav1.ConditionFalse, "") || !got[1].Was(metav1.ConditionTrue) {
		t.Error("C went from True to False, but is not said to")
	}
	if got[1].Became("C", metav1.ConditionFalse, "Two") || got[2].Was(metav1.ConditionTrue) {
		t.Error("a transition that did not happen is reported")
	}
}
