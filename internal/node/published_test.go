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
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func keeps(document *api.Published, wanted int32) func(*node.Input) {
	return func(in *node.Input) { in.Facts.Document.Published, in.Target.PublishKeep = document, wanted }
}

func TestDecide_Publishing_FollowsTheSpecWithoutARestart(t *testing.T) {
	for name, c := range map[string]struct {
		in   node.Input
		want string
	}{
		"turned on":                       {with(keeps(&api.Published{}, 5)), "publish-snapshots"},
		"another number":                  {with(keeps(&api.Published{Keep: 5}, 3)), "publish-snapshots"},
		"turned off":                      {with(keeps(&api.Published{Keep: 5}, 0)), "publish-snapshots"},
		"as wanted":                       {with(keeps(&api.Published{Keep: 5}, 5)), ""},
		"a sidecar that knows none of it": {with(keeps(nil, 5)), ""},
		"not brought up yet":              {with(keeps(&api.Published{}, 5), func(in *node.Input) { in.Facts.Initialized = false }), ""},
		"a closed gate, too": {with(keeps(&api.Published{}, 5), func(in *node.Input) {
			in.Facts.Document.Gate.State = api.GateClosed
		}), "mark-ready publish-snapshots"},
	} {
		missing := node.Difference(&c.in.Facts, &c.in.Target)
		got := make([]string, 0, len(missing))
		for _, m := range missing {
			got = append(got, m.Step)
		}
		if list := strings.Join(got, " "); list != c.want {
			t.Errorf("%s: %q, want %q", name, list, c.want)
		}
	}
	d := node.Decide(with(keeps(&api.Published{}, 5)))
	if d.Action != node.Start || d.Plan.Reason != node.ReasonPublishingChanged {
		t.Errorf("decision = %+v", d)
	}
}

func TestSnapshotsPublished_SaysHowItStands(t *testing.T) {
	at := time.Unix(1700000000, 500)
	for name, c := range map[string]struct {
		change  func(*node.Pass)
		status  metav1.ConditionStatus
		reason  string
		message string
	}{
		"not asked for":  {func(p *node.Pass) { p.Node.Spec.FullNode = &v1alpha1.FullNodeSpec{} }, "False", v1alpha1.ReasonNotApplicable, ""},
		"published":      {func(p *node.Pass) { p.Facts.Document.Published = &api.Published{Keep: 5, Height: 7, Time: &at} }, "True", v1alpha1.ReasonPublished, ""},
		"nothing yet":    {func(p *node.Pass) { p.Facts.Document.Published = &api.Published{Keep: 5} }, "False", v1alpha1.ReasonNothingPublished, "waiting for seid"},
		"an older one":   {func(*node.Pass) {}, "False", v1alpha1.ReasonSidecarTooOld, "use a newer sidecar image"},
		"no answer":      {func(p *node.Pass) { p.Facts.Document = nil }, "Unknown", v1alpha1.ReasonNothingPublished, "not been asked"},
		"a failed pass":  {func(p *node.Pass) { p.Err = errors.New("no cache") }, "Unknown", v1alpha1.ReasonNothingPublished, "not been asked"},
		"no bucket":      {func(p *node.Pass) { p.Target.NoSnapshotBucket = true }, "False", v1alpha1.ReasonNoBucket, "set buckets.snapshot"},
		"bucket refuses": {func(p *node.Pass) { p.Facts.Document.Published = &api.Published{Keep: 5, Error: "AccessDenied"} }, "False", v1alpha1.ReasonPublishFailed, "AccessDenied"},
	} {
		p := settledPass()
		p.Node.Spec.FullNode = &v1alpha1.FullNodeSpec{SnapshotGeneration: &v1alpha1.SnapshotGeneration{
			Tendermint: &v1alpha1.TendermintSnapshotGeneration{KeepRecent: 2, Publish: &v1alpha1.SnapshotPublish{}},
		}}
		p.Target.PublishKeep = p.Node.Spec.PublishKeep()
		if p.Target.PublishKeep != v1alpha1.DefaultPublishKeep {
			t.Fatalf("keep is %d", p.Target.PublishKeep)
		}
		c.change(p)
		report(p)
		got := conditions.Get(p.Node.Status.Conditions, v1alpha1.ConditionSnapshotsPublished)
		if got.Status != c.status || got.Reason != c.reason || !strings.Contains(got.Message, c.message) {
			t.Errorf("%s: %s %s %q, want Status %v, Reason %v and %q in it", name, got.Status, got.Reason, got.Message, c.status, c.reason, c.message)
		}
		if last := p.Node.Status.LastPublished; (last != nil) != (name == "published") || last != nil && (last.Height != 7 || last.Time.Unix() != at.Unix()) {
			t.Errorf("%s: last published %+v", name, last)
		}
	}
}
