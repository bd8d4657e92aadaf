package node_test

import (
	"errors"
	"testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// ran has steps called in this pass, with their outcomes.
func ran(p *node.Pass, outcomes map[string]plan.Outcome, order ...string) {
	for _, step := range order {
		p.Progress.Steps = append(p.Progress.Steps, plan.Step{Task: &v1alpha1.PlannedTask{Type: step}, Outcome: outcomes[step]})
	}
}

func TestInputs_StepThatWaitsForTheUserSpeaks(t *testing.T) {
	const validate, reserve = node.StepValidateSigningKey, node.StepReserveConsensusKey
	missing := plan.Wait(v1alpha1.ReasonSigningKeyNotReady, "no Secret", 0)
	for name, c := range map[string]struct {
		change func(*node.Pass)
		want   string
	}{
		"not checked yet": {func(*node.Pass) {}, "Unknown " + v1alpha1.ReasonSigningKeyNotReady},
		"the Secret is missing": {func(p *node.Pass) {
			ran(p, map[string]plan.Outcome{validate: missing}, validate)
		}, "False " + v1alpha1.ReasonSigningKeyNotReady},
		"valid, and reserved elsewhere": {func(p *node.Pass) {
			ran(p, map[string]plan.Outcome{validate: plan.Done(""), reserve: plan.Wait(v1alpha1.ReasonKeyInUse, "val-1 has it", 0)}, validate, reserve)
		}, "False " + v1alpha1.ReasonKeyInUse},
		"valid and reserved": {func(p *node.Pass) {
			ran(p, map[string]plan.Outcome{validate: plan.Done(""), reserve: plan.Done("")}, validate, reserve)
		}, "True " + v1alpha1.ReasonSigningKeyValidated},
		"valid, and the reservation did not answer": {func(p *node.Pass) {
			ran(p, map[string]plan.Outcome{validate: plan.Done(""), reserve: plan.Retry(errors.New("no answer"))}, validate, reserve)
		}, "Unknown " + v1alpha1.ReasonSigningKeyNotReady},
		"on the volume, not seen yet": {func(p *node.Pass) { p.Node.Spec.Validator.SigningKey = nil }, "Unknown " + v1alpha1.ReasonSigningKeyNotReady},
		"on the volume, reserved": {func(p *node.Pass) {
			p.Node.Spec.Validator.SigningKey = nil
			ran(p, map[string]plan.Outcome{reserve: plan.Done("")}, reserve)
		}, "True " + v1alpha1.ReasonSigningKeyValidated},
		"a node that does not sign": {fullNode, "False " + v1alpha1.ReasonNotApplicable},
		"a node that does not sign, with the key of another": {func(p *node.Pass) {
			fullNode(p)
			ran(p, map[string]plan.Outcome{node.StepMarkReady: plan.Wait(v1alpha1.ReasonKeyInUse, "val-1 has it", 0)}, node.StepMarkReady)
		}, "False " + v1alpha1.ReasonKeyInUse},
		"a node that does not sign, opened": {func(p *node.Pass) {
			fullNode(p)
			ran(p, map[string]plan.Outcome{node.StepMarkReady: plan.Done("")}, node.StepMarkReady)
		}, "False " + v1alpha1.ReasonNotApplicable},
	} {
		p := settledPass()
		p.Node.Spec.FullNode = nil
		p.Node.Spec.Validator = &v1alpha1.ValidatorSpec{SigningKey: &v1alpha1.SigningKeySource{Secret: v1alpha1.KeySecret{SecretName: "key"}}}
		c.change(p)
		got := conditions.Get(node.Report(p).Conditions, v1alpha1.ConditionSigningKeyReady)
		if string(got.Status)+" "+got.Reason != c.want {
			t.Errorf("%s: %s %s, want %s", name, got.Status, got.Reason, c.want)
		}
	}
}

func fullNode(p *node.Pass) {
	p.Node.Spec.Validator, p.Node.Spec.FullNode = nil, &v1alpha1.FullNodeSpec{}
}

// An input that was checked is in use: passes that do not check it again leave what was found.
func TestInputs_NoStepRan_KeepWhatWasFound(t *testing.T) {
	p := settledPass()
	p.Node.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: "old"}}
	ran(p, map[string]plan.Outcome{node.StepEnsureDataPVC: plan.Done("")}, node.StepEnsureDataPVC)
	report(p)
	p.Progress = plan.Progress{}
	report(p)
	if got := conditions.Get(p.Node.Status.Conditions, v1alpha1.ConditionImportPVCReady); got.Reason != v1alpha1.ReasonPVCValidated {
		t.Errorf("%+v, want Reason %v", got, v1alpha1.ReasonPVCValidated)
	}
}

// The kubelet replaces a mounted key under a seid that runs. That is told before seid is started
// again, and not told any more when the old key is back.
func TestInputs_MountedKeyIsNotTheReservedOne_IsToldWhileNoPlanLooksAtIt(t *testing.T) {
	p := settledPass()
	p.Node.Spec.FullNode = nil
	p.Node.Spec.Validator = &v1alpha1.ValidatorSpec{SigningKey: &v1alpha1.SigningKeySource{Secret: v1alpha1.KeySecret{SecretName: "key"}}}
	p.ConsensusAddress = "AA"
	for _, c := range []struct {
		mounted string
		plan    *v1alpha1.TaskPlan
		want    string
	}{
		{"AA", nil, "Unknown " + v1alpha1.ReasonSigningKeyNotReady},
		{"BB", nil, "False " + v1alpha1.ReasonKeyChanged},
		{"", nil, "False " + v1alpha1.ReasonKeyChanged}, // an older sidecar does not tell
		{"AA", &v1alpha1.TaskPlan{Phase: v1alpha1.PlanActive}, "False " + v1alpha1.ReasonKeyChanged},
		{"AA", nil, "True " + v1alpha1.ReasonSigningKeyValidated},
		{"AA", nil, "True " + v1alpha1.ReasonSigningKeyValidated},
	} {
		p.Facts.Document.Home.ConsensusAddress, p.Node.Status.Plan = c.mounted, c.plan
		report(p)
		got := conditions.Get(p.Node.Status.Conditions, v1alpha1.ConditionSigningKeyReady)
		if string(got.Status)+" "+got.Reason != c.want {
			t.Errorf("%q is mounted: %s %s, want %s", c.mounted, got.Status, got.Reason, c.want)
		}
	}
}
