package podsim

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// schedule binds a pod to a node once its claims are bound, and otherwise says
// what is missing.
func (s *Simulator) schedule(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil || s.isBound(pod.UID) {
		return nil
	}
	n, obstacle := s.pickNode(pod)
	if b := s.podBehaviour(pod.Namespace, pod.Name); b.Unschedulable != "" {
		obstacle = b.Unschedulable
	}
	if obstacle == "" {
		waits, why, err := s.prepareClaims(ctx, pod, n)
		if err != nil {
			return err
		}
		if waits {
			return nil // provisioning is under way; the claim's event continues
		}
		obstacle = why
	}
	if obstacle != "" {
		return s.reportUnschedulable(ctx, pod, obstacle)
	}
	err := s.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: n.name},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("binding pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bound[pod.UID] = true
	return nil
}

func (s *Simulator) isBound(pod types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound[pod]
}

// pickNode takes the nodes in turn.
func (s *Simulator) pickNode(pod *corev1.Pod) (*node, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range s.nodes {
		s.turn = (s.turn + 1) % len(s.nodes)
		if n := s.nodes[s.turn]; !n.isLost() && n.fits(pod) {
			return n, ""
		}
	}
	return nil, fmt.Sprintf("0/%d nodes are available: none is reachable and fits the pod's node selector and affinity.", len(s.nodes))
}

func (s *Simulator) reportUnschedulable(ctx context.Context, pod *corev1.Pod, message string) error {
	status := *pod.Status.DeepCopy()
	for _, c := range status.Conditions {
		if c.Type == corev1.PodScheduled && c.Message == message {
			return nil
		}
	}
	setCondition(&status, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
	}, time.Now())
	patch, err := statusPatch(pod, status)
	if err != nil {
		return err
	}
	_, err = s.client.CoreV1().Pods(pod.Namespace).
		Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reporting that pod %s/%s cannot be scheduled: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
