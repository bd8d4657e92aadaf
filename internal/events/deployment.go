package events

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// ForDeployment lists the events of a fleet that went from one state to the next. Both
// states are as stored, so that each transition is told once, also across restarts.
// changes names the fields that a rollout which begins is about.
func ForDeployment(before, after *seiv1.SeiNodeDeployment, changes string) []Event {
	var list []Event
	if after.Status.Phase != seiv1.DeploymentTerminating {
		list = rolloutEvents(&before.Status, &after.Status, changes)
	}
	for _, t := range conditions.Transitions(before.Status.Conditions, after.Status.Conditions) {
		switch {
		case t.Became(seiv1.ConditionPaused, metav1.ConditionTrue, ""):
			list = append(list, New(Paused, "the fleet is paused: its nodes keep running, and nothing is created, changed or removed"))
		case t.Became(seiv1.ConditionPaused, metav1.ConditionFalse, "") && t.Was(metav1.ConditionTrue):
			list = append(list, New(Resumed, "the fleet is no longer paused"))
		case t.Became(seiv1.ConditionRolloutStalled, metav1.ConditionTrue, ""):
			list = append(list, New(RolloutStalled, "%s", t.To.Message).About(Node(after, waitedFor(after.Status.Rollout))))
		case t.Became(seiv1.ConditionRolloutFailed, metav1.ConditionTrue, ""):
			list = append(list, New(RolloutFailed, "%s", t.To.Message))
		case t.Became(seiv1.ConditionPlanInProgress, metav1.ConditionFalse, seiv1.ReasonPlanFailed) &&
			conditions.Is(after.Status.Conditions, seiv1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, ""):
			list = append(list, New(PlanFailed, "%s", t.To.Message))
		case t.Became(seiv1.ConditionGenesisCeremonyComplete, metav1.ConditionTrue, ""):
			list = append(list, New(CeremonyComplete, "%s", t.To.Message).About(core(after, "ConfigMap", after.Status.GenesisConfigMap)))
		case t.Became(seiv1.ConditionGenesisCeremonyComplete, metav1.ConditionFalse, seiv1.ReasonCeremonyFailed):
			list = append(list, New(CeremonyFailed, "%s", t.To.Message))
		}
	}
	return list
}

func rolloutEvents(was, is *seiv1.SeiNodeDeploymentStatus, changes string) []Event {
	before, after := was.Rollout, is.Rollout
	switch {
	case before == nil && after == nil:
		return nil
	case after != nil && after.Upgrade != nil && (before == nil || before.Upgrade == nil || before.Upgrade.Name != after.Upgrade.Name):
		return []Event{New(ChainUpgradeStarted, "the fleet starts chain upgrade %s: %s", after.Upgrade.Name, conditionMessage(is, seiv1.ConditionRolloutInProgress))}
	case before == nil:
		return []Event{New(RolloutStarted, "rolling out %s to %d nodes, target %s", orTemplate(changes), after.Total, after.TargetHash)}
	case after == nil:
		note := cmp.Or(conditionMessage(is, seiv1.ConditionRolloutInProgress), "every node that takes part runs the template")
		return []Event{New(RolloutComplete, "%s", note)}
	case before.TargetHash != after.TargetHash:
		return []Event{New(RolloutSuperseded, "target %s is superseded by %s after %d of %d nodes",
			before.TargetHash, after.TargetHash, before.Updated, before.Total)}
	default:
		return nil
	}
}

// conditionMessage is what a condition says; empty when it is not there.
func conditionMessage(status *seiv1.SeiNodeDeploymentStatus, conditionType string) string {
	if c := conditions.Get(status.Conditions, conditionType); c != nil {
		return c.Message
	}
	return ""
}

// waitedFor is the name of the node that a rollout waits for.
func waitedFor(r *seiv1.RolloutStatus) string {
	if r == nil {
		return ""
	}
	name, _, _ := strings.Cut(r.WaitingOn, ":")
	return name
}

func orTemplate(changes string) string {
	if changes == "" {
		return "the template"
	}
	return changes
}
