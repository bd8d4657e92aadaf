package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

func comparing(canonical, bucket string) render.Input {
	node := &v1alpha1.SeiNode{}
	node.Namespace, node.Name, node.Spec.ChainID = "sei", "replayer", "pacific-1"
	node.Spec.Replayer = &v1alpha1.ReplayerSpec{ResultExport: &v1alpha1.ResultExport{ShadowResult: &v1alpha1.ShadowResult{CanonicalRPC: canonical}}}
	return render.Input{Node: node, Platform: &platform.Config{Buckets: platform.Buckets{ResultExport: bucket}}}
}

func TestResultExport_GoesToThePlaceOfTheNode(t *testing.T) {
	got, reason, problem := render.ResultExport(comparing("rpc-internal:26657", "s3://results?region=eu-central-1"))
	if reason != "" || problem != "" {
		t.Fatalf("refused: %s %s", reason, problem)
	}
	want := &wire.ResultExport{
		Bucket: "s3://results?region=eu-central-1", Prefix: "pacific-1/results/sei/replayer/", CanonicalRPC: "http://rpc-internal:26657",
	}
	if diff := cmp.Diff(want, got.Export); diff != "" {
		t.Errorf("export (-want +got):\n%s", diff)
	}
	other, _, _ := render.ResultExport(comparing("https://rpc-internal:26657", "s3://results?region=eu-central-1"))
	if got.Hash == "" || got.Hash == other.Hash {
		t.Errorf("hashes %q and %q do not tell two exports apart", got.Hash, other.Hash)
	}
}

func TestResultExport_SaysWhyThereCanBeNone(t *testing.T) {
	for name, tc := range map[string]struct {
		in            render.Input
		reason, words string
	}{
		"no bucket":       {comparing("http://rpc:26657", ""), v1alpha1.ReasonNoResultBucket, "set buckets.resultExport"},
		"another scheme":  {comparing("tcp://rpc:26657", "s3://results"), v1alpha1.ReasonCanonicalRPCInvalid, "not an http or https address"},
		"not an address":  {comparing("http://", "s3://results"), v1alpha1.ReasonCanonicalRPCInvalid, "canonicalRpc"},
		"nothing to read": {comparing("http://a b", "s3://results"), v1alpha1.ReasonCanonicalRPCInvalid, "canonicalRpc"},
	} {
		got, reason, problem := render.ResultExport(tc.in)
		if got != nil || reason != tc.reason || !strings.Contains(problem, tc.words) {
			t.Errorf("%s: %+v, %s, %s, want nil, reason %v and %q in it", name, got, reason, problem, tc.reason, tc.words)
		}
	}
}

func TestResultExport_OfANodeThatIsNotAskedForOne_IsNone(t *testing.T) {
	in := comparing("http://rpc:26657", "")
	in.Node.Spec.Replayer.ResultExport = nil
	if got, reason, problem := render.ResultExport(in); got != nil || reason != "" || problem != "" {
		t.Errorf("%+v, %s, %s, want nil, reason empty and problem empty", got, reason, problem)
	}
}
