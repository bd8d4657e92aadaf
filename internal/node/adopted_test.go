package node_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
)

// foreign is a running node as another operator leaves it.
func foreign(in *node.Input) {
	in.Facts.StatefulSet, in.Facts.Pod = &node.Build{Image: "seid:a", Foreign: true}, &node.Build{Image: "seid:a", Foreign: true}
	in.Facts.SeidStarted, in.Facts.PodCurrent, in.Facts.Document = true, true, nil
}

// adopted is that node once this operator has applied its StatefulSet.
func adopted(in *node.Input) {
	foreign(in)
	sts := buildA
	in.Facts.StatefulSet, in.Facts.AdoptedSpecHash = &sts, buildA.SpecHash
}

func stopped(in *node.Input) { in.Facts.SeidStarted = false }

func TestDecide_NodeOfAnotherOperator_KeepsItsPodUntilARestartIsDue(t *testing.T) {
	const replaced = "replaced by one of this operator"
	checkAll(t, []row{
		{
			name: "its StatefulSet is adopted, and its pod stays", in: with(foreign), action: node.Start,
			reason: node.ReasonStatefulSetAdopted, tasks: "apply-statefulset", says: "its pod keeps running",
		},
		{
			name: "a webhook has rewritten the image of its pod", in: with(foreign, func(in *node.Input) { in.Facts.Pod.Image = "mirror/seid:a" }),
			action: node.Start, reason: node.ReasonStatefulSetAdopted, tasks: "apply-statefulset",
		},
		{
			name: "a validator's is replaced: nobody tells which key it signs with", in: with(foreign, signing), action: node.Start,
			reason: node.ReasonPodTemplateChanged, says: replaced,
			tasks: "validate-signing-key reserve-consensus-key apply-statefulset replace-pod observe-image config-apply config-validate mark-ready",
		},
		{
			name: "it mounts a key, which may sign", in: with(foreign, func(in *node.Input) { in.Facts.StatefulSet.Secrets = true }),
			action: node.Start, reason: node.ReasonPodTemplateChanged, tasks: update, says: replaced,
		},
		{
			name: "its pod is from an earlier template", in: with(foreign, func(in *node.Input) { in.Facts.PodCurrent = false }),
			action: node.Start, reason: node.ReasonPodTemplateChanged, tasks: update, says: replaced,
		},
		{
			name: "another image was asked for, and taken back in time", in: with(adopted, active(node.ReasonImageChanged, list(update))),
			action: node.Drop, why: "replace-pod is no longer needed",
		},
		{name: "then nothing is missing", in: with(adopted)},
		{name: "another configuration waits for the restart", in: with(adopted, config("c2-s2"))},
		{
			name: "another image before it was adopted", in: with(foreign, wants(buildB)),
			action: node.Start, reason: node.ReasonImageChanged, tasks: update, says: "image changes from seid:a to seid:b",
		},
		{
			name: "another image afterwards", in: with(adopted, wants(buildB)),
			action: node.Start, reason: node.ReasonImageChanged, tasks: update, says: "image changes from seid:a to seid:b",
		},
		{
			name: "another template afterwards", in: with(adopted, func(in *node.Input) { in.Target.SpecHash = "sa2" }),
			action: node.Start, reason: node.ReasonPodTemplateChanged, tasks: update,
		},
		{
			name: "a restart is requested", in: with(adopted, func(in *node.Input) { in.Target.SpecHash, in.Target.Restart = "sa2", "now" }),
			action: node.Start, reason: node.ReasonRestartRequested, tasks: update, says: "restart",
		},
		{
			name: "seid did not run when it was found", in: with(foreign, stopped),
			action: node.Start, reason: node.ReasonPodTemplateChanged, tasks: update, says: replaced,
		},
		{
			name: "seid stops later", in: with(adopted, stopped), action: node.Start, reason: node.ReasonPodTemplateChanged,
			tasks: "replace-pod observe-image config-apply config-validate mark-ready", says: replaced,
		},
		{
			name: "an unfinished node is never left with it", in: with(foreign, func(in *node.Input) { in.Facts.Initialized = false }),
			action: node.Start, reason: node.ReasonNewNode, tasks: "apply-statefulset replace-pod observe-image config-apply config-validate mark-ready",
		},
		{
			name: "a StatefulSet that was made anew does not know of it",
			in:   with(adopted, func(in *node.Input) { in.Facts.AdoptedSpecHash = "" }), action: node.Start,
			reason: node.ReasonPodTemplateChanged, tasks: "replace-pod observe-image config-apply config-validate mark-ready", says: replaced,
		},
	})
}

func TestDecide_AdoptedPod_WaitsForARestart(t *testing.T) {
	for name, in := range map[string]node.Input{"found": with(foreign), "adopted": with(adopted)} {
		if got := node.Decide(in).PendingRestart; !strings.Contains(got, v1alpha1.AnnotationRestart) {
			t.Errorf("%s: pending restart %q, want it to name %s", name, got, v1alpha1.AnnotationRestart)
		}
	}
}

// What nobody asks the sidecar of is not called in sync for certain, and the spec is not in force.
func TestReport_AdoptedPod_SaysThatTheSpecIsNotInForce(t *testing.T) {
	for name, c := range map[string]struct {
		ready  bool
		inSync metav1.ConditionStatus
		reason string
	}{
		"its readiness probe succeeds": {true, metav1.ConditionTrue, v1alpha1.ReasonOutOfDate},
		"its readiness probe fails":    {false, metav1.ConditionFalse, v1alpha1.ReasonNotInSync},
	} {
		p := settledPass()
		p.Facts.Document, p.Pod.Build, p.SidecarRuns = nil, node.Build{Image: "seid:a", Foreign: true}, false
		p.Facts.StatefulSet, p.Facts.AdoptedSpecHash, p.Facts.SeidStarted = &node.Build{SpecHash: p.Target.SpecHash}, p.Target.SpecHash, true
		p.Facts.Initialized, p.Facts.Pod = true, &p.Pod.Build
		p.Pod.Ready, p.Pod.SeidStarted, p.Pod.SidecarRuns = c.ready, true, false
		status := node.Report(p)
		ready, inSync := conditions.Get(status.Conditions, v1alpha1.ConditionReady), conditions.Get(status.Conditions, v1alpha1.ConditionInSync)
		if inSync.Status != c.inSync || ready.Status != metav1.ConditionFalse || ready.Reason != c.reason {
			t.Errorf("%s: InSync %s, want %s; Ready %s %s %q, want False %s", name, inSync.Status, c.inSync, ready.Status, ready.Reason, ready.Message, c.reason)
		}
		if c.ready && !strings.Contains(ready.Message, "another operator created the pod") {
			t.Errorf("%s: message %q, want it to say whose pod it is", name, ready.Message)
		}
		sidecar := conditions.Get(status.Conditions, v1alpha1.ConditionSidecarReady)
		if sidecar.Status != metav1.ConditionFalse || sidecar.Reason != v1alpha1.ReasonNotApplicable || !strings.Contains(sidecar.Message, "another operator") {
			t.Errorf("%s: SidecarReady %s %q, want False %s and whose pod it is", name, sidecar.Status, sidecar.Message, v1alpha1.ReasonNotApplicable)
		}
	}
}
