package node

import "github.com/sei-operator/sei-operator/api/v1alpha1"

// adoptedPod says what becomes of a pod that another operator created.
const adoptedPod = "another operator created the pod: it keeps running, its sidecar is not called and its configuration is not changed; " +
	"to replace it, set the annotation " + v1alpha1.AnnotationRestart + " to any new value"

// KeepsAdoptedPod reports whether the pod is another operator's and keeps running: it has the image
// that the spec asks for, and nothing that takes a restart was asked for since its StatefulSet was
// adopted. An operator that replaced every such pod at once could take a whole chain down. When seid
// in it stops, the pod is replaced: nobody opens the start gate of the other operator.
//
// A pod that signs, or that may do so with a key that it mounts, is never kept: only a sidecar of ours
// tells which key that is, and holds seid back when it is not the one that is reserved.
func (f *Facts) KeepsAdoptedPod(t *Target) bool {
	switch {
	case !f.Initialized || t.Signs || f.Pod == nil || !f.Pod.Foreign || !f.SeidStarted || f.StatefulSet == nil:
		return false
	case f.StatefulSet.Foreign:
		// The template has the image as it was asked for, and the pod as a webhook may have written it.
		return f.PodCurrent && !f.StatefulSet.Secrets && f.StatefulSet.Image == t.Image && f.Pod.Restart == t.Restart
	default:
		return f.AdoptedSpecHash != "" && f.AdoptedSpecHash == t.SpecHash
	}
}
