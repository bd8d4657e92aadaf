package nodetask

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/task"
)

// running is a process that was started so long after noon.
func running(after time.Duration, starts int) api.Seid {
	since := noon.Add(after)
	return api.Seid{State: api.SeidRunning, Since: &since, Starts: starts}
}

// A process is told from the next one by the count of starts, and by its age where a sidecar does not count.
func TestOtherProcess_ToldByStartsOrAge(t *testing.T) {
	for name, c := range map[string]struct {
		noted, now api.Seid
		want       bool
	}{
		"the same":                    {running(0, 3), running(0, 3), false},
		"started again":               {running(0, 3), running(time.Minute, 4), true},
		"started again, and ended":    {running(0, 3), api.Seid{Starts: 4}, true},
		"same count, clock was set":   {running(0, 3), running(time.Hour, 3), false},
		"no counts, younger":          {running(0, 0), running(time.Second, 0), true},
		"no counts, the same":         {running(0, 0), running(0, 0), false},
		"no counts, none ran then":    {api.Seid{}, running(time.Second, 0), false},
		"no counts, none runs now":    {running(0, 0), api.Seid{}, false},
		"counts since the sidecar is": {running(0, 0), running(time.Second, 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			step := &v1alpha1.PlannedTask{}
			wanted{"wait", v1alpha1.ReasonTaskNotComplete, "about to restart"}.check(t, noteProcess(step, c.noted))
			if got := otherProcess(step, c.now); got != c.want {
				t.Errorf("another process: %t, want %t", got, c.want)
			}
		})
	}
}

func TestOtherProcess_NoneNoted_IsNotKnown(t *testing.T) {
	if otherProcess(&v1alpha1.PlannedTask{}, running(0, 3)) {
		t.Error("a process is another one than none that was noted")
	}
}

// A restart is asked for once, of the process that was noted; never behind a gate that is not open.
func TestRestartSeid_ByGateAndProcess(t *testing.T) {
	noted := &v1alpha1.PlannedTask{}
	noteProcess(noted, running(0, 3))
	for name, c := range map[string]struct {
		gate  api.GateState
		seid  api.Seid
		sync  api.SyncState
		step  *v1alpha1.PlannedTask
		want  wanted
		given int
	}{
		"held":                       {api.GateHeld, running(0, 3), "", &v1alpha1.PlannedTask{}, wanted{"wait", v1alpha1.ReasonGateClosed, "MarkReady opens it"}, 0},
		"closed":                     {api.GateClosed, api.Seid{}, "", &v1alpha1.PlannedTask{}, wanted{"wait", v1alpha1.ReasonGateClosed, "to be opened"}, 0},
		"first pass":                 {api.GateOpen, running(0, 3), "", &v1alpha1.PlannedTask{}, wanted{"wait", v1alpha1.ReasonTaskNotComplete, "about to restart"}, 0},
		"noted":                      {api.GateOpen, running(0, 3), api.SyncInSync, noted, wanted{"wait", task.ReasonSidecarWorking, ""}, 1},
		"restarted, task lost":       {api.GateOpen, running(time.Minute, 4), api.SyncInSync, noted, wanted{"done", "", "seid was restarted"}, 0},
		"restarted, not answering":   {api.GateOpen, running(time.Minute, 4), api.SyncStarting, noted, wanted{"wait", v1alpha1.ReasonTaskNotComplete, "does not answer yet"}, 0},
		"restarted, and ended again": {api.GateOpen, api.Seid{Starts: 4}, "", noted, wanted{"wait", v1alpha1.ReasonTaskNotComplete, "is no longer running"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			to := &gated{document: api.Node{APILevel: api.LevelNode, Seid: c.seid}}
			to.document.Gate.State, to.document.Sync.State = c.gate, c.sync
			step := c.step.DeepCopy()
			step.ID, step.Type = "t", operation.StepRestartSeid
			env := &Env{
				Node: &v1alpha1.SeiNode{}, Task: &v1alpha1.SeiNodeTask{}, Objects: &task.Objects{}, Sidecar: to,
				Platform: platform.Default(), Clock: clocktesting.NewFakePassiveClock(noon),
			}
			c.want.check(t, restartSeid(t.Context(), env, step))
			if len(to.given) != c.given {
				t.Errorf("the sidecar got %d tasks, want %d: %+v", len(to.given), c.given, to.given)
			}
		})
	}
}
