package podsim

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// syncPod takes one pod as far as it gets now.
func (s *Simulator) syncPod(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	obj, exists, err := s.pods.GetStore().GetByKey(key.String())
	if err != nil || !exists {
		return 0, err
	}
	pod, ok := obj.(*corev1.Pod)
	if !ok || (isFinished(pod) && pod.DeletionTimestamp == nil) {
		return 0, nil
	}
	if pod.Spec.NodeName == "" {
		return 0, s.schedule(ctx, pod)
	}
	n := s.nodeNamed(pod.Spec.NodeName)
	if n == nil || n.isLost() {
		return 0, nil // another simulator's node, or a kubelet that is cut off
	}
	r := s.runOf(pod)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.written != nil && newer(r.written, pod) {
		r.written.DeletionTimestamp, r.written.DeletionGracePeriodSeconds = pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds
		pod = r.written
	}
	st := &step{ctx: ctx, sim: s, pod: pod, run: r, now: time.Now()}
	if pod.DeletionTimestamp != nil {
		return s.terminate(ctx, st, n)
	}
	return s.keepRunning(ctx, st, n)
}

// runOf is the kubelet's memory of a pod; it begins when the pod is first seen
// on a node.
func (s *Simulator) runOf(pod *corev1.Pod) *run {
	b := s.podBehaviour(pod.Namespace, pod.Name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.runs[pod.UID]; r != nil {
		return r
	}
	now := time.Now()
	r := &run{
		ip: b.IP, acceptedAt: metav1.NewTime(now.Truncate(time.Second)), startAt: now.Add(b.StartDelay),
		containers: newContainers(pod),
	}
	if r.ip == "" {
		r.ip = s.ips.take()
	}
	s.runs[pod.UID] = r
	return r
}

// keepRunning starts, probes and restarts containers, and reports.
func (s *Simulator) keepRunning(ctx context.Context, st *step, n *node) (time.Duration, error) {
	r := st.run
	missing := s.missingSource(st.pod)
	r.mounting = missing != ""
	switch {
	case st.now.Before(r.startAt):
		st.wakeAt(r.startAt)
		return time.Until(st.wake), s.report(ctx, st, n)
	case r.mounting && !r.startedAny():
		return 0, s.report(ctx, st, n)
	}
	if r.claims == nil {
		claims, err := s.claimUIDs(st.pod)
		if err != nil {
			return 0, err
		}
		r.claims = claims
	}
	for st.advance() {
		if !s.opts.EveryStep {
			continue
		}
		if err := s.report(ctx, st, n); err != nil {
			return 0, err
		}
	}
	if err := s.report(ctx, st, n); err != nil {
		return 0, err
	}
	if st.wake.IsZero() {
		return 0, nil
	}
	return max(time.Until(st.wake), time.Millisecond), nil
}

// report writes the pod's status if it changed.
func (s *Simulator) report(ctx context.Context, st *step, n *node) error {
	status := podStatus(st.pod, st.run, n.ip, st.now)
	if apiequality.Semantic.DeepEqual(status, st.pod.Status) {
		return nil
	}
	patch, err := statusPatch(st.pod, status)
	if err != nil {
		return err
	}
	written, err := s.client.CoreV1().Pods(st.pod.Namespace).
		Patch(ctx, st.pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // gone, or replaced by another pod of the name: its event follows
	}
	if err != nil {
		return fmt.Errorf("writing the status of pod %s/%s: %w", st.pod.Namespace, st.pod.Name, err)
	}
	st.pod, st.run.written = written, written
	return nil
}

// statusPatch changes the status of this very pod and no other of its name.
func statusPatch(pod *corev1.Pod, status corev1.PodStatus) ([]byte, error) {
	oldJSON, err := json.Marshal(corev1.Pod{Status: pod.Status})
	if err != nil {
		return nil, fmt.Errorf("encoding a pod: %w", err)
	}
	newJSON, err := json.Marshal(corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: pod.UID}, Status: status})
	if err != nil {
		return nil, fmt.Errorf("encoding a pod: %w", err)
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(oldJSON, newJSON, corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("comparing pods: %w", err)
	}
	return patch, nil
}

func isFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// newer compares resource versions of one object.
func newer(a, b *corev1.Pod) bool {
	va, errA := strconv.ParseUint(a.ResourceVersion, 10, 64)
	vb, errB := strconv.ParseUint(b.ResourceVersion, 10, 64)
	return errA == nil && errB == nil && va > vb
}
