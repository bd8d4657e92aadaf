package podsim

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Kill ends a running container of a pod with an exit code, as a crash or an
// out-of-memory kill would. What follows is up to the restart policy.
func (s *Simulator) Kill(namespace, pod, container string, code int32) error {
	obj, exists, err := s.pods.GetStore().GetByKey(namespace + "/" + pod)
	if err != nil || !exists {
		return fmt.Errorf("killing container %s of pod %s/%s: no such pod", container, namespace, pod)
	}
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return fmt.Errorf("killing container %s of pod %s/%s: it is a %T", container, namespace, pod, obj)
	}
	r := s.lookup(p.UID)
	if r == nil {
		return fmt.Errorf("killing container %s of pod %s/%s: the pod has not started", container, namespace, pod)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.containers {
		if c.spec.Name == container && c.running != nil {
			(&step{sim: s, pod: p, run: r, now: time.Now()}).end(c, code)
			s.Poke(namespace, pod)
			return nil
		}
	}
	return fmt.Errorf("killing container %s of pod %s/%s: it does not run", container, namespace, pod)
}

// forgive ends the pauses of crash loops whose cause was removed.
func (s *Simulator) forgive(match Match) {
	uids := map[types.UID]bool{}
	for _, obj := range s.pods.GetStore().List() {
		if pod, ok := obj.(*corev1.Pod); ok && match.pod(pod.Namespace, pod.Name) {
			uids[pod.UID] = true
		}
	}
	for uid := range uids {
		r := s.lookup(uid)
		if r == nil {
			continue
		}
		r.mu.Lock()
		for _, c := range r.containers {
			c.restartAt = time.Time{}
		}
		r.mu.Unlock()
	}
}
