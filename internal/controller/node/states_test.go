package node

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

var passAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// settledPass is a pass over a node that runs its spec, is in sync, and has nothing left to do.
func settledPass() *scope {
	at := metav1.NewTime(passAt.Add(-time.Hour))
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", Generation: 2}}
	node.Spec.FullNode = &v1alpha1.FullNodeSpec{}
	node.Status = v1alpha1.SeiNodeStatus{Phase: v1alpha1.NodeRunning, InitializedAt: &at, ObservedGeneration: 2, ConfigHash: "c1-s1"}
	node.Status.LastPlan = &v1alpha1.PlanSummary{Reason: domain.ReasonNewNode, Outcome: v1alpha1.OutcomeComplete}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "n-0", Annotations: map[string]string{render.AnnotationSpecHash: "sa"}}}
	pod.Status.Phase = corev1.PodRunning
	setPodReady(pod, corev1.ConditionTrue)
	s := &scope{
		node: node, before: node.DeepCopy(), now: passAt, sidecarStarted: true, seen: true,
		target:   domain.Target{PlanTarget: v1alpha1.PlanTarget{SpecHash: "sa", ConfigHash: "c1-s1", Generation: 2}},
		document: &api.Node{APILevel: api.LevelNode, Gate: api.Gate{State: api.GateOpen}, Seid: api.Seid{State: api.SeidRunning}, Sync: api.Sync{State: api.SyncInSync}},
	}
	s.observed.Pod = pod
	s.objects = s.observed
	return s
}

func setPodReady(pod *corev1.Pod, status corev1.ConditionStatus) {
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}, {Type: corev1.ContainersReady, Status: status}}
}

func planFor(s *scope, reason string) {
	s.node.Status.Plan = &v1alpha1.TaskPlan{Reason: reason, Message: "because", Phase: v1alpha1.PlanActive, Tasks: []v1alpha1.PlannedTask{{Type: "x"}}}
}

// newNode takes away all that a node gets in its life.
func newNode(s *scope) {
	s.node.Status = v1alpha1.SeiNodeStatus{Phase: v1alpha1.NodePending}
	s.observed.Pod, s.objects.Pod, s.document, s.sidecarStarted = nil, nil, nil, false
}

func notInSync(state api.SyncState) func(*scope) {
	return func(s *scope) {
		setPodReady(s.objects.Pod, corev1.ConditionFalse)
		s.document.Sync = api.Sync{State: state, Message: "so it is"}
	}
}

// lastFailed has the last plan fail, and what it was for be held back.
func lastFailed(s *scope, reason, step string) {
	s.node.Status.LastPlan = &v1alpha1.PlanSummary{Reason: reason, Outcome: v1alpha1.OutcomeFailed, FailedTask: step, Error: "no"}
	s.decision.HeldBack, s.decision.Missing = "failed before", []domain.Missing{{Step: step, Because: "x"}}
}

// state is a situation that the conditions of a node can express. The statuses are those of
// InSync, Ready, Reconciling and Stalled: T, F or ? each. kstatus is what tools make of them.
type state struct {
	name                string
	change              func(*scope)
	want                string
	inSync, ready       string // reasons
	reconciling, stalls string // reasons, empty where nothing is the matter
	kstatus             string
}

var states = []state{
	{name: "in sync on its spec", change: func(*scope) {}, want: "TTFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonInSync, kstatus: "Current"},
	{
		name: "new, nothing done yet", change: func(s *scope) { newNode(s); s.node.Status.ObservedGeneration, s.again = 0, true },
		want: "FFTF", inSync: v1alpha1.ReasonInitializing, ready: v1alpha1.ReasonInitializing, reconciling: v1alpha1.ReasonProgressing, kstatus: "InProgress",
	},
	{
		name: "initializing", change: func(s *scope) {
			newNode(s)
			planFor(s, domain.ReasonNewNode)
			s.node.Status.Phase = v1alpha1.NodeInitializing
		},
		want: "FFTF", inSync: v1alpha1.ReasonInitializing, ready: v1alpha1.ReasonInitializing, reconciling: domain.ReasonNewNode, kstatus: "InProgress",
	},
	{
		name: "new, with a spec that cannot be acted on", change: func(s *scope) { newNode(s); s.target.ConfigProblem = "spec.overrides: no such key" },
		want: "FFFT", inSync: v1alpha1.ReasonInitializing, ready: v1alpha1.ReasonInitializing, stalls: v1alpha1.ReasonSpecInvalid, kstatus: "Failed",
	},
	{
		name: "bring-up failed", change: func(s *scope) {
			newNode(s)
			lastFailed(s, domain.ReasonNewNode, domain.StepConfigValidate)
			s.node.Status.Phase = v1alpha1.NodeFailed
		},
		want: "FFFT", inSync: v1alpha1.ReasonInitFailed, ready: v1alpha1.ReasonInitFailed, stalls: v1alpha1.ReasonHeldBack, kstatus: "Failed",
	},
	{
		name: "updating, the old pod still in sync", change: func(s *scope) { planFor(s, domain.ReasonImageChanged); s.target.SpecHash = "sb" },
		want: "TFTF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, reconciling: domain.ReasonImageChanged, kstatus: "InProgress",
	},
	{
		name: "an update is about to be planned", change: func(s *scope) { s.target.SpecHash, s.again = "sb", true },
		want: "TFTF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, reconciling: v1alpha1.ReasonProgressing, kstatus: "InProgress",
	},
	{
		name: "updating, the new pod is catching up", change: func(s *scope) {
			planFor(s, domain.ReasonImageChanged)
			notInSync(api.SyncCatchingUp)(s)
		},
		want: "FFTF", inSync: v1alpha1.ReasonCatchingUp, ready: v1alpha1.ReasonCatchingUp, reconciling: domain.ReasonImageChanged, kstatus: "InProgress",
	},
	{
		name: "an update failed", change: func(s *scope) {
			lastFailed(s, domain.ReasonImageChanged, domain.StepApplyStatefulSet)
			s.target.SpecHash = "sb"
		},
		want: "TFFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, stalls: v1alpha1.ReasonHeldBack, kstatus: "Failed",
	},
	{
		name: "reconfiguring", change: func(s *scope) { planFor(s, domain.ReasonConfigChanged); s.target.ConfigHash = "c2-s2" },
		want: "TFTF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, reconciling: domain.ReasonConfigChanged, kstatus: "InProgress",
	},
	{
		name: "a configuration that is not on disk yet", change: func(s *scope) { s.target.ConfigHash = "c2-s2" },
		want: "TFFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, kstatus: "InProgress",
	},
	{
		name: "peers changed, which the spec did not ask for", change: func(s *scope) { planFor(s, domain.ReasonPeersChanged); s.target.ConfigHash = "c2-s1" },
		want: "TTTF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonInSync, reconciling: domain.ReasonPeersChanged, kstatus: "InProgress",
	},
	{
		name: "seid has to restart", change: func(s *scope) { s.document.Seid.RestartDue = []string{"x"} },
		want: "TFFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, kstatus: "InProgress",
	},
	{
		name: "seid has to restart, and its sidecar does not answer any more", change: func(s *scope) {
			lastFailed(s, domain.ReasonConfigChanged, domain.StepRestartSeid)
			s.decision.HeldBack, s.decision.Missing, s.document = "", nil, nil
			s.setVerdict(v1alpha1.ConditionReady, no(v1alpha1.ReasonOutOfDate, "seid has to restart"))
		},
		want: "TFFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, kstatus: "InProgress",
	},
	{
		name: "a plan failed in this pass", change: func(s *scope) {
			s.finished = &v1alpha1.TaskPlan{Phase: v1alpha1.PlanFailed}
			lastFailed(s, domain.ReasonConfigChanged, domain.StepRestartSeid)
			s.again = true
		},
		want: "TFTT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate,
		reconciling: v1alpha1.ReasonProgressing, stalls: v1alpha1.ReasonHeldBack, kstatus: "InProgress",
	},
	{
		name: "a typo in overrides", change: func(s *scope) { s.target.ConfigProblem, s.target.ConfigHash = "spec.overrides: no such key", "" },
		want: "TFFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonSpecInvalid, stalls: v1alpha1.ReasonSpecInvalid, kstatus: "Failed",
	},
	{
		name: "a template that cannot be rendered", change: func(s *scope) { s.target.TemplateProblem, s.target.SpecHash = "spec.x: no", "" },
		want: "TFFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonSpecInvalid, stalls: v1alpha1.ReasonSpecInvalid, kstatus: "Failed",
	},
	{
		name: "refused configuration", change: func(s *scope) {
			s.target.ConfigHash = "c2-s2"
			s.document.Home.Refused = &api.Refusal{ConfigHash: "c2-s2", Error: "seid panics"}
		},
		want: "TFFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonConfigRefused, stalls: v1alpha1.ReasonConfigRefused, kstatus: "Failed",
	},
	{
		name: "somebody else's StatefulSet in the way", change: func(s *scope) { s.obstacle = errors.New("StatefulSet n is controlled by another") },
		want: "TFFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonSpecInvalid, stalls: v1alpha1.ReasonSpecInvalid, kstatus: "Failed",
	},
	{
		name: "a volume that cannot grow", change: func(s *scope) { s.facts.VolumeProblem = "the class forbids it" },
		want: "TTFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonInSync, stalls: v1alpha1.ReasonSpecInvalid, kstatus: "Failed",
	},
	{
		name: "the newest spec could not be looked at", change: func(s *scope) {
			s.node.Generation, s.err = 3, errors.New("no answer")
		},
		want: "TFFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, kstatus: "InProgress",
	},
	{
		name: "paused", change: func(s *scope) { s.node.Spec.Paused, s.objects.Pod = true, nil },
		want: "FFFF", inSync: v1alpha1.ReasonPaused, ready: v1alpha1.ReasonPaused, kstatus: "InProgress",
	},
	{
		name: "paused in the middle of a plan", change: func(s *scope) {
			planFor(s, domain.ReasonImageChanged)
			s.node.Spec.Paused, s.objects.Pod = true, nil
		},
		want: "FFFF", inSync: v1alpha1.ReasonPaused, ready: v1alpha1.ReasonPaused, kstatus: "InProgress",
	},
	{
		name: "without a pod", change: func(s *scope) { s.objects.Pod, s.document, s.sidecarStarted = nil, nil, false },
		want: "FFFF", inSync: v1alpha1.ReasonPodPending, ready: v1alpha1.ReasonPodPending, kstatus: "InProgress",
	},
	{
		name: "a kubelet that fell silent", change: func(s *scope) { setPodReady(s.objects.Pod, corev1.ConditionUnknown) },
		want: "??FF", inSync: v1alpha1.ReasonPodUnknown, ready: v1alpha1.ReasonPodUnknown, kstatus: "InProgress",
	},
	{
		name: "a pod on its way out", change: func(s *scope) { s.objects.Pod.DeletionTimestamp = new(metav1.NewTime(passAt)) },
		want: "FFFF", inSync: v1alpha1.ReasonPodNotReady, ready: v1alpha1.ReasonPodNotReady, kstatus: "InProgress",
	},
	{
		name: "terminating", change: func(s *scope) { s.node.DeletionTimestamp = new(metav1.NewTime(passAt)) },
		want: "TTFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonInSync, kstatus: "Terminating",
	},
}
