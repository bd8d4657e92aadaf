package node

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// reported is the pass of a state, with its conditions derived.
func (c *state) reported() *scope {
	s := settledPass()
	c.change(s)
	s.deriveConditions()
	return s
}

var letters = map[metav1.ConditionStatus]string{metav1.ConditionTrue: "T", metav1.ConditionFalse: "F", metav1.ConditionUnknown: "?"}

func TestConditions_EveryState(t *testing.T) {
	for _, c := range states {
		t.Run(c.name, func(t *testing.T) {
			s := c.reported()
			statuses, reasons := "", map[string]string{}
			for _, of := range []string{v1alpha1.ConditionInSync, v1alpha1.ConditionReady, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
				got := conditions.Get(s.node.Status.Conditions, of)
				if got == nil && s.err != nil {
					statuses += "F" // what was not looked at is left as it was, here: absent
					continue
				}
				statuses += letters[got.Status]
				reasons[of] = got.Reason
				if got.ObservedGeneration != s.node.Generation {
					t.Errorf("%s speaks of generation %d", of, got.ObservedGeneration)
				}
			}
			if statuses != c.want {
				t.Errorf("InSync, Ready, Reconciling, Stalled are %s, want %s: %+v", statuses, c.want, s.node.Status.Conditions)
			}
			for of, want := range map[string]string{v1alpha1.ConditionInSync: c.inSync, v1alpha1.ConditionReady: c.ready,
				v1alpha1.ConditionReconciling: c.reconciling, v1alpha1.ConditionStalled: c.stalls} {
				if want != "" && reasons[of] != want {
					t.Errorf("%s: reason %s, want %s", of, reasons[of], want)
				}
			}
		})
	}
}

// S4: whatever differs from the spec, alone or together with anything else that can be true, the
// node is not Ready.
func TestReady_GenerationNotInForce_IsNeverTrue(t *testing.T) {
	differs := map[string]func(*scope){
		"the pod":           func(s *scope) { s.target.SpecHash = "sb" },
		"the configuration": func(s *scope) { s.target.ConfigHash = "c2-s2" },
		"the process": func(s *scope) {
			s.document = &api.Node{APILevel: api.LevelNode, Seid: api.Seid{RestartDue: []string{"x"}}}
		},
		"an invalid spec":    func(s *scope) { s.target.ConfigProblem, s.target.ConfigHash = "no such key", "" },
		"an unseen spec":     func(s *scope) { s.node.Generation, s.err = 3, errors.New("no answer") },
		"a spec nobody read": func(s *scope) { s.node.Generation, s.err, s.seen = 3, errors.New("no answer"), false },
	}
	for what, change := range differs {
		for _, c := range states {
			s := settledPass()
			s.deriveConditions() // it was Ready before
			c.change(s)
			change(s)
			s.deriveConditions()
			if conditions.Is(s.node.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "") {
				t.Errorf("%s differs, %s: Ready", what, c.name)
			}
		}
	}
}

// The reason of a node that is not in sync is the sidecar's own.
func TestInSync_SidecarSaysWhy_IsItsReasonAndSentence(t *testing.T) {
	for state, want := range map[api.SyncState]string{
		api.SyncStarting: v1alpha1.ReasonStartingUp, api.SyncReplaying: v1alpha1.ReasonReplaying, api.SyncStateSyncing: v1alpha1.ReasonStateSyncing,
		api.SyncCatchingUp: v1alpha1.ReasonCatchingUp, api.SyncBehind: v1alpha1.ReasonBehind, api.SyncNoPeers: v1alpha1.ReasonNoPeers,
		api.SyncNoBlocks: v1alpha1.ReasonNoBlocks, api.SyncHalted: v1alpha1.ReasonHalted, api.SyncUpgradeNeeded: v1alpha1.ReasonUpgradeNeeded,
		api.SyncNotAnswering: v1alpha1.ReasonNotAnswering,
	} {
		s := settledPass()
		notInSync(state)(s)
		s.deriveConditions()
		got := conditions.Get(s.node.Status.Conditions, v1alpha1.ConditionInSync)
		if got.Status != metav1.ConditionFalse || got.Reason != want || !strings.Contains(got.Message, "so it is") {
			t.Errorf("%s: %s %s %q, want %s", state, got.Status, got.Reason, got.Message, want)
		}
	}
}

func TestInSync_GateAndProcess_AreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scope)
		want   string
	}{
		"closed gate":                       {func(s *scope) { s.document.Gate.State = api.GateClosed }, v1alpha1.ReasonGateClosed},
		"held gate":                         {func(s *scope) { s.document.Gate.State = api.GateHeld }, v1alpha1.ReasonGateClosed},
		"open gate that refuses to start":   {func(s *scope) { s.document.Gate.Refusal, s.document.Seid.State = "another key", api.SeidWaiting }, v1alpha1.ReasonStartRefused},
		"draining":                          {func(s *scope) { s.document.Sync.Draining = true }, v1alpha1.ReasonDraining},
		"a sidecar that does not answer":    {func(s *scope) { s.document = nil }, v1alpha1.ReasonPodNotReady},
		"a sidecar that cannot tell":        {func(s *scope) { s.document.APILevel = 3; s.document.Sync.State = api.SyncNoPeers }, v1alpha1.ReasonPodNotReady},
		"a pod that is pending":             {func(s *scope) { s.objects.Pod.Status.Phase = corev1.PodPending }, v1alpha1.ReasonPodPending},
		"no pod, because one is in the way": {func(s *scope) { s.objects.Pod, s.objects.PodObstacle = nil, "pod n-0 was made by somebody else" }, v1alpha1.ReasonPodPending},
	} {
		s := settledPass()
		notInSync(api.SyncNotRunning)(s)
		c.change(s)
		s.deriveConditions()
		if got := conditions.Get(s.node.Status.Conditions, v1alpha1.ConditionInSync); got.Reason != c.want {
			t.Errorf("%s: %s %q, want %s", name, got.Reason, got.Message, c.want)
		}
	}
}

// A message never claims what was not observed: a pass that could not read leaves what is said of
// pod and chain as it was.
func TestConditions_NothingWasRead_KeepWhatWasSeenLast(t *testing.T) {
	s := settledPass()
	s.deriveConditions()
	next := &scope{node: s.node, before: s.node.DeepCopy(), now: passAt.Add(1), err: errors.New("the cache is gone")}
	next.deriveConditions()
	for _, of := range []string{v1alpha1.ConditionInSync, v1alpha1.ConditionReady, v1alpha1.ConditionSidecarReady} {
		if !conditions.Is(next.node.Status.Conditions, of, metav1.ConditionTrue, "") {
			t.Errorf("%s: %+v", of, conditions.Get(next.node.Status.Conditions, of))
		}
	}
}
