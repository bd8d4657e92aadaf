package podsim

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// terminate ends a pod that is being deleted: the containers get the time they
// take, but no more than the grace period; then the pod reports how they
// ended; then it is removed.
func (s *Simulator) terminate(ctx context.Context, st *step, n *node) (time.Duration, error) {
	grace := time.Duration(0)
	if st.pod.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*st.pod.DeletionGracePeriodSeconds) * time.Second
	}
	takes := s.podBehaviour(st.pod.Namespace, st.pod.Name).StopDelay
	if st.run.stopAt.IsZero() {
		st.run.stopAt = st.now
	}
	if wait := st.run.stopAt.Add(min(takes, grace)).Sub(st.now); wait > 0 {
		return wait, nil
	}
	code := int32(0)
	if takes > grace {
		code = exitKilled
	}
	st.stopAll(code)
	st.run.end()
	if err := s.report(ctx, st, n); err != nil {
		return 0, err
	}
	return 0, s.remove(ctx, st.pod)
}

// end gives the run its final phase.
func (r *run) end() {
	if r.finished != "" {
		return
	}
	r.finished = corev1.PodSucceeded
	for _, c := range r.containers {
		if c.ended != nil {
			c.reason, c.message = "", ""
		}
		if c.ended == nil || c.ended.ExitCode != 0 {
			r.finished = corev1.PodFailed
		}
	}
}

// remove takes this very pod away; its containers have ended.
func (s *Simulator) remove(ctx context.Context, pod *corev1.Pod) error {
	err := s.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("removing pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
