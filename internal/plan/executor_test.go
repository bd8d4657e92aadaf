package plan_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// script plays tasks whose outcomes are given call by call; the last one repeats.
type script struct {
	outcomes map[string][]plan.Outcome
	calls    []string
	ids      []string
}

func (s *script) definition(timeout time.Duration, retries int32) plan.Definition[*script] {
	return plan.Definition[*script]{Timeout: timeout, MaxRetries: retries,
		Run: func(_ context.Context, s *script, task *v1alpha1.PlannedTask) plan.Outcome {
			s.calls = append(s.calls, task.Type)
			s.ids = append(s.ids, task.ID)
			list := s.outcomes[task.Type]
			if len(list) == 0 {
				return plan.Done("")
			}
			if len(list) > 1 {
				s.outcomes[task.Type] = list[1:]
			}
			return list[0]
		}}
}

type rig struct {
	*script

	clock    *clocktesting.FakePassiveClock
	executor *plan.Executor[*script]
	plan     *v1alpha1.TaskPlan
}

func newRig(t *testing.T, outcomes map[string][]plan.Outcome, tasks ...string) *rig {
	t.Helper()
	s := &script{outcomes: outcomes}
	clock := clocktesting.NewFakePassiveClock(start)
	registry := plan.Registry[*script]{}
	for _, task := range []string{"a", "b", "c"} {
		registry[task] = s.definition(time.Minute, 2)
	}
	return &rig{
		script: s, clock: clock,
		executor: &plan.Executor[*script]{Tasks: registry, Clock: clock},
		plan:     plan.New(plan.Spec{Reason: "Test", Tasks: tasks}, start),
	}
}

func (r *rig) advance(t *testing.T) plan.Progress {
	t.Helper()
	// A restarted operator has nothing but the stored plan.
	r.plan = r.plan.DeepCopy()
	return r.executor.Advance(t.Context(), r.plan, r.script)
}

func (r *rig) pass(d time.Duration) { r.clock.SetTime(r.clock.Now().Add(d)) }

func statuses(p *v1alpha1.TaskPlan) string {
	all := make([]string, 0, len(p.Tasks))
	for _, t := range p.Tasks {
		all = append(all, t.Type+" "+string(t.Status))
	}
	return strings.Join(all, ", ")
}

func TestAdvance_TasksThatAreDone_RunInOnePassAndInOrder(t *testing.T) {
	r := newRig(t, nil, "a", "b", "c")
	progress := r.advance(t)
	if diff := cmp.Diff([]string{"a", "b", "c"}, r.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if r.plan.Phase != v1alpha1.PlanComplete || len(progress.Steps) != 3 || progress.RequeueAfter != 0 {
		t.Errorf("phase %s, %d steps, requeue %s", r.plan.Phase, len(progress.Steps), progress.RequeueAfter)
	}
}

func TestAdvance_TaskThatWaits_IsCalledAgainUnderItsID(t *testing.T) {
	r := newRig(t, map[string][]plan.Outcome{"b": {plan.Wait("Pod", "waiting for the pod", 3*time.Second), plan.Done("")}}, "a", "b", "c")
	progress := r.advance(t)
	if got, want := statuses(r.plan), "a Complete, b Running, c Pending"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	if progress.RequeueAfter != 3*time.Second || r.plan.Tasks[1].Message != "waiting for the pod" {
		t.Errorf("requeue %s, message %q", progress.RequeueAfter, r.plan.Tasks[1].Message)
	}
	r.advance(t)
	if r.plan.Phase != v1alpha1.PlanComplete {
		t.Errorf("phase %s, want Complete", r.plan.Phase)
	}
	if r.ids[1] != r.ids[2] {
		t.Errorf("the waiting task changed its id from %s to %s", r.ids[1], r.ids[2])
	}
}

func TestAdvance_WaitWithoutInterval_StillNoticesTheDeadline(t *testing.T) {
	r := newRig(t, map[string][]plan.Outcome{"a": {plan.Wait("Pod", "waiting for the pod", 0)}}, "a")
	if progress := r.advance(t); progress.RequeueAfter != time.Minute {
		t.Errorf("requeue %s, want the time to the deadline", progress.RequeueAfter)
	}
}

// D5: every wait has a deadline and a message a person understands.
func TestAdvance_WaitBeyondTheDeadline_FailsAndSaysWhatItWaitedFor(t *testing.T) {
	r := newRig(t, map[string][]plan.Outcome{"a": {plan.Wait("Pod", "waiting for the pod", time.Second)}}, "a", "b")
	r.advance(t)
	r.pass(time.Minute)
	r.advance(t)
	if r.plan.Phase != v1alpha1.PlanFailed {
		t.Fatalf("phase %s, want Failed", r.plan.Phase)
	}
	want := &v1alpha1.FailedTaskDetail{Type: "a", ID: r.ids[0], Error: "not completed within 1m0s: waiting for the pod", MaxRetries: 2}
	if diff := cmp.Diff(want, r.plan.FailedTaskDetail); diff != "" {
		t.Errorf("detail (-want +got):\n%s", diff)
	}
	if *r.plan.FailedTaskIndex != 0 || statuses(r.plan) != "a Failed, b Pending" {
		t.Errorf("index %d, %s", *r.plan.FailedTaskIndex, statuses(r.plan))
	}
}

// A plan that is held for longer than a task's time does not fail when it continues.
func TestSuspend_LongerThanTheDeadline_GivesTheTaskItsTimeAgain(t *testing.T) {
	r := newRig(t, map[string][]plan.Outcome{"a": {plan.Wait("Pod", "waiting for the pod", time.Second)}}, "a")
	r.advance(t)
	plan.Suspend(r.plan)
	r.pass(24 * time.Hour)
	if r.advance(t); r.plan.Phase != v1alpha1.PlanActive {
		t.Fatalf("phase %s after a long pause: %+v", r.plan.Phase, r.plan.FailedTaskDetail)
	}
	r.pass(time.Minute)
	if r.advance(t); r.plan.Phase != v1alpha1.PlanFailed {
		t.Error("the task has no deadline any more")
	}
}

// D4: a failed attempt is retried with a new id within its budget, and named.
// A task may wait for something that takes as long as it takes. Its own time begins after that.
func TestAdvance_UntimedWait_TakesNothingOfTheTasksTime(t *testing.T) {
	working := plan.Wait("Working", "the sidecar is working on it", time.Second)
	r := newRig(t, map[string][]plan.Outcome{"a": {working, plan.Wait("Genesis", "waiting for the ceremony", time.Second).Untimed()}}, "a")
	r.advance(t)
	for range 3 {
		r.pass(24 * time.Hour)
		progress := r.advance(t)
		task := r.plan.Tasks[0]
		if r.plan.Phase != v1alpha1.PlanActive || task.Deadline != nil || !task.StartedAt.Time.Equal(start) || progress.RequeueAfter != time.Second {
			t.Fatalf("phase %s, deadline %v, started %v, requeue %s", r.plan.Phase, task.Deadline, task.StartedAt, progress.RequeueAfter)
		}
	}
	r.outcomes["a"] = []plan.Outcome{working}
	if r.advance(t); r.plan.Tasks[0].Deadline == nil || r.plan.Tasks[0].Deadline.Sub(r.clock.Now()) != time.Minute {
		t.Fatalf("deadline %v, want a minute from now", r.plan.Tasks[0].Deadline)
	}
	r.pass(time.Minute)
	if r.advance(t); r.plan.Phase != v1alpha1.PlanFailed {
		t.Error("the task has no deadline any more")
	}
}

func TestAdvance_FailedAttempt_IsRetriedLaterUnderANewID(t *testing.T) {
	r := newRig(t, map[string][]plan.Outcome{"a": {plan.Retry(errors.New("bucket is busy")), plan.Done("")}}, "a")
	r.plan.Tasks[0].SubmittedAt = new(metav1.Now())
	progress := r.advance(t)
	task := r.plan.Tasks[0]
	if task.SubmittedAt != nil {
		t.Error("the next attempt counts as submitted")
	}
	if task.Status != v1alpha1.TaskPending || task.Attempt != 2 || task.RetryCount != 1 || task.Error != "bucket is busy" {
		t.Fatalf("after the failure: %+v", task)
	}
	if progress.RequeueAfter < 5*time.Second || progress.RequeueAfter > 7*time.Second {
		t.Errorf("back-off %s, want 5 s with a fifth of jitter", progress.RequeueAfter)
	}
	if r.advance(t); len(r.calls) != 1 {
		t.Fatal("called again before the back-off was over")
	}
	r.pass(8 * time.Second)
	r.advance(t)
	if r.plan.Phase != v1alpha1.PlanComplete || r.ids[0] == r.ids[1] {
		t.Errorf("phase %s, ids %v", r.plan.Phase, r.ids)
	}
}

func TestAdvance_RetriesUsedUp_FailsWithTheLastError(t *testing.T) {
	r := newRig(t, map[string][]plan.Outcome{"a": {plan.Retry(errors.New("one")), plan.Retry(errors.New("two")), plan.Retry(errors.New("three"))}}, "a")
	for range 3 {
		r.advance(t)
		r.pass(15 * time.Second)
	}
	d := r.plan.FailedTaskDetail
	if r.plan.Phase != v1alpha1.PlanFailed || d == nil || d.Error != "giving up after 3 attempts: three" || d.RetryCount != 2 {
		t.Errorf("phase %s, detail %+v", r.plan.Phase, d)
	}
}

func TestAdvance_RetryBeyondTheDeadline_Fails(t *testing.T) {
	r := newRig(t, map[string][]plan.Outcome{"a": {plan.Retry(errors.New("bucket is busy"))}}, "a")
	r.advance(t)
	r.pass(2 * time.Minute)
	r.advance(t)
	if d := r.plan.FailedTaskDetail; d == nil || !strings.Contains(d.Error, "not completed within 1m0s") || !strings.Contains(d.Error, "bucket is busy") {
		t.Errorf("detail %+v", d)
	}
}

func TestAdvance_TerminalOutcome_EndsThePlanAtOnce(t *testing.T) {
	r := newRig(t, map[string][]plan.Outcome{"a": {plan.Terminal("Bad", errors.New("spec.overrides: no such key"))}}, "a", "b")
	r.advance(t)
	if r.plan.Phase != v1alpha1.PlanFailed || r.plan.FailedTaskDetail.Error != "spec.overrides: no such key" {
		t.Errorf("phase %s, detail %+v", r.plan.Phase, r.plan.FailedTaskDetail)
	}
	if r.advance(t); len(r.calls) != 1 {
		t.Error("a failed plan was run on")
	}
}

func TestAdvance_UnknownTask_FailsThePlanAndNamesIt(t *testing.T) {
	r := newRig(t, nil, "a", "snapshot-upload")
	r.advance(t)
	if d := r.plan.FailedTaskDetail; d == nil || !strings.Contains(d.Error, `"snapshot-upload"`) {
		t.Errorf("detail %+v, want not nil and %q in it", d, `"snapshot-upload"`)
	}
}

// B5: no two plans share a task id, and attempts differ too.
func TestTaskID_DiffersByPlanTypeIndexAndAttempt(t *testing.T) {
	seen := map[string]string{}
	for _, planID := range []string{"p", "q"} {
		for _, taskType := range []string{"a", "b"} {
			for index := range 2 {
				for attempt := range int32(2) {
					id := plan.TaskID(planID, taskType, index, attempt)
					if other := seen[id]; other != "" {
						t.Fatalf("%s twice", id)
					}
					seen[id] = planID
				}
			}
		}
	}
	if got := plan.TaskID("p", "a", 0, 1); got != "d79993c7-606e-5e5d-a997-ebcae1351fab" {
		t.Errorf("the id of an attempt changed to %s: plans of the last version could not be continued", got)
	}
}

func TestNew_TwicePlansShareNoID(t *testing.T) {
	spec := plan.Spec{Tasks: []string{"mark-ready"}}
	if a, b := plan.New(spec, start), plan.New(spec, start); a.ID == b.ID || a.Tasks[0].ID == b.Tasks[0].ID {
		t.Error("two plans share an id")
	}
}

// A plan whose id is given has the same task ids whoever makes it, and one deadline for all.
func TestNew_GivenIDAndDeadline_AreTheTasks(t *testing.T) {
	spec := plan.Spec{ID: "task-uid", Tasks: []string{"a", "b"}, Deadline: start.Add(time.Hour)}
	one, two := plan.New(spec, start), plan.New(spec, start.Add(time.Minute))
	for i := range one.Tasks {
		if one.Tasks[i].ID != two.Tasks[i].ID || !one.Tasks[i].Deadline.Time.Equal(start.Add(time.Hour)) {
			t.Errorf("tasks %+v and %+v", one.Tasks[i], two.Tasks[i])
		}
	}
	if one.ID != "task-uid" || one.Tasks[0].ID == one.Tasks[1].ID {
		t.Errorf("plan %+v, want ID %q and ID not %v", one, "task-uid", one.Tasks[1].ID)
	}
}

func TestSummarize_KeepsTheFailure(t *testing.T) {
	r := newRig(t, map[string][]plan.Outcome{"a": {plan.Terminal("Bad", errors.New("boom"))}}, "a")
	r.advance(t)
	s := plan.Summarize(r.plan, v1alpha1.OutcomeFailed, start.Add(time.Hour))
	if s.FailedTask != "a" || s.Error != "boom" || s.Reason != "Test" || !s.FinishedAt.Time.Equal(start.Add(time.Hour)) {
		t.Errorf("summary %+v, want task a to have failed with boom, reason Test, an hour after the start", s)
	}
}

// What a sidecar says must not fill up a status.
func TestAdvance_LongWords_AreCut(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for name, outcome := range map[string]plan.Outcome{
		"done": plan.Done(long), "wait": plan.Wait("Pod", long, time.Second), "retry": plan.Retry(errors.New(long)),
		"terminal": plan.Terminal("Bad", errors.New(long)),
	} {
		r := newRig(t, map[string][]plan.Outcome{"a": {outcome}}, "a")
		r.plan = plan.New(plan.Spec{Reason: "Test", Message: long, Tasks: []string{"a"}}, start)
		r.advance(t)
		task := r.plan.Tasks[0]
		words := []string{r.plan.Message, task.Message, task.Error}
		if r.plan.FailedTaskDetail != nil {
			words = append(words, r.plan.FailedTaskDetail.Error)
		}
		if kept := strings.Join(words, ""); len(kept) > 3*2048 || len(kept) < 2*2048 {
			t.Errorf("%s: %d bytes are kept", name, len(kept))
		}
	}
}
