package node_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
)

func TestDecidePull_OnePodUntilTheImageIsThere(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := node.Pull{Image: "seid:b", Machine: "m1"}
	done := &v1alpha1.PulledImage{Image: "seid:b", Machine: "m1"}
	pod := func(change func(*node.PullPod)) *node.PullPod {
		p := &node.PullPod{Pull: want, Made: now.Add(-time.Minute)}
		change(p)
		return p
	}
	pulling := pod(func(*node.PullPod) {})
	cases := map[string]struct {
		want    node.Pull
		pod     *node.PullPod
		done    *v1alpha1.PulledImage
		action  node.PullAction
		after   *v1alpha1.PulledImage
		problem string
		recheck time.Duration
	}{
		"nothing is scheduled":                 {action: node.PullNothing},
		"the plan is over":                     {pod: pulling, done: done, action: node.PullEnd},
		"the plan is over, and the pod leaves": {pod: pod(func(p *node.PullPod) { p.Leaving = true }), action: node.PullNothing},
		"the plan is over, only memory":        {done: done, action: node.PullNothing},
		"the node has no machine":              {want: node.Pull{Image: "seid:b"}, done: done, after: done},
		"the node has no machine, and a pod":   {want: node.Pull{Image: "seid:b"}, pod: pulling, action: node.PullEnd},
		"not begun":                            {want: want, action: node.PullStart},
		"pulling":                              {want: want, pod: pulling},
		"pulled":                               {want: want, pod: pod(func(p *node.PullPod) { p.Pulled = true }), after: done, recheck: 100 * time.Millisecond},
		"pulled, though the command failed": {
			want: want, pod: pod(func(p *node.PullPod) { p.Pulled, p.Ended = true, "Error" }), after: done, recheck: 100 * time.Millisecond,
		},
		"pulled and gone":             {want: want, done: done, after: done},
		"pulled, the pod stayed":      {want: want, pod: pulling, done: done, action: node.PullEnd, after: done},
		"pulled on another machine":   {want: want, done: &v1alpha1.PulledImage{Image: "seid:b", Machine: "m0"}, action: node.PullStart},
		"pulled for the one before":   {want: want, done: &v1alpha1.PulledImage{Image: "seid:a", Machine: "m1"}, action: node.PullStart},
		"pulls on another machine":    {want: want, pod: pod(func(p *node.PullPod) { p.Machine = "m0" }), action: node.PullEnd},
		"pulls another image":         {want: want, pod: pod(func(p *node.PullPod) { p.Image = "seid:typo" }), action: node.PullEnd},
		"the one before leaves":       {want: want, pod: pod(func(p *node.PullPod) { p.Machine, p.Leaving = "m0", true }), action: node.PullNothing},
		"was deleted by hand, leaves": {want: want, pod: pod(func(p *node.PullPod) { p.Leaving = true }), action: node.PullNothing},
		"refused": {
			want: want, pod: pod(func(p *node.PullPod) { p.Refused = "ErrImagePull" }),
			problem: "image seid:b cannot be pulled on machine m1: check its name and the pull secrets",
		},
		"evicted": {
			want: want, pod: pod(func(p *node.PullPod) { p.Ended = "Evicted" }), problem: "exited on machine m1: Evicted", recheck: 9 * time.Minute,
		},
		"evicted a while ago": {want: want, pod: pod(func(p *node.PullPod) { p.Ended, p.Made = "Evicted", now.Add(-10*time.Minute) }), action: node.PullEnd},
		"no room":             {want: want, pod: pod(func(p *node.PullPod) { p.Unschedulable = "Insufficient cpu." }), problem: "Insufficient cpu."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := node.DecidePull(tc.want, tc.pod, tc.done, now)
			if got.Action != tc.action || got.RecheckAfter != tc.recheck || !strings.Contains(got.Problem, tc.problem) || (got.Problem == "") != (tc.problem == "") {
				t.Errorf("got %+v, want action %d, problem %q, recheck %s", got, tc.action, tc.problem, tc.recheck)
			}
			if diff := cmp.Diff(tc.after, got.Done); diff != "" {
				t.Errorf("what is remembered (-want +got):\n%s", diff)
			}
		})
	}
}
