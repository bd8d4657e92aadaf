package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

func TestRolloutProgress(t *testing.T) {
	ready := []metav1.Condition{condition(seiv1.ConditionReady, metav1.ConditionTrue, "AllNodesReady", "")}
	tests := []struct {
		name   string
		change func(*seiv1.SeiNodeDeployment)
		words  string
		done   bool
		failed bool
	}{
		{"complete", func(f *seiv1.SeiNodeDeployment) { f.Status.Conditions = ready }, "3 of 3 nodes are updated and in sync", true, false},
		{"not looked at yet", func(f *seiv1.SeiNodeDeployment) { f.Generation, f.Status.Conditions = 8, ready }, "observe the latest spec", false, false},
		{"under way", func(f *seiv1.SeiNodeDeployment) {
			f.Status.Rollout = &seiv1.RolloutStatus{Updated: 1, Total: 3, StartedAt: ago(time.Minute), WaitingOn: "rpc-1: ImageChanged"}
		}, "[######..............] 1 of 3 nodes are updated; waiting for rpc-1: ImageChanged", false, false},
		{"paused", func(f *seiv1.SeiNodeDeployment) {
			f.Spec.Paused, f.Status.Rollout = true, &seiv1.RolloutStatus{Updated: 1, Total: 3, StartedAt: ago(time.Minute)}
		}, "the fleet is paused", false, false},
		{"a node failed", func(f *seiv1.SeiNodeDeployment) {
			f.Status.Rollout = &seiv1.RolloutStatus{Updated: 1, Total: 3}
			f.Status.Conditions = []metav1.Condition{condition(seiv1.ConditionRolloutFailed, metav1.ConditionTrue, "NodeFailed", "rpc-1: image cannot be pulled")}
		}, "3 of 3 nodes", false, true},
		{"stalled", func(f *seiv1.SeiNodeDeployment) {
			f.Status.Conditions = []metav1.Condition{condition(seiv1.ConditionRolloutStalled, metav1.ConditionTrue, "ProgressDeadlineExceeded", "rpc-1")}
		}, "3 of 3 nodes", false, true},
		{"no rollout, not ready", func(f *seiv1.SeiNodeDeployment) {
			f.Status.Conditions = []metav1.Condition{condition(seiv1.ConditionReady, metav1.ConditionFalse, "NodesNotReady", "rpc-1 is behind")}
		}, "not Ready: rpc-1 is behind", false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fleet := aFleet()
			test.change(fleet)
			words, done, err := rolloutProgress(fleet)
			if !strings.Contains(words, test.words) || done != test.done || (err != nil) != test.failed {
				t.Errorf("got %q, %v, %v", words, done, err)
			}
		})
	}
}

func TestRolloutStatus_OfACompleteRollout_EndsAtOnce(t *testing.T) {
	fleet := aFleet()
	fleet.Status.Conditions = []metav1.Condition{condition(seiv1.ConditionReady, metav1.ConditionTrue, "AllNodesReady", "")}
	p := newPlugin(t, fleet)
	if out := p.mustRun(t, "rollout", "status", "rpc"); !strings.Contains(out, "is rolled out") {
		t.Errorf("printed %q", out)
	}
}

func TestRolloutStatus_WithoutWatch_PrintsOnce(t *testing.T) {
	p := rollout(t)
	if out := p.mustRun(t, "rollout", "status", "rpc", "--watch=false"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "1 of 3") {
		t.Errorf("printed %q", out)
	}
}

func TestRolloutStatus_WithOutput_PrintsTheFleetAlone(t *testing.T) {
	p := rollout(t)
	wantPrinted(t, p.mustRun(t, "rollout", "status", "rpc", "--watch=false", "-o", "name"), "seinodedeployment.sei.io/rpc\n")
	if beside := p.err.String(); !strings.Contains(beside, "1 of 3") {
		t.Errorf("printed %q beside it, want how far the rollout is", beside)
	}
	fleet := &seiv1.SeiNodeDeployment{}
	out := p.mustRun(t, "rollout", "status", "rpc", "--watch=false", "-o", "json")
	if err := json.Unmarshal([]byte(out), fleet); err != nil || fleet.Status.Rollout == nil || fleet.Status.Rollout.Updated != 1 {
		t.Errorf("printed %q, %v, want the fleet", out, err)
	}
}
