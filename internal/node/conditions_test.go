package node_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// reported is the pass of a state, with its conditions derived.
func (c *state) reported() *node.Pass {
	p := settledPass()
	c.change(p)
	report(p)
	return p
}

var letters = map[metav1.ConditionStatus]string{metav1.ConditionTrue: "T", metav1.ConditionFalse: "F", metav1.ConditionUnknown: "?"}

func TestConditions_EveryState(t *testing.T) {
	for _, c := range states {
		t.Run(c.name, func(t *testing.T) {
			p := c.reported()
			statuses, reasons := "", map[string]string{}
			for _, of := range []string{v1alpha1.ConditionInSync, v1alpha1.ConditionReady, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
				got := conditions.Get(p.Node.Status.Conditions, of)
				if got == nil && p.Err != nil {
					statuses += "F" // what was not looked at is left as it was, here: absent
					continue
				}
				statuses += letters[got.Status]
				reasons[of] = got.Reason
				if got.ObservedGeneration != p.Node.Generation {
					t.Errorf("%s speaks of generation %d", of, got.ObservedGeneration)
				}
			}
			if statuses != c.want {
				t.Errorf("InSync, Ready, Reconciling, Stalled are %s, want %s: %+v", statuses, c.want, p.Node.Status.Conditions)
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
	differs := map[string]func(*node.Pass){
		"the pod":           func(p *node.Pass) { p.Target.SpecHash = "sb" },
		"the configuration": func(p *node.Pass) { p.Target.ConfigHash = "c2-s2" },
		"the process": func(p *node.Pass) {
			p.Facts.Document = &api.Node{APILevel: api.LevelNode, Seid: api.Seid{RestartDue: []string{"x"}}}
		},
		"an invalid spec":    func(p *node.Pass) { p.Target.ConfigProblem, p.Target.ConfigHash = "no such key", "" },
		"an unseen spec":     func(p *node.Pass) { p.Node.Generation, p.Err = 3, errors.New("no answer") },
		"a spec nobody read": func(p *node.Pass) { p.Node.Generation, p.Err, p.Read = 3, errors.New("no answer"), false },
	}
	for what, change := range differs {
		for _, c := range states {
			p := settledPass()
			report(p) // it was Ready before
			c.change(p)
			change(p)
			report(p)
			if conditions.Is(p.Node.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "") {
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
		p := settledPass()
		notInSync(state)(p)
		report(p)
		got := conditions.Get(p.Node.Status.Conditions, v1alpha1.ConditionInSync)
		if got.Status != metav1.ConditionFalse || got.Reason != want || !strings.Contains(got.Message, "so it is") {
			t.Errorf("%s: %s %s %q, want %s", state, got.Status, got.Reason, got.Message, want)
		}
	}
}

// After what is and why comes what happens next: a node without peers names where they come from.
func TestInSync_WithoutPeers_NamesTheSourcesOfPeers(t *testing.T) {
	for want, sources := range map[string][]v1alpha1.PeerSource{
		"; waiting for peers to connect, as spec.peers names none": nil,
		"; waiting for peers from label source role=sentry, EC2 tags in eu-central-1, static addresses": {
			{Label: &v1alpha1.LabelPeers{Selector: map[string]string{"role": "sentry"}}},
			{EC2Tags: &v1alpha1.EC2TagPeers{Region: "eu-central-1"}},
			{Static: &v1alpha1.StaticPeers{}},
		},
	} {
		p := settledPass()
		notInSync(api.SyncNoPeers)(p)
		p.Node.Spec.Peers = sources
		report(p)
		if got := conditions.Get(p.Node.Status.Conditions, v1alpha1.ConditionInSync).Message; !strings.HasSuffix(got, want) {
			t.Errorf("message %q, want it to end with %q", got, want)
		}
	}
}

func TestInSync_GateAndProcess_AreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*node.Pass)
		want   string
	}{
		"closed gate": {func(p *node.Pass) { p.Facts.Document.Gate.State = api.GateClosed }, v1alpha1.ReasonGateClosed},
		"held gate":   {func(p *node.Pass) { p.Facts.Document.Gate.State = api.GateHeld }, v1alpha1.ReasonGateClosed},
		"open gate that refuses to start": {func(p *node.Pass) {
			p.Facts.Document.Gate.Refusal, p.Facts.Document.Seid.State = "another key", api.SeidWaiting
		}, v1alpha1.ReasonStartRefused},
		"draining":                          {func(p *node.Pass) { p.Facts.Document.Sync.Draining = true }, v1alpha1.ReasonDraining},
		"a sidecar that does not answer":    {func(p *node.Pass) { p.Facts.Document = nil }, v1alpha1.ReasonPodNotReady},
		"a sidecar that cannot tell":        {func(p *node.Pass) { p.Facts.Document.APILevel = 3; p.Facts.Document.Sync.State = api.SyncNoPeers }, v1alpha1.ReasonPodNotReady},
		"a pod that is pending":             {func(p *node.Pass) { p.Pod.Pending = true }, v1alpha1.ReasonPodPending},
		"no pod, because one is in the way": {func(p *node.Pass) { p.Pod, p.PodObstacle = nil, "pod n-0 was not created by the operator" }, v1alpha1.ReasonPodPending},
	} {
		p := settledPass()
		notInSync(api.SyncNotRunning)(p)
		c.change(p)
		report(p)
		if got := conditions.Get(p.Node.Status.Conditions, v1alpha1.ConditionInSync); got.Reason != c.want {
			t.Errorf("%s: %s %q, want %s", name, got.Reason, got.Message, c.want)
		}
	}
}

// N33: a seid that was started may sign while its sidecar restarts, and does not count as down: a fleet
// would take it down beside another one.
func TestInSync_SidecarRestarts_NobodyKnows(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*node.Pass)
		status metav1.ConditionStatus
		reason string
	}{
		"it does not run":          {func(p *node.Pass) { p.Facts.Document, p.SidecarRuns = nil, false }, metav1.ConditionUnknown, v1alpha1.ReasonSyncUnknown},
		"it is back, gate closed":  {func(p *node.Pass) { p.Facts.Document.Gate.State = api.GateClosed }, metav1.ConditionUnknown, v1alpha1.ReasonSyncUnknown},
		"it is back, gate open":    {func(*node.Pass) {}, metav1.ConditionUnknown, v1alpha1.ReasonSyncUnknown},
		"it says why seid is not":  {func(p *node.Pass) { p.Facts.Document.Sync.State = api.SyncNoPeers }, metav1.ConditionFalse, v1alpha1.ReasonNoPeers},
		"an older one":             {func(p *node.Pass) { p.Facts.Document.APILevel = 3 }, metav1.ConditionFalse, v1alpha1.ReasonNotInSync},
		"seid restarts as well":    {func(p *node.Pass) { p.Facts.Document, p.Pod.SeidStarted = nil, false }, metav1.ConditionFalse, v1alpha1.ReasonPodNotReady},
		"the pod is being deleted": {func(p *node.Pass) { p.Facts.Document, p.Pod.Leaving = nil, true }, metav1.ConditionFalse, v1alpha1.ReasonPodNotReady},
	} {
		p := settledPass()
		p.Pod.Ready, p.Pod.SeidStarted = false, true
		c.change(p)
		got := conditions.Get(node.Report(p).Conditions, v1alpha1.ConditionInSync)
		if got.Status != c.status || got.Reason != c.reason {
			t.Errorf("%s: %s %s %q, want %s %s", name, got.Status, got.Reason, got.Message, c.status, c.reason)
		}
	}
}

// A message never claims what was not observed: a pass that could not read leaves what is said of
// pod and chain as it was.
func TestConditions_NothingWasRead_KeepWhatWasSeenLast(t *testing.T) {
	p := settledPass()
	report(p)
	next := &node.Pass{Node: p.Node, Now: passAt.Add(time.Minute), Err: errors.New("the cache is gone")}
	report(next)
	for _, of := range []string{v1alpha1.ConditionInSync, v1alpha1.ConditionReady, v1alpha1.ConditionSidecarReady} {
		if !conditions.Is(next.Node.Status.Conditions, of, metav1.ConditionTrue, "") {
			t.Errorf("%s: %+v, want it True", of, conditions.Get(next.Node.Status.Conditions, of))
		}
	}
}

func TestInSync_PodThatIsNotReady_SaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		pod             *node.Pod
		reason, message string
	}{
		"none":               {nil, v1alpha1.ReasonPodPending, "there is no pod; waiting for the StatefulSet controller to create it"},
		"starting":           {&node.Pod{Pending: true}, v1alpha1.ReasonPodPending, "the pod is starting"},
		"without a place":    {&node.Pod{Pending: true, Unschedulable: "no room"}, v1alpha1.ReasonPodPending, "the pod cannot be scheduled: no room"},
		"seid is starting":   {&node.Pod{}, v1alpha1.ReasonPodNotReady, "seid is starting"},
		"seid runs":          {&node.Pod{SeidStarted: true}, v1alpha1.ReasonSyncUnknown, "the sidecar does not answer: it is unknown whether seid is in sync"},
		"replaced":           {&node.Pod{Ready: true, Leaving: true}, v1alpha1.ReasonPodNotReady, "the pod is being replaced"},
		"on a silent node":   {&node.Pod{Lost: true, KubernetesNode: "k1"}, v1alpha1.ReasonPodUnknown, "Kubernetes node k1 does not answer: it is unknown whether the pod is running"},
		"lost while leaving": {&node.Pod{Lost: true, Leaving: true, KubernetesNode: "k1"}, v1alpha1.ReasonPodUnknown, "Kubernetes node k1 does not answer: it is unknown whether the pod is running"},
		"in trouble":         {&node.Pod{Trouble: node.Trouble{Reason: v1alpha1.ReasonImagePullFailed, Message: "no such image"}}, v1alpha1.ReasonImagePullFailed, "no such image"},
	} {
		p := settledPass()
		p.Pod, p.Facts.Document = c.pod, nil
		got := conditions.Get(node.Report(p).Conditions, v1alpha1.ConditionInSync)
		if got.Reason != c.reason || got.Message != c.message {
			t.Errorf("%s: %s %q, want %s %q", name, got.Reason, got.Message, c.reason, c.message)
		}
	}
}

// A container that runs again after a crash may serve, and nobody relies on that before it has run
// for a while.
func TestReady_ContainerThatRunsAfterACrash_IsNotYet(t *testing.T) {
	for name, c := range map[string]struct {
		pod           node.Pod
		inSync, ready metav1.ConditionStatus
		reason        string
	}{
		"the pod is ready":           {node.Pod{Ready: true}, metav1.ConditionTrue, metav1.ConditionFalse, v1alpha1.ReasonPodCrashLooping},
		"the pod is not ready":       {node.Pod{}, metav1.ConditionFalse, metav1.ConditionFalse, v1alpha1.ReasonPodCrashLooping},
		"its kubelet is silent":      {node.Pod{Lost: true}, metav1.ConditionUnknown, metav1.ConditionUnknown, v1alpha1.ReasonPodUnknown},
		"an update is under way too": {node.Pod{Ready: true, Build: node.Build{SpecHash: "older"}}, metav1.ConditionTrue, metav1.ConditionFalse, v1alpha1.ReasonPodCrashLooping},
	} {
		p := settledPass()
		c.pod.Trouble = node.Trouble{Reason: v1alpha1.ReasonPodCrashLooping, Message: "container seid is crash-looping", Until: p.Now.Add(time.Second)}
		p.Pod, p.Facts.Document = &c.pod, nil
		got := node.Report(p).Conditions
		if !conditions.Is(got, v1alpha1.ConditionInSync, c.inSync, "") || !conditions.Is(got, v1alpha1.ConditionReady, c.ready, c.reason) {
			t.Errorf("%s: %+v, want InSync %s and Ready %s for %s", name, got, c.inSync, c.ready, c.reason)
		}
	}
}

// A volume that cannot grow does not hide what else keeps the spec from coming into force.
func TestReady_VolumeCannotGrowAndSpecIsNotActedOn_IsFalse(t *testing.T) {
	p := settledPass()
	p.VolumeProblem, p.Obstacle = "the class forbids it", "StatefulSet n is controlled by another"
	if got := conditions.Get(node.Report(p).Conditions, v1alpha1.ConditionReady); got.Status != metav1.ConditionFalse || got.Reason != v1alpha1.ReasonSpecInvalid {
		t.Errorf("%s %s %q, want Status %v and Reason %v", got.Status, got.Reason, got.Message, metav1.ConditionFalse, v1alpha1.ReasonSpecInvalid)
	}
}

// SidecarReady is about the gate as the pass saw or left it, and keeps what it said while an answer
// may still come.
func TestSidecarReady_GateAsThePassSawOrLeftIt(t *testing.T) {
	gate := func(g api.Gate) func(*node.Pass) { return func(p *node.Pass) { p.Facts.Document.Gate = g } }
	for name, c := range map[string]struct {
		change func(*node.Pass)
		want   string
	}{
		"open":   {func(*node.Pass) {}, "True Ready"},
		"closed": {gate(api.Gate{State: api.GateClosed}), "False NotReady"},
		"held":   {gate(api.Gate{State: api.GateHeld}), "False Held"},
		"forgotten by the sidecar": {func(p *node.Pass) {
			p.Facts.Document.Gate.State, p.Facts.Operation = api.GateClosed, "reset"
		}, "False Held"},
		"opened by its operation": {func(p *node.Pass) { p.Facts.Operation = "reset" }, "True Ready"},
		"refused":                 {gate(api.Gate{State: api.GateOpen, Refusal: "another key"}), "False StartRefused"},
		"opened in this pass": {func(p *node.Pass) {
			p.Facts.Document.Gate.State = api.GateClosed
			ran(p, map[string]plan.Outcome{node.StepMarkReady: plan.Done("")}, node.StepMarkReady)
		}, "True Ready"},
		"open, with a pod of an older operator": {func(p *node.Pass) { p.Pod.SharedAudience = true }, "True SharedAudience"},
		"open, with an older sidecar":           {func(p *node.Pass) { p.Facts.Document.APILevel = api.LevelNodeToken - 1 }, "True SharedAudience"},
		"open, in the clear":                    {func(p *node.Pass) { p.Pod.Plaintext = true }, "True Plaintext"},
		"open, older in both":                   {func(p *node.Pass) { p.Pod.SharedAudience, p.Pod.Plaintext = true, true }, "True SharedAudience"},
		"closed, with an older sidecar":         {func(p *node.Pass) { p.Pod.SharedAudience = true; p.Facts.Document.Gate.State = api.GateClosed }, "False NotReady"},
		"the pass took the pod away":            {func(p *node.Pass) { p.Pod.SidecarRuns, p.Pod.Leaving = false, true }, "Unknown Unreachable"},
		"no pod":                                {func(p *node.Pass) { p.Pod, p.Facts.Document, p.SidecarRuns = nil, nil, false }, "Unknown Unreachable"},
		"no answer":                             {func(p *node.Pass) { p.Facts.Document = nil }, "Unknown Unreachable"},
		"no answer yet, open before":            {func(p *node.Pass) { report(p); p.Facts.Document, p.Unanswered = nil, true }, "True Ready"},
		"no answer yet, nothing before":         {func(p *node.Pass) { p.Facts.Document, p.Unanswered = nil, true }, "Unknown Unreachable"},
		"no answer yet, of another pod":         {func(p *node.Pass) { report(p); p.Pod, p.Facts.Document, p.Unanswered = &node.Pod{}, nil, true }, "Unknown Unreachable"},
		"the pass could not read":               {func(p *node.Pass) { report(p); p.Facts.Document, p.Err = nil, errors.New("no answer") }, "True Ready"},
		"paused":                                {func(p *node.Pass) { p.Node.Spec.Paused = true }, "False NotApplicable"},
		"not brought up yet":                    {newNode, "False NotApplicable"},
	} {
		p := settledPass()
		c.change(p)
		got := conditions.Get(node.Report(p).Conditions, v1alpha1.ConditionSidecarReady)
		if string(got.Status)+" "+got.Reason != c.want {
			t.Errorf("%s: %s %s %q, want %s", name, got.Status, got.Reason, got.Message, c.want)
		}
	}
}
