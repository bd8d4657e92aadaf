package node

import (
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// resultExportMissing compares the export that the sidecar sees to with the one that is asked
// for. It waits until the node was brought up: an export that cannot begin is no reason for a
// node to fail.
func resultExportMissing(f *Facts, t *Target) string {
	if !f.Initialized || !f.tellsResultExport() {
		return ""
	}
	runs, wanted := f.Document.ResultExport, t.ResultExport.Hash
	switch {
	case wanted == "" && runs == nil:
		return ""
	case wanted == "":
		return "the spec no longer asks for result export"
	case runs == nil:
		return "no results are exported yet"
	case runs.Hash != wanted:
		return "the canonical node or the bucket of the result export changed"
	case runs.Divergence != nil && t.Retry:
		return "a new comparison was requested by the annotation " + v1alpha1.AnnotationRetry
	default:
		return ""
	}
}

// resultsMatch is about the comparison of a replayer's blocks with those of its canonical node.
func (r *report) resultsMatch() {
	if replayer := r.Node.Spec.Replayer; replayer == nil || replayer.ResultExport == nil {
		r.set.False(v1alpha1.ConditionResultsMatch, v1alpha1.ReasonNotApplicable, "")
		return
	}
	if r.Err != nil {
		return
	}
	unknown := func(reason, message string) { r.set.Unknown(v1alpha1.ConditionResultsMatch, reason, message) }
	runs := r.resultExport()
	switch {
	case runs != nil && runs.Divergence != nil:
		r.set.False(v1alpha1.ConditionResultsMatch, v1alpha1.ReasonDiverged, divergenceMessage(runs))
	case r.Facts.Document != nil && r.Facts.Document.Seid.Divergence != nil:
		r.set.False(v1alpha1.ConditionResultsMatch, v1alpha1.ReasonDiverged, refusalMessage(r.Facts.Document.Seid.Divergence))
	case runs != nil && runs.Problem != "":
		unknown(v1alpha1.ReasonComparisonFailing, runs.Problem+"; retrying")
	case runs != nil:
		r.set.True(v1alpha1.ConditionResultsMatch, v1alpha1.ReasonComparing, fmt.Sprintf(
			"no block differs from %s so far; the comparison is written to %s in %s", runs.CanonicalRPC, runs.Prefix, runs.Bucket))
	case r.Target.ResultExport.Problem != "":
		unknown(r.Target.ResultExport.Reason, r.Target.ResultExport.Problem)
	case r.Facts.Document == nil && applies(r.status.Conditions, v1alpha1.ConditionResultsMatch):
		return // a sidecar that does not answer takes nothing back
	case r.Facts.Document != nil && !r.Facts.tellsResultExport():
		unknown(v1alpha1.ReasonSidecarTooOld, fmt.Sprintf("the sidecar has API level %d and does not compare blocks by itself: use a sidecar image of level %d",
			r.Facts.Document.APILevel, api.LevelResultExport))
	default:
		unknown(v1alpha1.ReasonNotCompared, "no block has been compared yet")
	}
}

// resultExport is the export that the sidecar sees to, if it is the one that is asked for or
// nobody can say which that is.
func (r *report) resultExport() *api.StandingExport {
	if r.Facts.Document == nil {
		return nil
	}
	runs, wanted := r.Facts.Document.ResultExport, r.Target.ResultExport
	if runs == nil || wanted.Problem == "" && runs.Hash != wanted.Hash {
		return nil
	}
	return runs
}

// layers are what the layers of a comparison look at.
var layers = map[int]string{0: "block header", 1: "transaction results", 2: "EVM state"}

func divergenceMessage(runs *api.StandingExport) string {
	d := runs.Divergence
	words := fmt.Sprintf("block %d differs from that of %s in layer %d (%s), first in %s", d.Height, runs.CanonicalRPC, d.Layer, layers[d.Layer], d.Field)
	if d.Message != "" {
		words = refusalMessage(d)
	}
	return fmt.Sprintf("%s; the report is %s in %s. "+
		"Change canonicalRpc, or set the annotation %s to any new value, to compare this block and those after it again",
		words, d.Report, runs.Bucket, v1alpha1.AnnotationRetry)
}

// refusalMessage say which block of the chain seid itself refuses. It never has the block, so that
// there is nothing to compare.
func refusalMessage(d *api.Divergence) string {
	block := fmt.Sprintf("block %d", d.Height)
	if d.Height == 0 {
		block = "the block after its last one"
	}
	return fmt.Sprintf("seid refuses %s of its chain, whose %s does not match this node's state: layer %d (%s); seid says: %s",
		block, d.Field, d.Layer, layers[d.Layer], d.Message)
}
