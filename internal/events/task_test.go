package events_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/events"
)

// in is a task in a phase whose conditions have words to say.
func in(phase seiv1.SeiNodeTaskPhase) *seiv1.SeiNodeTask {
	task := &seiv1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "t"}}
	task.Spec.Kind, task.Spec.Target.NodeRef.Name, task.Status.Phase = seiv1.TaskKindGovVote, "n", phase
	set := conditions.For(&task.Status.Conditions, 1, time.Now())
	set.True(seiv1.ConditionReady, seiv1.ReasonTaskComplete, "done")
	set.True(seiv1.ConditionFailed, seiv1.ReasonTxFailed, "code=5")
	return task
}

// A task for a fleet names the fleet, and one with a selector nobody.
func TestForTask_ForSeveralNodes_NamesTheFleet(t *testing.T) {
	pending, running := in(seiv1.NodeTaskPending), in(seiv1.NodeTaskRunning)
	running.Spec.Target = seiv1.TaskTarget{FleetRef: seiv1.FleetRef{Name: "rpc"}}
	running.Status.Nodes = &seiv1.TaskNodes{Total: 3}
	fleet := &corev1.ObjectReference{APIVersion: "sei.io/v1alpha1", Kind: "SeiNodeDeployment", Namespace: "ns", Name: "rpc"}
	want := []events.Event{{Reason: events.TaskStarted, Note: "GovVote starts on 3 nodes", Related: fleet}}
	if diff := cmp.Diff(want, events.ForTask(pending, running)); diff != "" {
		t.Error(diff)
	}
	running.Spec.Target = seiv1.TaskTarget{Selector: map[string]string{"a": "b"}}
	if got := events.ForTask(pending, running); len(got) != 1 || got[0].Related != nil {
		t.Errorf("%+v, want 1 of them and Related nil", got)
	}
}

func TestForTask_EachPhaseIsToldOnceAndNamesTheNode(t *testing.T) {
	node := &corev1.ObjectReference{APIVersion: "sei.io/v1alpha1", Kind: "SeiNode", Namespace: "ns", Name: "n"}
	for name, c := range map[string]struct {
		from, to seiv1.SeiNodeTaskPhase
		want     []events.Event
	}{
		"new":         {"", seiv1.NodeTaskPending, nil},
		"goes on":     {seiv1.NodeTaskRunning, seiv1.NodeTaskRunning, nil},
		"begins":      {seiv1.NodeTaskPending, seiv1.NodeTaskRunning, []events.Event{{Reason: events.TaskStarted, Note: "GovVote starts on SeiNode n", Related: node}}},
		"is complete": {seiv1.NodeTaskRunning, seiv1.NodeTaskComplete, []events.Event{{Reason: events.TaskComplete, Note: "done", Related: node}}},
		"has failed":  {seiv1.NodeTaskPending, seiv1.NodeTaskFailed, []events.Event{{Reason: events.TaskFailed, Note: "code=5", Related: node}}},
	} {
		if diff := cmp.Diff(c.want, events.ForTask(in(c.from), in(c.to))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
