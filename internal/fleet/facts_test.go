package fleet_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/randfill"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// conditionTypes and conditionReasons are those that nodes have, also some that no fleet reads.
var (
	conditionTypes = []string{
		v1alpha1.ConditionReady, v1alpha1.ConditionInSync, v1alpha1.ConditionStalled, v1alpha1.ConditionReconciling, v1alpha1.ConditionSpecValid,
		v1alpha1.ConditionSidecarReady, v1alpha1.ConditionPlanInProgress, v1alpha1.ConditionUpgradeImageMissing,
	}
	conditionReasons = []string{
		v1alpha1.ReasonInSync, v1alpha1.ReasonOutOfDate, v1alpha1.ReasonPodCrashLooping, v1alpha1.ReasonVolumeNotResized, v1alpha1.ReasonConfigRefused,
	}
)

// changeStatus changes one thing in the status of a node.
func changeStatus(t *rapid.T, status *v1alpha1.SeiNodeStatus, label string) {
	fields := reflect.ValueOf(status).Elem()
	field := rapid.IntRange(0, fields.NumField()-1).Draw(t, label+" field")
	if fields.Type().Field(field).Name != "Conditions" {
		fill := randfill.NewWithSeed(rapid.Int64().Draw(t, label+" seed")).NilChance(0.2).MaxDepth(4).Funcs(
			func(phase *v1alpha1.SeiNodePhase, _ randfill.Continue) {
				*phase = rapid.SampledFrom([]v1alpha1.SeiNodePhase{v1alpha1.NodePending, v1alpha1.NodeRunning, v1alpha1.NodeFailed}).Draw(t, label+" phase")
			},
			func(target *v1alpha1.PlanTarget, _ randfill.Continue) {
				target.SpecHash, target.ConfigHash = "s", rapid.SampledFrom([]string{"a", "b"}).Draw(t, label+" target")
			},
			func(outcome *v1alpha1.PlanOutcome, _ randfill.Continue) {
				*outcome = rapid.SampledFrom([]v1alpha1.PlanOutcome{v1alpha1.OutcomeComplete, v1alpha1.OutcomeFailed}).Draw(t, label+" outcome")
			},
			func(generation *int64, _ randfill.Continue) {
				*generation = rapid.Int64Range(1, 2).Draw(t, label+" generation")
			},
		)
		fill.Fill(fields.Field(field).Addr().Interface())
		return
	}
	conditions.Set(&status.Conditions, 1, passAt.Add(-time.Duration(rapid.IntRange(0, 20).Draw(t, label+" ago"))*time.Second),
		rapid.SampledFrom(conditionTypes).Draw(t, label+" type"),
		rapid.SampledFrom([]metav1.ConditionStatus{"True", "False", "Unknown"}).Draw(t, label+" status"),
		rapid.SampledFrom(conditionReasons).Draw(t, label+" reason"), rapid.SampledFrom([]string{"", "so"}).Draw(t, label+" message"))
}

// A change of a node that the fleet would make something else of wakes it up.
func TestFactsOf_CoverAllThatAPassReads(t *testing.T) {
	woken := 0
	rapid.Check(t, func(r *rapid.T) {
		s := newScene(t)
		if rapid.Bool().Draw(r, "rolling") {
			s.rolling(passAt.Add(-time.Minute))
		}
		if rapid.Bool().Draw(r, "old") {
			s.live(0).Spec.Image = "seid:old"
		}
		for range rapid.IntRange(0, 4).Draw(r, "changes before") {
			changeStatus(r, &s.live(0).Status, "before")
		}
		was := s.live(0).DeepCopy()
		is := was.DeepCopy()
		changeStatus(r, &is.Status, "change")
		if fleet.FactsOf(was) != fleet.FactsOf(is) {
			woken++
			return
		}
		unchanged := s.snd.DeepCopy()
		before := s.reported(t).Status.DeepCopy()
		s.snd, s.members[0].Live = unchanged, is
		if diff := cmp.Diff(before, &s.reported(t).Status); diff != "" {
			r.Fatalf("the fleet would not be woken up, and says something else:\n%s", diff)
		}
	})
	if woken == 0 {
		t.Error("nothing wakes a fleet up")
	}
}

func TestFactsOf_StepsOfACeremonyWake_OtherStepsDoNot(t *testing.T) {
	step := func(n *v1alpha1.SeiNode, name string) *v1alpha1.SeiNode {
		n = n.DeepCopy()
		n.Status.Plan = &v1alpha1.TaskPlan{Phase: v1alpha1.PlanActive, Tasks: []v1alpha1.PlannedTask{{Type: name}}}
		return n
	}
	full, member := liveOf(t, rpcFleet(), 0), liveOf(t, genesisFleet(), 0)
	if fleet.FactsOf(step(full, "a")) != fleet.FactsOf(step(full, "b")) {
		t.Error("a step of a node's plan wakes its fleet")
	}
	if fleet.FactsOf(step(member, "a")) == fleet.FactsOf(step(member, "b")) {
		t.Error("a step of a founder's plan does not wake its fleet")
	}
}
