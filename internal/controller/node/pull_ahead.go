package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/task"
)

// +kubebuilder:rbac:groups="",resources=pods,verbs=create

// observePull looks at the pod that pulls the image of the next upgrade.
func (r *Reconciler) observePull(ctx context.Context, s *scope) error {
	pod, err := fresh(ctx, r, s.node, render.ImagePullPodName(s.node), &corev1.Pod{})
	if pod != nil && isOwned(pod, s.node) {
		s.pullPod = pod
	}
	return err
}

// decidePull works out what to pull ahead. Only a pod that runs says which machine that would be.
func (s *scope) decidePull() {
	want := domain.Pull{Image: domain.ScheduledImage(&s.node.Spec, &v1alpha1.UpgradeStatus{Scheduled: s.upgrade.Scheduled, Entry: s.upgrade.Entry})}
	if pod := s.observed.Pod; pod != nil && pod.DeletionTimestamp == nil && s.facts.Pod != nil {
		want.Machine = pod.Spec.NodeName
	}
	s.pull = domain.DecidePull(want, pullPodState(s.pullPod, s.now), s.node.Status.PulledAhead, s.now)
	s.wantsPull = want
	s.comeBackIn(s.pull.RecheckAfter)
}

// syncPull makes or removes the pod. A pod that the API server refuses is reported and holds up
// nothing: the image is pulled when it is needed.
func (r *Reconciler) syncPull(ctx context.Context, s *scope) error {
	switch s.pull.Action {
	case domain.PullStart:
		return r.startPull(ctx, s)
	case domain.PullEnd:
		err := r.Client.Delete(ctx, s.pullPod, client.Preconditions{UID: &s.pullPod.UID})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting pod %s: %w", s.pullPod.Name, err)
		}
		r.Writes.Deleted(s.pullPod)
	case domain.PullNothing:
	}
	return nil
}

func (r *Reconciler) startPull(ctx context.Context, s *scope) error {
	pod, err := render.ImagePullPod(s.input, s.wantsPull.Image, s.wantsPull.Machine)
	if err != nil {
		return err
	}
	err = r.Client.Create(ctx, pod, client.FieldOwner(v1alpha1.FieldOwnerSeiNode))
	switch {
	case apierrors.IsAlreadyExists(err):
		s.pull.Problem = fmt.Sprintf("image %s is not pulled ahead: pod %s exists and was not created by the operator: delete it", s.wantsPull.Image, pod.Name)
		return nil
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		s.pull.Problem = fmt.Sprintf("image %s is not pulled ahead: the API server rejects pod %s: %v", s.wantsPull.Image, pod.Name, err)
		return nil
	case err != nil:
		return fmt.Errorf("creating pod %s: %w", pod.Name, err)
	}
	r.Writes.Wrote(pod)
	return nil
}

// pullPodState reduces a pod that only pulls to what is decided on.
func pullPodState(pod *corev1.Pod, now time.Time) *domain.PullPod {
	if pod == nil {
		return nil
	}
	p := &domain.PullPod{
		Pull:    domain.Pull{Image: render.PullImage(pod.Spec), Machine: pod.Annotations[render.AnnotationPullMachine]},
		Leaving: pod.DeletionTimestamp != nil, Pulled: slices.ContainsFunc(pod.Status.ContainerStatuses, hasPulled),
		Unschedulable: unschedulable(pod), Made: pod.CreationTimestamp.Time,
	}
	if trouble := task.PodTrouble(pod, nil, now); trouble.Reason == v1alpha1.ReasonImagePullFailed {
		p.Refused = trouble.Message
	}
	if pod.Status.Phase == corev1.PodFailed {
		p.Ended = pod.Status.Reason + ": " + pod.Status.Message
	}
	return p
}

// hasPulled reports whether a container's image is on its machine. A kubelet creates a container
// after it has pulled, so one that ended, or could not be created, proves as much as one that runs.
func hasPulled(c corev1.ContainerStatus) bool {
	switch {
	case c.State.Terminated != nil:
		return c.State.Terminated.Reason != "ContainerStatusUnknown"
	case c.State.Waiting != nil:
		return slices.Contains([]string{"CreateContainerError", "CreateContainerConfigError", "RunContainerError"}, c.State.Waiting.Reason)
	default:
		return c.ImageID != ""
	}
}
