package node_test

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

var passAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// settledPass is a pass over a node that runs its spec, is in sync, and has nothing left to do.
func settledPass() *node.Pass {
	at := metav1.NewTime(passAt.Add(-time.Hour))
	owner := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", Generation: 2}}
	owner.Spec.FullNode = &v1alpha1.FullNodeSpec{}
	owner.Status = v1alpha1.SeiNodeStatus{Phase: v1alpha1.NodeRunning, InitializedAt: &at, ObservedGeneration: 2, ConfigHash: "c1-s1"}
	owner.Status.LastPlan = &v1alpha1.PlanSummary{Reason: node.ReasonNewNode, Outcome: v1alpha1.OutcomeComplete}
	return &node.Pass{
		Node: owner, Now: passAt, Read: true, SidecarRuns: true,
		Target: node.Target{PlanTarget: v1alpha1.PlanTarget{SpecHash: "sa", ConfigHash: "c1-s1", Generation: 2}},
		Facts: node.Facts{Document: &api.Node{
			APILevel: api.Level, Gate: api.Gate{State: api.GateOpen}, Home: api.Home{ConfigHash: "c1-s1"},
			Seid: api.Seid{State: api.SeidRunning}, Sync: api.Sync{State: api.SyncInSync},
		}},
		Pod: &node.Pod{Build: node.Build{SpecHash: "sa"}, Ready: true, SidecarRuns: true},
	}
}

// report derives the status of a pass, as if it had been stored.
func report(p *node.Pass) { p.Node.Status = *node.Report(p) }

func planFor(p *node.Pass, reason string) {
	p.Node.Status.Plan = &v1alpha1.TaskPlan{Reason: reason, Message: "because", Phase: v1alpha1.PlanActive, Tasks: []v1alpha1.PlannedTask{{Type: "x"}}}
}

// newNode takes away all that a node gets in its life.
func newNode(p *node.Pass) {
	p.Node.Status = v1alpha1.SeiNodeStatus{Phase: v1alpha1.NodePending}
	p.Pod, p.Facts.Document, p.SidecarRuns = nil, nil, false
}

func notInSync(state api.SyncState) func(*node.Pass) {
	return func(p *node.Pass) {
		p.Pod.Ready = false
		p.Facts.Document.Sync = api.Sync{State: state, Message: "so it is"}
	}
}

// lastFailed has the last plan fail, and what it was for be held back.
func lastFailed(p *node.Pass, reason, step string) {
	p.Node.Status.LastPlan = &v1alpha1.PlanSummary{Reason: reason, Outcome: v1alpha1.OutcomeFailed, FailedTask: step, Error: "no"}
	p.Decision.HeldBack, p.Decision.Missing = "failed before", []node.Missing{{Step: step, Because: "x"}}
}

// state is a situation that the conditions of a node can express. The statuses are those of
// InSync, Ready, Reconciling and Stalled: T, F or ? each. kstatus is what tools make of them.
type state struct {
	name                string
	change              func(*node.Pass)
	want                string
	inSync, ready       string // reasons
	reconciling, stalls string // reasons, empty where nothing is the matter
	kstatus             string
}

var states = []state{
	{name: "in sync on its spec", change: func(*node.Pass) {}, want: "TTFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonInSync, kstatus: "Current"},
	{
		name: "initializing", change: func(p *node.Pass) {
			newNode(p)
			planFor(p, node.ReasonNewNode)
		},
		want: "FFTF", inSync: v1alpha1.ReasonInitializing, ready: v1alpha1.ReasonInitializing, reconciling: node.ReasonNewNode, kstatus: "InProgress",
	},
	{
		name: "new, with a spec that cannot be acted on", change: func(p *node.Pass) { newNode(p); p.Target.ConfigProblem = "spec.overrides: no such key" },
		want: "FFFT", inSync: v1alpha1.ReasonInitializing, ready: v1alpha1.ReasonInitializing, stalls: v1alpha1.ReasonSpecInvalid, kstatus: "Failed",
	},
	{
		name: "bring-up failed", change: func(p *node.Pass) {
			newNode(p)
			lastFailed(p, node.ReasonNewNode, node.StepConfigValidate)
		},
		want: "FFFT", inSync: v1alpha1.ReasonInitFailed, ready: v1alpha1.ReasonInitFailed, stalls: v1alpha1.ReasonHeldBack, kstatus: "Failed",
	},
	{
		name: "the gate does not start seid with another key", change: func(p *node.Pass) {
			notInSync(api.SyncStarting)(p)
			p.Facts.Document.Gate.Refusal, p.Facts.Document.Seid.State = "the key is another", api.SeidWaiting
		},
		want: "FFFT", inSync: v1alpha1.ReasonStartRefused, ready: v1alpha1.ReasonStartRefused, stalls: v1alpha1.ReasonStartRefused, kstatus: "Failed",
	},
	{
		name: "updating, the old pod still in sync", change: func(p *node.Pass) { planFor(p, node.ReasonImageChanged); p.Target.SpecHash = "sb" },
		want: "TFTF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, reconciling: node.ReasonImageChanged, kstatus: "InProgress",
	},
	{
		name: "updating, the new pod is catching up", change: func(p *node.Pass) {
			planFor(p, node.ReasonImageChanged)
			notInSync(api.SyncCatchingUp)(p)
		},
		want: "FFTF", inSync: v1alpha1.ReasonCatchingUp, ready: v1alpha1.ReasonCatchingUp, reconciling: node.ReasonImageChanged, kstatus: "InProgress",
	},
	{
		name: "an update failed", change: func(p *node.Pass) {
			lastFailed(p, node.ReasonImageChanged, node.StepApplyStatefulSet)
			p.Target.SpecHash = "sb"
		},
		want: "TFFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, stalls: v1alpha1.ReasonHeldBack, kstatus: "Failed",
	},
	{
		name: "reconfiguring", change: func(p *node.Pass) { planFor(p, node.ReasonConfigChanged); p.Target.ConfigHash = "c2-s2" },
		want: "TFTF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, reconciling: node.ReasonConfigChanged, kstatus: "InProgress",
	},
	{
		name: "a configuration that is not on disk yet", change: func(p *node.Pass) { p.Target.ConfigHash = "c2-s2" },
		want: "TFFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, kstatus: "InProgress",
	},
	{
		name: "peers changed, which the spec did not ask for", change: func(p *node.Pass) { planFor(p, node.ReasonPeersChanged); p.Target.ConfigHash = "c2-s1" },
		want: "TTTF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonInSync, reconciling: node.ReasonPeersChanged, kstatus: "InProgress",
	},
	{
		name: "seid has to restart", change: func(p *node.Pass) { p.Facts.Document.Seid.RestartDue = []string{"x"} },
		want: "TFFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, kstatus: "InProgress",
	},
	{
		name: "seid has to restart, and its sidecar does not answer any more", change: func(p *node.Pass) {
			lastFailed(p, node.ReasonConfigChanged, node.StepRestartSeid)
			p.Decision.HeldBack, p.Decision.Missing, p.Facts.Document = "", nil, nil
			conditions.For(&p.Node.Status.Conditions, 2, passAt).False(v1alpha1.ConditionReady, v1alpha1.ReasonOutOfDate, "seid has to restart")
		},
		want: "TFFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, kstatus: "InProgress",
	},
	{
		name: "a plan failed in this pass", change: func(p *node.Pass) {
			p.Ended = &v1alpha1.TaskPlan{Phase: v1alpha1.PlanFailed}
			lastFailed(p, node.ReasonConfigChanged, node.StepRestartSeid)
		},
		want: "TFFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, stalls: v1alpha1.ReasonHeldBack, kstatus: "Failed",
	},
	{
		name: "a typo in overrides", change: func(p *node.Pass) { p.Target.ConfigProblem, p.Target.ConfigHash = "spec.overrides: no such key", "" },
		want: "TFFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonSpecInvalid, stalls: v1alpha1.ReasonSpecInvalid, kstatus: "Failed",
	},
	{
		name: "a template that cannot be rendered", change: func(p *node.Pass) { p.Target.TemplateProblem, p.Target.SpecHash = "spec.x: no", "" },
		want: "TFFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonSpecInvalid, stalls: v1alpha1.ReasonSpecInvalid, kstatus: "Failed",
	},
	{
		name: "refused configuration", change: func(p *node.Pass) {
			p.Target.ConfigHash = "c2-s2"
			p.Facts.Document.Home.Refused = &api.Refusal{ConfigHash: "c2-s2", Error: "seid panics"}
		},
		want: "TFFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonConfigRefused, stalls: v1alpha1.ReasonConfigRefused, kstatus: "Failed",
	},
	{
		name: "somebody else's StatefulSet in the way", change: func(p *node.Pass) { p.Obstacle = "StatefulSet n is controlled by another" },
		want: "TFFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonSpecInvalid, stalls: v1alpha1.ReasonSpecInvalid, kstatus: "Failed",
	},
	{
		name: "a volume that cannot grow", change: func(p *node.Pass) { p.VolumeProblem = "the class forbids it" },
		want: "TTFT", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonInSync, stalls: v1alpha1.ReasonVolumeNotResized, kstatus: "Failed",
	},
	{
		name: "the newest spec could not be looked at", change: func(p *node.Pass) {
			p.Node.Generation, p.Err = 3, errors.New("no answer")
		},
		want: "TFFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonOutOfDate, kstatus: "InProgress",
	},
	{
		name: "paused", change: func(p *node.Pass) { p.Node.Spec.Paused, p.Pod = true, nil },
		want: "FFFF", inSync: v1alpha1.ReasonPaused, ready: v1alpha1.ReasonPaused, kstatus: "InProgress",
	},
	{
		name: "paused in the middle of a plan", change: func(p *node.Pass) {
			planFor(p, node.ReasonImageChanged)
			p.Node.Spec.Paused, p.Pod = true, nil
		},
		want: "FFFF", inSync: v1alpha1.ReasonPaused, ready: v1alpha1.ReasonPaused, kstatus: "InProgress",
	},
	{
		name: "without a pod", change: func(p *node.Pass) { p.Pod, p.Facts.Document, p.SidecarRuns = nil, nil, false },
		want: "FFFF", inSync: v1alpha1.ReasonPodPending, ready: v1alpha1.ReasonPodPending, kstatus: "InProgress",
	},
	{
		name: "a kubelet that fell silent", change: func(p *node.Pass) { p.Pod.Ready, p.Pod.Lost = false, true },
		want: "??FF", inSync: v1alpha1.ReasonPodUnknown, ready: v1alpha1.ReasonPodUnknown, kstatus: "InProgress",
	},
	{
		name: "a pod on its way out", change: func(p *node.Pass) { p.Pod.Leaving = true },
		want: "FFFF", inSync: v1alpha1.ReasonPodNotReady, ready: v1alpha1.ReasonPodNotReady, kstatus: "InProgress",
	},
	{
		name: "terminating", change: func(p *node.Pass) { p.Node.DeletionTimestamp = new(metav1.NewTime(passAt)) },
		want: "TTFF", inSync: v1alpha1.ReasonInSync, ready: v1alpha1.ReasonInSync, kstatus: "Terminating",
	},
}
