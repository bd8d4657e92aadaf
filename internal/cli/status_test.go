package cli

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// A fleet in the middle of a rollout: rpc-0 is done, rpc-1 is being updated, rpc-2 has gone wrong in
// its state, and beside it stands a validator whose pod is not there.
func rollout(t *testing.T) *plugin {
	t.Helper()
	fleet := aFleet()
	fleet.Spec.Template.Spec.Image = newImage
	fleet.Status.Phase, fleet.Status.ReadyReplicas = seiv1.DeploymentUpgrading, 2
	fleet.Status.Rollout = &seiv1.RolloutStatus{
		Reason: seiv1.RolloutTemplateChanged, TargetHash: "abc", StartedAt: ago(5 * time.Minute), Updated: 1, Total: 3, WaitingOn: "rpc-1: ImageChanged",
	}
	n0, n1, n2 := member(0), member(1), member(2)
	n0.Spec.Image, n0.Status.CurrentImage = newImage, newImage
	n1.Spec.Image, n1.Status.Plan = newImage, anUpdate()
	n1.Status.Conditions = []metav1.Condition{condition(seiv1.ConditionReady, metav1.ConditionFalse, "PodNotReady", "pod rpc-1-0 is not ready: "+
		"container seid is waiting: ContainerCreating; the kubelet starts it when its image is there")}
	lone := aNode("val")
	lone.Spec.FullNode, lone.Spec.Validator = nil, &seiv1.ValidatorSpec{}
	lone.Status.Conditions = []metav1.Condition{condition(seiv1.ConditionReady, metav1.ConditionFalse, "PodPending", "there is no pod yet")}
	pod1 := aPod(n1)
	pod1.Status.ContainerStatuses[0] = corev1.ContainerStatus{
		Name: "seid", RestartCount: 2, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
	}
	p := newPlugin(t, fleet, n2, n1, n0, lone, aPod(n0), pod1, aPod(n2), aClaim(n0), aClaim(n1), aClaim(n2))
	good, bad := strings.Repeat("q", 42)+"o=", strings.Repeat("u", 42)+"o="
	p.cluster.Pods = podAnswers{
		"rpc-0-0 7777 /v0/metrics": sidecarMetrics("inSync", 1200, 0, 24, 400e9),
		"rpc-0-0 26657 /abci_info": abciInfo(1200, good),
		"rpc-0-0 26657 /commit":    commit(1151, hexOf(good)),
		"rpc-2-0 7777 /v0/metrics": sidecarMetrics("catchingUp", 1150, 50, 7, 600e9),
		"rpc-2-0 26657 /abci_info": abciInfo(1150, bad),
		"rpc-2-0 26657 /commit":    commit(1151, hexOf(good)),
	}
	return p
}

func TestStatus_DuringARollout_ShowsFleetNodesPodsAndPlan(t *testing.T) {
	p := rollout(t)
	golden(t, "status.txt", p.mustRun(t, "status"))
	golden(t, "status-wide.txt", p.mustRun(t, "status", "-o", "wide"))
	golden(t, "status.json", p.mustRun(t, "status", "-o", "json"))
	golden(t, "status-fleet.yaml", p.mustRun(t, "status", "fleet/rpc", "-o", "yaml"))
	golden(t, "status-node.txt", p.mustRun(t, "status", "rpc-0"))
	golden(t, "status-all.txt", p.mustRun(t, "status", "-A"))
	golden(t, "status-name.txt", p.mustRun(t, "status", "-o", "name"))
}

// Two nodes of a new network. That a disk is new is no fact that is missing; what is missing of both is said once.
func TestStatus_NewNodes_AreShownWithWhatIsMissingOfBoth(t *testing.T) {
	a, b := aNode("a"), aNode("b")
	young := aClaim(a)
	young.CreationTimestamp = ago(time.Hour)
	p := newPlugin(t, a, b, aPod(a), aPod(b), young)
	p.cluster.Pods = podAnswers{
		"a-0 7777 /v0/metrics": sidecarMetrics("inSync", 1200, 0, 24, 400e9),
		"b-0 7777 /v0/metrics": sidecarMetrics("inSync", 1200, 0, 24, 400e9),
	}
	golden(t, "status-young.txt", p.mustRun(t, "status"))
}

func TestStatus_NarrowTerminal_CutsSentencesAndNothingElse(t *testing.T) {
	p := rollout(t)
	found, err := p.cluster.look(t.Context(), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := printStatus(&out, found.report(now), false, false, 170); err != nil {
		t.Fatal(err)
	}
	golden(t, "status-narrow.txt", out.String())
	for line := range strings.Lines(out.String()) {
		if width := utf8.RuneCountInString(strings.TrimRight(line, "\n")); width > 170 {
			t.Errorf("%d characters: %s", width, line)
		}
	}
}

func TestStatus_NothingThere_SaysSo(t *testing.T) {
	p := newPlugin(t)
	if out := p.mustRun(t, "status"); out != "" || !strings.Contains(p.err.String(), "in namespace sei") {
		t.Errorf("printed %q and %q", out, p.err)
	}
}

func TestStatus_WrongFlags_AreRefused(t *testing.T) {
	p := rollout(t)
	for _, args := range [][]string{
		{"status", "rpc-0", "-A"}, {"status", "-w", "-o", "json"}, {"status", "-w", "--interval", "0s"}, {"status", "-o", "xml"},
		{"status", "nobody"}, {"status", "pod/rpc-0"},
	} {
		if _, err := p.run(t, args...); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

func TestStatus_Watch_DrawsAgainAfterTheInterval(t *testing.T) {
	p := rollout(t)
	ctx, interrupt := context.WithCancel(t.Context())
	drawn := &screens{drawn: make(chan struct{}, 10)}
	p.IO.Out = drawn
	root := NewRoot(p.Factory, "")
	root.SetArgs([]string{"status", "--watch", "--interval", "5s"})
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	<-drawn.drawn
	for !p.clock.HasWaiters() {
		runtime.Gosched()
	}
	p.clock.Step(5 * time.Second)
	<-drawn.drawn
	interrupt()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if text := drawn.String(); !strings.Contains(text, "12:00:00Z") || !strings.Contains(text, "12:00:05Z") || strings.Contains(text, "\x1b") {
		t.Errorf("drew:\n%s", text)
	}
}

// screens tells when something was drawn.
type screens struct {
	bytes.Buffer
	drawn chan struct{}
}

func (s *screens) Write(p []byte) (int, error) {
	n, err := s.Buffer.Write(p)
	s.drawn <- struct{}{}
	return n, err
}
