package process_test

import (
	"errors"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid/process"
)

func TestFind_WithAHome_LeavesOutOtherNodes(t *testing.T) {
	other := proc{pid: 3, comm: "seid", argv: []string{"seid", "start", "--home", "/other"}}
	tests := map[string]struct {
		argv []string
		want int
	}{
		"same home":           {[]string{"seid", "start", "--home", "/h/"}, 7},
		"same home, one word": {[]string{"seid", "start", "--home=/h"}, 7},
		"no home":             {[]string{"seid", "start"}, 7},
		"other home":          {[]string{"seid", "start", "--home=/elsewhere"}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			procs := table(t, other, proc{pid: 7, comm: "seid", argv: tc.argv})
			procs.Home = "/h"
			node, err := procs.Find()
			if tc.want == 0 {
				if !errors.Is(err, process.ErrNotRunning) {
					t.Errorf("got %+v, %v", node, err)
				}
				return
			}
			if err != nil || node.PID != tc.want || node.Identity() != "7@4711" {
				t.Errorf("got %+v, %v, want pid %d", node, err, tc.want)
			}
		})
	}
}
