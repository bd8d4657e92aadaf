package planner

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/internal/render"
)

// SidecarHealth is what the sidecar said about its start gate.
type SidecarHealth string

// What a probe of the sidecar can come to.
const (
	// SidecarNotProbed: there was no reason, or nobody, to ask.
	SidecarNotProbed SidecarHealth = ""
	// SidecarReady: the gate is open.
	SidecarReady SidecarHealth = "Ready"
	// SidecarNotReady: the gate is closed, because the process is new or held.
	SidecarNotReady SidecarHealth = "NotReady"
	// SidecarUnreachable: no clear answer; nothing may be concluded.
	SidecarUnreachable SidecarHealth = "Unreachable"
)

// Observation is everything one reconcile found out about a node. Tasks put what
// they make into it, so that later tasks and the report see it at once.
type Observation struct {
	StatefulSet *appsv1.StatefulSet
	Service     *corev1.Service
	Pod         *corev1.Pod
	// PodObstacle says why there is no pod although there should be one; empty when
	// it is about to be made.
	PodObstacle string
	Claim       *corev1.PersistentVolumeClaim
	Job         *batchv1.Job
	Sidecar     SidecarHealth
	// SidecarError is why the sidecar could not be reached.
	SidecarError string
	// Peers are the node's peers as far as they could be resolved.
	Peers []string
	// PeerProblems says in words what could not be resolved.
	PeerProblems []string
}

// build is what a pod was, or would be, made from.
type build struct {
	image        string
	templateHash string
	specHash     string
	restart      string
}

func buildOf(annotations map[string]string, spec corev1.PodSpec) build {
	return build{
		image:        render.SeidImage(spec),
		templateHash: render.TemplateHash(annotations),
		specHash:     render.SpecHash(annotations),
		restart:      render.RestartValue(annotations),
	}
}

// running is what the node's pod was made from; false when there is no pod.
func (o *Observation) running() (build, bool) {
	if o.Pod == nil || o.Pod.DeletionTimestamp != nil {
		return build{}, false
	}
	return buildOf(o.Pod.Annotations, o.Pod.Spec), true
}

// next is what the next pod will be made from; false when nothing makes pods.
func (o *Observation) next() (build, bool) {
	if o.StatefulSet == nil {
		return build{}, false
	}
	t := o.StatefulSet.Spec.Template
	return buildOf(t.Annotations, t.Spec), true
}
