package tutorial

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRolloutScreens_ShowEachNodeOnItsWay_AndTheEnd(t *testing.T) {
	frames := []string{
		"before", "0/2 updated OutOfDate", "0/2 updated PodNotReady", "0/2 updated PodNotReady, later", "1/2 updated OutOfDate", "1/2 updated PodNotReady",
		"Ready", "half of a fra",
	}
	want := []screen{{Command: "watch"}, {Printed: frames[2]}, {Printed: frames[5]}, {Printed: "Ready"}}
	if diff := cmp.Diff(want, rolloutScreens("watch", frames)); diff != "" {
		t.Errorf("screens (-want +got):\n%s", diff)
	}
}
