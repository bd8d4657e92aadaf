package fleet_test

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// situation is what the conditions of a fleet can express. The statuses are those of Ready,
// Reconciling and Stalled: T, F or ? each, - for none. kstatus is what tools make of them.
type situation struct {
	change  func(*scene)
	want    string
	ready   string
	kstatus status.Status
}

var situations = map[string]situation{
	"every node is in sync": {func(*scene) {}, "TFF", v1alpha1.ReasonAllNodesReady, status.CurrentStatus},
	"new":                   {func(s *scene) { drop(s, 0); drop(s, 1); drop(s, 2) }, "FTF", v1alpha1.ReasonNodesInitializing, status.InProgressStatus},
	"one is being brought up": {func(s *scene) {
		s.live(1).Status.Phase = v1alpha1.NodeInitializing
		s.down(1)
	}, "FTF", v1alpha1.ReasonNodesInitializing, status.InProgressStatus},
	"one fell out of sync": {func(s *scene) { s.down(1) }, "FFF", v1alpha1.ReasonNodesNotReady, status.InProgressStatus},
	"one failed": {func(s *scene) {
		s.live(1).Status.Phase = v1alpha1.NodeFailed
		s.down(1)
	}, "FFT", v1alpha1.ReasonNodesFailed, status.FailedStatus},
	"one is somebody else's": {func(s *scene) { s.members[1].Foreign = "it is another's" }, "FFT", v1alpha1.ReasonNodesFailed, status.FailedStatus},
	"one is refused": {func(s *scene) {
		drop(s, 1)
		s.members[1].Refused = "too long"
	}, "FFT", v1alpha1.ReasonNodesFailed, status.FailedStatus},
	"one refuses its configuration and serves": {func(s *scene) {
		condition(s.live(1), v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonInSync)
		condition(s.live(1), v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonConfigRefused)
		s.ready(1, metav1.ConditionFalse, v1alpha1.ReasonConfigRefused)
	}, "FFT", v1alpha1.ReasonOutOfDate, status.FailedStatus},
	"one is in sync on an earlier spec": {func(s *scene) {
		condition(s.live(1), v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonInSync)
		s.ready(1, metav1.ConditionFalse, v1alpha1.ReasonOutOfDate)
	}, "FFF", v1alpha1.ReasonOutOfDate, status.InProgressStatus},
	"a rollout goes on": {func(s *scene) {
		s.rolling(passAt)
		s.live(1).Spec.Image = "seid:old"
	}, "FTF", v1alpha1.ReasonRollingOut, status.InProgressStatus},
	"a rollout waits for minReadySeconds": {func(s *scene) {
		s.rolling(passAt)
		readySince(s.live(2), time.Second)
	}, "FTF", v1alpha1.ReasonRollingOut, status.InProgressStatus},
	"a rollout takes a node down": {func(s *scene) {
		s.rolling(passAt)
		s.down(0)
	}, "FTF", v1alpha1.ReasonNodesNotReady, status.InProgressStatus},
	"a rollout failed": {func(s *scene) {
		s.rolling(passAt)
		s.ready(0, metav1.ConditionFalse, v1alpha1.ReasonPodCrashLooping)
	}, "FFT", v1alpha1.ReasonNodesFailed, status.FailedStatus},
	"a rollout stands still": {func(s *scene) {
		s.rolling(passAt.Add(-time.Hour))
		s.snd.Status.Rollout.Updated = 2
		s.down(0)
	}, "FFT", v1alpha1.ReasonNodesNotReady, status.FailedStatus},
	"a partition is reached": {func(s *scene) {
		s.partition(1)
		s.live(0).Spec.Image = "seid:old"
	}, "TFF", v1alpha1.ReasonAllNodesReady, status.CurrentStatus},
	"paused with nothing to do": {func(s *scene) { s.snd.Spec.Paused = true }, "TFF", v1alpha1.ReasonAllNodesReady, status.CurrentStatus},
	"paused before a change": {func(s *scene) {
		s.snd.Spec.Paused = true
		s.live(1).Spec.Image = "seid:old"
	}, "FFF", v1alpha1.ReasonPaused, status.InProgressStatus},
	"paused before scaling down": {func(s *scene) {
		s.snd.Spec.Paused = true
		s.surplus = []*v1alpha1.SeiNode{s.live(0)}
	}, "FFF", v1alpha1.ReasonPaused, status.InProgressStatus},
	"scaling down":   {func(s *scene) { s.surplus = []*v1alpha1.SeiNode{s.live(0)} }, "TTF", v1alpha1.ReasonAllNodesReady, status.InProgressStatus},
	"one is stopped": {func(s *scene) { s.stop(1) }, "TFF", v1alpha1.ReasonAllNodesReady, status.CurrentStatus},
	"all are stopped": {func(s *scene) {
		for i := range 3 {
			s.stop(i)
		}
	}, "FFF", v1alpha1.ReasonPaused, status.InProgressStatus},
	"a volume cannot grow": {func(s *scene) {
		condition(s.live(1), v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonVolumeNotResized)
	}, "TFF", v1alpha1.ReasonAllNodesReady, status.CurrentStatus},
	"a ceremony goes on": {func(s *scene) {
		s.snd.Spec.Genesis = &v1alpha1.GenesisCeremony{}
		s.snd.Status.Plan = &v1alpha1.TaskPlan{Phase: v1alpha1.PlanActive, Reason: fleet.ReasonGenesisCeremony}
		s.down(1)
	}, "FTF", v1alpha1.ReasonNodesNotReady, status.InProgressStatus},
	"a ceremony failed": {func(s *scene) {
		s.snd.Spec.Genesis = &v1alpha1.GenesisCeremony{}
		s.snd.Status.LastPlan = failedPlan()
		s.down(1)
	}, "FFT", v1alpha1.ReasonNodesNotReady, status.FailedStatus},
	"new, and could not be looked at": {func(s *scene) {
		s.snd.Status = v1alpha1.SeiNodeDeploymentStatus{ObservedGeneration: -1}
		s.unseen, s.err = true, errors.New("no answer")
	}, "?--", v1alpha1.ReasonNodesNotReady, status.InProgressStatus},
	"edited, and could not be acted on": {func(s *scene) {
		s.snd.Generation++
		s.err = errors.New("no answer")
	}, "FFF", v1alpha1.ReasonOutOfDate, status.InProgressStatus},
}

func TestKstatus_EverySituationOfAFleet(t *testing.T) {
	reached := map[status.Status]bool{}
	for name, c := range situations {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.snd.Generation, s.snd.Status.ObservedGeneration = 1, 1
			c.change(s)
			got := s.reported(t)
			if statuses := letters(got, v1alpha1.ConditionReady, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled); statuses != c.want {
				t.Errorf("Ready, Reconciling and Stalled are %s, want %s: %+v", statuses, c.want, got.Status.Conditions)
			}
			if ready := conditions.Get(got.Status.Conditions, v1alpha1.ConditionReady); ready.Reason != c.ready {
				t.Errorf("Ready has reason %s (%s), want %s", ready.Reason, ready.Message, c.ready)
			}
			computed := kstatusOf(t, got)
			if reached[computed] = true; computed != c.kstatus {
				t.Errorf("kstatus %s, want %s", computed, c.kstatus)
			}
			got.Generation++
			if kstatusOf(t, got) == status.CurrentStatus {
				t.Error("current right after an edit")
			}
		})
	}
	for _, want := range []status.Status{status.CurrentStatus, status.InProgressStatus, status.FailedStatus} {
		if !reached[want] {
			t.Errorf("no situation is %s", want)
		}
	}
}

func letters(snd *v1alpha1.SeiNodeDeployment, types ...string) string {
	text := ""
	for _, conditionType := range types {
		letter := "-"
		if c := conditions.Get(snd.Status.Conditions, conditionType); c != nil {
			letter = map[metav1.ConditionStatus]string{metav1.ConditionTrue: "T", metav1.ConditionFalse: "F", metav1.ConditionUnknown: "?"}[c.Status]
		}
		text += letter
	}
	return text
}

// kstatusOf is what Flux, kpt and others make of a fleet.
func kstatusOf(t *testing.T, snd *v1alpha1.SeiNodeDeployment) status.Status {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(snd)
	if err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: content})
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
}
