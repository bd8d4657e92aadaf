package node

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// snapshotsPublished is about the snapshots in the bucket. It holds no height: that is in
// lastPublished, and a message that changed with every snapshot would tell nobody anything.
func (r *report) snapshotsPublished() {
	if v, known := r.published(); known {
		r.setVerdict(v1alpha1.ConditionSnapshotsPublished, v)
	} else if !applies(r.status.Conditions, v1alpha1.ConditionSnapshotsPublished) {
		r.set.Unknown(v1alpha1.ConditionSnapshotsPublished, v1alpha1.ReasonNothingPublished, "the sidecar has not been asked yet")
	}
}

// published is the verdict of this pass, if it has learnt anything.
func (r *report) published() (v verdict, known bool) {
	switch document := r.Facts.Document; {
	case r.Node.Spec.PublishKeep() == 0:
		return no(v1alpha1.ReasonNotApplicable, ""), true
	case r.Err != nil:
		return verdict{}, false
	case r.Target.NoSnapshotBucket:
		return no(v1alpha1.ReasonNoBucket, "snapshots cannot be published: the operator's configuration has no snapshot bucket; "+
			"set buckets.snapshot"), true
	case document == nil:
		return verdict{}, false
	case document.Published == nil:
		return no(v1alpha1.ReasonSidecarTooOld, fmt.Sprintf("the sidecar has API level %d and does not publish snapshots: "+
			"use a newer sidecar image", document.APILevel)), true
	case document.Published.Error != "":
		return no(v1alpha1.ReasonPublishFailed, "the last snapshot was not published: "+document.Published.Error+"; retrying every 5 minutes"), true
	case document.Published.Time == nil:
		return no(v1alpha1.ReasonNothingPublished, "no snapshot has been published yet: waiting for seid to finish one while the node is in sync"), true
	default:
		return verdict{metav1.ConditionTrue, v1alpha1.ReasonPublished, ""}, true
	}
}
