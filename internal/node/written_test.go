package node_test

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Only what a plan has completely written is written.
func TestWrittenConfig_IsTheLastCompleteWrite(t *testing.T) {
	write := func(hash string, status v1alpha1.TaskStatus) v1alpha1.PlannedTask {
		return v1alpha1.PlannedTask{Type: node.StepConfigApply, Status: status, Params: &apiextensionsv1.JSON{Raw: []byte(`{"configHash":"` + hash + `"}`)}}
	}
	for name, c := range map[string]struct {
		tasks []v1alpha1.PlannedTask
		want  string
	}{
		"none":                     {nil, ""},
		"one":                      {[]v1alpha1.PlannedTask{write("a", v1alpha1.TaskComplete)}, "a"},
		"under way":                {[]v1alpha1.PlannedTask{write("a", v1alpha1.TaskRunning)}, ""},
		"the last of two":          {[]v1alpha1.PlannedTask{write("a", v1alpha1.TaskComplete), write("b", v1alpha1.TaskComplete)}, "b"},
		"the second is under way":  {[]v1alpha1.PlannedTask{write("a", v1alpha1.TaskComplete), write("b", v1alpha1.TaskRunning)}, "a"},
		"nothing was noted of one": {[]v1alpha1.PlannedTask{{Type: node.StepConfigApply, Status: v1alpha1.TaskComplete}}, ""},
	} {
		if got := node.WrittenConfig(&v1alpha1.TaskPlan{Tasks: c.tasks}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func stepsOf(missing []node.Missing) (names []string) {
	for _, m := range missing {
		names = append(names, m.Step)
	}
	return names
}

// S1: a StatefulSet makes a pod with the keys in it, so that they are looked at before. Nobody answers
// for a volume that is there already, and so nothing is known of its gate.
func TestDifference_StatefulSetOfAValidator_ComesAfterItsKeys(t *testing.T) {
	target := node.Target{SigningKey: true, NodeKey: true, Keyring: true, Signs: true}
	got := stepsOf(node.Difference(&node.Facts{Claim: true}, &target))
	at := slices.Index(got, node.StepApplyStatefulSet)
	for _, step := range []string{node.StepValidateSigningKey, node.StepValidateNodeKey, node.StepValidateOperatorKeyring, node.StepReserveConsensusKey} {
		if i := slices.Index(got, step); at < 0 || i < 0 || i > at {
			t.Errorf("%s is not before %s: %v", step, node.StepApplyStatefulSet, got)
		}
	}
}

// A new sidecar closes the gate under a process that runs on. What the process needs a restart for is
// looked at again behind the open gate; before, a restart would end it for nothing to come back.
func TestDifference_GateClosedUnderARunningProcess_NoRestart(t *testing.T) {
	build := &node.Build{TemplateHash: "t", SpecHash: "s"}
	document := &api.Node{APILevel: api.LevelNode}
	document.Gate.State, document.Seid.State, document.Seid.RestartDue = api.GateClosed, api.SeidRunning, []string{"evm.http_port"}
	document.Home = api.Home{Stage: api.HomeSynced, ConfigHash: "c", Validation: &api.Validation{Valid: true}}
	target := node.Target{PlanTarget: v1alpha1.PlanTarget{PodTemplateHash: "t", SpecHash: "s", ConfigHash: "c"}}
	facts := node.Facts{Initialized: true, Claim: true, Service: true, StatefulSet: build, Pod: build, Document: document}
	if got := stepsOf(node.Difference(&facts, &target)); slices.Contains(got, node.StepRestartSeid) || !slices.Contains(got, node.StepMarkReady) {
		t.Errorf("with a closed gate: %v", got)
	}
	document.Gate.State = api.GateOpen
	if got := stepsOf(node.Difference(&facts, &target)); !slices.Contains(got, node.StepRestartSeid) {
		t.Errorf("with an open gate: %v", got)
	}
}
