package node

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// comparing is a replayer whose blocks are compared with those of another node.
func comparing(name, canonical string) *v1alpha1.SeiNode {
	return &v1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.SeiNodeSpec{
			ChainID: "pacific-1", Image: "seid:a",
			Peers: []v1alpha1.PeerSource{{Static: &v1alpha1.StaticPeers{Addresses: []v1alpha1.PeerAddress{
				"3be6b24cf86a5938cce7d48f44fb6598465a9924@p2p.example.com:26656",
			}}}},
			Replayer: &v1alpha1.ReplayerSpec{
				Snapshot:     v1alpha1.SnapshotSource{S3: &v1alpha1.S3Snapshot{TargetHeight: 100}, RPCServers: []v1alpha1.HostPort{"a.example.com:26657", "b.example.com:26657"}},
				ResultExport: &v1alpha1.ResultExport{ShadowResult: &v1alpha1.ShadowResult{CanonicalRPC: canonical}},
			},
		},
	}
}

func matches(status metav1.ConditionStatus, reason string) func(*v1alpha1.SeiNode) bool {
	return func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionResultsMatch, status, reason)
	}
}

// exports is a world whose operator knows a bucket for results.
func exports(t *testing.T, bucket string) nodes {
	t.Helper()
	w := newWorld(t)
	w.Platform.Buckets.ResultExport = bucket
	w.StartOperator()
	return w
}

func (w nodes) timesSet(name string) int {
	return count(w.Sidecars.Submissions(w.Key(name)), api.SetResultExport)
}

func TestResultExport_RunsWhileTheReplayerDoes(t *testing.T) {
	w := exports(t, "file:///results")
	w.Create(comparing("r", "canonical:26657"))
	n := w.await("r", matches(metav1.ConditionTrue, v1alpha1.ReasonComparing))
	message := conditions.Get(n.Status.Conditions, v1alpha1.ConditionResultsMatch).Message
	if !strings.Contains(message, "http://canonical:26657") || !strings.Contains(message, "pacific-1/results/"+w.NS+"/r/ in file:///results") {
		t.Errorf("ResultsMatch says %q", message)
	}
	// Neither another pod nor another operator, nor time, starts it over.
	w.losePod("r")
	w.await("r", settled)
	w.RestartOperator()
	w.forceReconciles("r", 3)
	if got := w.timesSet("r"); got != 1 {
		t.Fatalf("the export was set %d times, want once", got)
	}
	pod := w.awaitPod("r-0", podReady)
	w.edit("r", func(n *v1alpha1.SeiNode) { n.Spec.Replayer.ResultExport.ShadowResult.CanonicalRPC = "https://other" })
	w.await("r", func(n *v1alpha1.SeiNode) bool {
		c := conditions.Get(n.Status.Conditions, v1alpha1.ConditionResultsMatch)
		return settled(n) && c.Status == metav1.ConditionTrue && strings.Contains(c.Message, "https://other")
	})
	w.edit("r", func(n *v1alpha1.SeiNode) { n.Spec.Replayer.ResultExport = nil })
	w.await("r", matches(metav1.ConditionFalse, v1alpha1.ReasonNotApplicable))
	w.Eventually("the end of the export", func() bool { return w.timesSet("r") == 3 })
	w.await("r", settled)
	if now := w.awaitPod("r-0", podReady); now.UID != pod.UID {
		t.Error("a change of the export replaced the pod")
	}
	w.sound()
}

func TestResultExport_Divergence_IsAConditionAndARetryComparesAgain(t *testing.T) {
	w := exports(t, "file:///results")
	w.Create(comparing("r", "http://canonical:26657"))
	w.await("r", matches(metav1.ConditionTrue, v1alpha1.ReasonComparing))
	divergence := api.Divergence{Height: 4242, Layer: 0, Field: "app_hash", Report: "x/divergence-4242.report.json.gz"}
	if err := w.Sidecars.Diverge(w.Key("r"), divergence); err != nil {
		t.Fatal(err)
	}
	w.edit("r", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{"look": "now"} })
	n := w.await("r", matches(metav1.ConditionFalse, v1alpha1.ReasonDiverged))
	message := conditions.Get(n.Status.Conditions, v1alpha1.ConditionResultsMatch).Message
	for _, words := range []string{"block 4242", "layer 0 (block header)", "app_hash", divergence.Report} {
		if !strings.Contains(message, words) {
			t.Errorf("ResultsMatch does not say %q: %s", words, message)
		}
	}
	w.awaitEvent(events.ResultsDiverged)
	changed := w.patches("r", statuspatch.Changed)
	w.forceReconciles("r", 10)
	if got := w.patches("r", statuspatch.Changed); got != changed || w.timesSet("r") != 1 {
		t.Errorf("a divergence at rest: %v writes, export set %d times", got-changed, w.timesSet("r"))
	}
	w.edit("r", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"} })
	w.await("r", matches(metav1.ConditionTrue, v1alpha1.ReasonComparing))
	if got := w.timesSet("r"); got != 2 {
		t.Errorf("the export was set %d times, want twice", got)
	}
}

// A replayer whose state differs ends before there is anything to compare: the condition says at
// which block, with the line of the panic, and does not come and go with the crash loop.
func TestResultExport_SeidRefusesABlock_IsADivergence(t *testing.T) {
	w := exports(t, "file:///results")
	w.Create(comparing("r", "http://canonical:26657"))
	w.await("r", matches(metav1.ConditionTrue, v1alpha1.ReasonComparing))
	line := "panic: +2/3 committed an invalid block: validateBlock(): wrong Block.Header.AppHash.  Expected AA, got BB"
	if err := w.Sidecars.EndSeid(w.Key("r"), api.Exit{
		Reason: api.ExitCrash, Code: 2, Message: line, Divergence: &api.Divergence{Height: 4242, Field: "app_hash", Message: line},
	}); err != nil {
		t.Fatal(err)
	}
	diverged := func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionResultsMatch, metav1.ConditionFalse, v1alpha1.ReasonDiverged)
	}
	n := w.lookUntil("r", "the divergence", diverged)
	message := conditions.Get(n.Status.Conditions, v1alpha1.ConditionResultsMatch).Message
	for _, words := range []string{"block 4242", "app_hash", "layer 0 (block header)", line} {
		if !strings.Contains(message, words) {
			t.Errorf("ResultsMatch does not say %q: %s", words, message)
		}
	}
	w.awaitEvent(events.ResultsDiverged)
	if err := w.Pods.Kill(w.NS, "r-0", "seid", 2); err != nil {
		t.Fatal(err)
	}
	w.running("r")
	w.lookUntil("r", "the node to be in order but for that", func(n *v1alpha1.SeiNode) bool { return settled(n) && diverged(n) })
}

func TestResultExport_ThatCannotBe_IsUnknownAndHoldsNothingUp(t *testing.T) {
	for name, c := range map[string]struct {
		bucket, canonical, reason, words string
		level                            int
	}{
		"no bucket":        {"", "canonical:26657", v1alpha1.ReasonNoResultBucket, "set buckets.resultExport", api.Level},
		"no address":       {"file:///results", "tcp://canonical:26657", v1alpha1.ReasonCanonicalRPCInvalid, "canonicalRpc", api.Level},
		"older sidecar":    {"file:///results", "canonical:26657", v1alpha1.ReasonSidecarTooOld, "sidecar image", api.LevelGenesis},
		"very old sidecar": {"file:///results", "canonical:26657", v1alpha1.ReasonSidecarTooOld, "sidecar image", api.LevelNode - 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Platform.Buckets.ResultExport = c.bucket
			if c.level < api.LevelTLS {
				w.WithoutTLS()
			}
			w.StartOperator()
			w.Sidecars.SetLevel(w.Key("r"), c.level)
			w.Create(comparing("r", c.canonical))
			n := w.await("r", matches(metav1.ConditionUnknown, c.reason))
			if message := conditions.Get(n.Status.Conditions, v1alpha1.ConditionResultsMatch).Message; !strings.Contains(message, c.words) {
				t.Errorf("ResultsMatch says %q", message)
			}
			w.forceReconciles("r", 3)
			if slices.Contains(w.Sidecars.Submissions(w.Key("r")), api.SetResultExport) {
				t.Error("an export was set that cannot be")
			}
		})
	}
}
