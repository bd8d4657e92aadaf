package node

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/task"
)

// domainFacts reduces what was seen to what decisions are made on.
func (s *scope) domainFacts() domain.Facts {
	o := &s.observed
	s.found.Bootstrapped = s.bootstrapEnded()
	f := domain.Facts{
		Initialized: domain.Initialized(&s.node.Status), Bootstrapped: s.node.Status.Bootstrapped || s.found.Bootstrapped,
		Claim: o.Claim != nil, Service: o.Service != nil, Job: s.jobState(),
		Document: s.document, Operation: s.operation, Remembered: s.document != nil && s.document.APILevel < api.LevelNode,
	}
	if o.StatefulSet != nil && o.StatefulSet.DeletionTimestamp == nil {
		f.StatefulSet = buildOf(o.StatefulSet.Spec.Template.Annotations, o.StatefulSet.Spec.Template.Spec)
		f.StatefulSet.Secrets = f.StatefulSet.Foreign && render.MountsSecrets(o.StatefulSet.Spec.Template.Spec)
		f.AdoptedSpecHash = o.StatefulSet.Annotations[render.AnnotationAdoptedSpecHash]
	}
	if pod := o.Pod; pod != nil && pod.DeletionTimestamp == nil && !task.IsBootstrapPod(pod) && o.IsNodesPod(s.node, pod) {
		f.Pod, f.SeidStarted = buildOf(pod.Annotations, pod.Spec), seidStarted(pod)
		f.PodCurrent = f.StatefulSet != nil && render.IsCurrent(pod, o.StatefulSet)
	}
	return f
}

func buildOf(annotations map[string]string, spec corev1.PodSpec) *domain.Build {
	return &domain.Build{
		Image:        render.SeidImage(spec),
		SidecarImage: render.SidecarImage(spec),
		TemplateHash: render.TemplateHash(annotations),
		SpecHash:     render.SpecHash(annotations),
		Restart:      render.RestartValue(annotations),
		Foreign:      render.IsForeign(annotations, spec),
	}
}

// jobState judges the bootstrap Job by the image it runs. One that has failed is of no use to
// another plan; the plan that waits for it has to see its failure first.
func (s *scope) jobState() domain.JobState {
	job, source := s.observed.Job, s.node.Spec.Snapshot()
	switch {
	case job == nil || !isOwned(job, s.node):
		return domain.NoJob
	case source == nil || source.BootstrapImage != render.SeidImage(job.Spec.Template.Spec) || job.DeletionTimestamp != nil,
		task.JobFailed(job) && s.activePlan() == nil:
		return domain.JobOutdated
	default:
		return domain.JobCurrent
	}
}

// bootstrapEnded reports whether the bootstrap Job has reached its height. The plan that waits for it
// sees that for itself. One that is not that far was begun by an operator that died before it wrote
// down how far it got, and would wait for a pod that has ended.
func (s *scope) bootstrapEnded() bool {
	job := s.observed.Job
	if job == nil || !isOwned(job, s.node) || !task.JobComplete(job) {
		return false
	}
	active := s.activePlan()
	if active == nil {
		return true
	}
	current, _ := plan.Current(active)
	return current != nil && current.Type != domain.StepAwaitBootstrap
}

// podState reduces a pod to what is said of it. document is what its sidecar tells; nil when it
// tells nothing.
func podState(pod *corev1.Pod, document *api.Node, now time.Time) *domain.Pod {
	if pod == nil {
		return nil
	}
	_, sidecarRuns := task.SidecarStarted(pod)
	p := &domain.Pod{
		Build: *buildOf(pod.Annotations, pod.Spec), Bootstrap: task.IsBootstrapPod(pod), Leaving: pod.DeletionTimestamp != nil,
		Ready: task.PodCondition(pod, corev1.PodReady) == corev1.ConditionTrue, Lost: podLost(pod), KubernetesNode: pod.Spec.NodeName,
		Pending: pod.Status.Phase == corev1.PodPending, Unschedulable: unschedulable(pod),
		SidecarRuns: sidecarRuns, SharedAudience: render.NodeUID(pod.Spec) == "", Plaintext: !render.ServesTLS(pod.Spec), SeidStarted: seidStarted(pod),
	}
	var seid *api.Seid
	if document != nil {
		seid = &document.Seid
	}
	p.Trouble = task.PodTrouble(pod, seid, now)
	return p
}

// podLost reports whether the pod's kubelet has fallen silent. The node controller then
// takes the pod's readiness away, while what the kubelet said last about its containers
// stays.
func podLost(pod *corev1.Pod) bool {
	ready, containers := task.PodCondition(pod, corev1.PodReady), task.PodCondition(pod, corev1.ContainersReady)
	return pod.Status.Phase == corev1.PodUnknown || ready == corev1.ConditionUnknown ||
		ready == corev1.ConditionFalse && containers == corev1.ConditionTrue
}

// unschedulable is why no Kubernetes node takes the pod; empty when one does.
func unschedulable(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

// seidStarted reports whether seid has passed the start gate.
func seidStarted(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		if c.Name == render.ContainerSeid {
			return c.Started != nil && *c.Started
		}
	}
	return false
}
