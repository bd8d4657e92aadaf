package node_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func export(hash string) *api.StandingExport {
	return &api.StandingExport{Hash: hash, Bucket: "s3://results", Prefix: "c/results/ns/n/", CanonicalRPC: "http://canonical:26657"}
}

func divergedExport(hash string) *api.StandingExport {
	e := export(hash)
	e.Divergence = &api.Divergence{Height: 42, Layer: 1, Field: "txs[0].gas_used", Report: "c/results/ns/n/divergence-42.report.json.gz"}
	return e
}

// exporting is a node of which an export is wanted and another one, or none, runs.
func exporting(wanted string, runs *api.StandingExport) func(*node.Input) {
	return func(in *node.Input) {
		in.Target.ResultExport.Hash = wanted
		in.Facts.Document.APILevel, in.Facts.Document.ResultExport = api.LevelResultExport, runs
	}
}

func TestDecide_ResultExport_IsSetWhenItIsNotTheOneThatIsAskedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		in   node.Input
		want string // of the plan's message; empty for no plan
	}{
		"not begun":                {with(exporting("a", nil)), "no results are exported yet"},
		"runs":                     {with(exporting("a", export("a"))), ""},
		"another one runs":         {with(exporting("a", export("b"))), "changed"},
		"not asked for any more":   {with(exporting("", export("b"))), "no longer asks for result export"},
		"never asked for":          {with(exporting("", nil)), ""},
		"has ended":                {with(exporting("a", divergedExport("a"))), ""},
		"has ended, asked again":   {with(exporting("a", divergedExport("a")), retried), v1alpha1.AnnotationRetry},
		"another one has ended":    {with(exporting("a", divergedExport("b"))), "changed"},
		"there is no bucket":       {with(exporting("", export("b")), func(in *node.Input) { in.Target.ResultExport.Problem = "no bucket" }), ""},
		"an older sidecar":         {with(exporting("a", nil), func(in *node.Input) { in.Facts.Document.APILevel = api.LevelGenesis }), ""},
		"a silent sidecar":         {with(exporting("a", nil), silent), ""},
		"held":                     {with(exporting("a", nil), func(in *node.Input) { in.Facts.Document.Gate.State = api.GateHeld }), ""},
		"a bring-up does not wait": {with(exporting("a", nil), func(in *node.Input) { in.Facts.Initialized = false }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := node.Decide(tc.in)
			if tc.want == "" {
				if slices.ContainsFunc(got.Missing, func(m node.Missing) bool { return m.Step == node.StepSetResultExport }) && got.HeldBack == "" {
					t.Errorf("decided %+v, want nothing about the export", got)
				}
				return
			}
			if got.Action != node.Start || !slices.Equal(got.Plan.Tasks, []string{node.StepSetResultExport}) ||
				got.Plan.Reason != node.ReasonResultExport || !strings.Contains(got.Plan.Message, tc.want) {
				t.Errorf("decided %+v, want the export to be set: %s", got, tc.want)
			}
		})
	}
}

func TestReport_ResultsMatch(t *testing.T) {
	failing := export("a")
	failing.Problem = "writing s3://results: the pod's identity may not do this"
	problem := node.ResultExport{Reason: v1alpha1.ReasonNoResultBucket, Problem: "set buckets.resultExport"}
	for name, tc := range map[string]struct {
		change func(*node.Pass)
		status metav1.ConditionStatus
		reason string
		words  string
	}{
		"no replayer":       {func(p *node.Pass) { p.Node.Spec.Replayer = nil }, metav1.ConditionFalse, v1alpha1.ReasonNotApplicable, ""},
		"not begun":         {func(*node.Pass) {}, metav1.ConditionUnknown, v1alpha1.ReasonNotCompared, ""},
		"runs":              {runs(export("a")), metav1.ConditionTrue, v1alpha1.ReasonComparing, "http://canonical:26657"},
		"the old one runs":  {runs(export("b")), metav1.ConditionUnknown, v1alpha1.ReasonNotCompared, ""},
		"the old one ended": {runs(divergedExport("b")), metav1.ConditionUnknown, v1alpha1.ReasonNotCompared, ""},
		"trouble":           {runs(failing), metav1.ConditionUnknown, v1alpha1.ReasonComparisonFailing, "may not do this"},
		"diverged": {
			runs(divergedExport("a")), metav1.ConditionFalse, v1alpha1.ReasonDiverged,
			"block 42 differs from that of http://canonical:26657 in layer 1 (transaction results), first in txs[0].gas_used; " +
				"the report is c/results/ns/n/divergence-42.report.json.gz in s3://results",
		},
		"seid refuses the block, and the comparison has ended there": {
			runs(refusedExport("a")), metav1.ConditionFalse, v1alpha1.ReasonDiverged,
			"seid refuses block 42 of its chain, whose app_hash does not match this node's state: layer 0 (block header); seid says: panic: wrong; " +
				"the report is c/results/ns/n/divergence-42.report.json.gz in s3://results",
		},
		"seid refuses a block, nothing is compared yet": {refuses(42), metav1.ConditionFalse, v1alpha1.ReasonDiverged, "seid refuses block 42 of its chain"},
		"seid refuses a block, the comparison waits": {
			func(p *node.Pass) { runs(failing)(p); refuses(42)(p) }, metav1.ConditionFalse, v1alpha1.ReasonDiverged, "seid says: panic: wrong",
		},
		"seid refuses a block, there is no bucket": {
			func(p *node.Pass) { refuses(42)(p); p.Target.ResultExport = problem }, metav1.ConditionFalse, v1alpha1.ReasonDiverged, "layer 0 (block header)",
		},
		"seid refuses a block without its height": {refuses(0), metav1.ConditionFalse, v1alpha1.ReasonDiverged, "the block after its last one"},
		"seid refuses a block, no comparison is asked for": {
			func(p *node.Pass) { refuses(42)(p); p.Node.Spec.Replayer.ResultExport = nil }, metav1.ConditionFalse, v1alpha1.ReasonNotApplicable, "",
		},
		"no bucket": {func(p *node.Pass) { p.Target.ResultExport = problem }, metav1.ConditionUnknown, v1alpha1.ReasonNoResultBucket, "buckets.resultExport"},
		"no bucket any more, but it runs": {
			func(p *node.Pass) { runs(export("b"))(p); p.Target.ResultExport = problem }, metav1.ConditionTrue, v1alpha1.ReasonComparing, "",
		},
		"an older sidecar": {
			func(p *node.Pass) { p.Facts.Document.APILevel = api.LevelGenesis }, metav1.ConditionUnknown, v1alpha1.ReasonSidecarTooOld, "level 5",
		},
		"a silent sidecar at first": {func(p *node.Pass) { p.Facts.Document = nil }, metav1.ConditionUnknown, v1alpha1.ReasonNotCompared, ""},
		"a sidecar that fell silent": {
			func(p *node.Pass) { runs(divergedExport("a"))(p); report(p); p.Facts.Document = nil }, metav1.ConditionFalse, v1alpha1.ReasonDiverged, "block 42",
		},
		"a pass with an error": {
			func(p *node.Pass) {
				runs(export("a"))(p)
				report(p)
				p.Err = errors.New("no API")
				p.Target = node.Target{}
			},
			metav1.ConditionTrue, v1alpha1.ReasonComparing, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := settledPass()
			p.Node.Spec.FullNode = nil
			p.Node.Spec.Replayer = &v1alpha1.ReplayerSpec{ResultExport: &v1alpha1.ResultExport{ShadowResult: &v1alpha1.ShadowResult{CanonicalRPC: "x"}}}
			p.Facts.Document.APILevel, p.Target.ResultExport.Hash = api.LevelResultExport, "a"
			tc.change(p)
			report(p)
			got := conditions.Get(p.Node.Status.Conditions, v1alpha1.ConditionResultsMatch)
			if got == nil || got.Status != tc.status || got.Reason != tc.reason || !strings.Contains(got.Message, tc.words) {
				t.Errorf("ResultsMatch is %+v, want %s %s %q", got, tc.status, tc.reason, tc.words)
			}
		})
	}
}

func refusedExport(hash string) *api.StandingExport {
	e := divergedExport(hash)
	e.Divergence.Layer, e.Divergence.Field, e.Divergence.Message = 0, "app_hash", "panic: wrong"
	return e
}

// refuses has the node's seid refuse a block of its chain.
func refuses(height int64) func(*node.Pass) {
	return func(p *node.Pass) {
		p.Facts.Document.Seid.Divergence = &api.Divergence{Height: height, Field: "app_hash", Message: "panic: wrong"}
	}
}

func runs(e *api.StandingExport) func(*node.Pass) {
	return func(p *node.Pass) { p.Facts.Document.ResultExport = e }
}
