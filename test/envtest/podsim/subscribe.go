package podsim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// subscribe turns events into work.
func (s *Simulator) subscribe() error {
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandlerFuncs{
		s.pods:       {AddFunc: s.podChanged, UpdateFunc: func(_, obj any) { s.podChanged(obj) }, DeleteFunc: s.podGone},
		s.claims:     {AddFunc: s.claimChanged, UpdateFunc: func(_, obj any) { s.claimChanged(obj) }, DeleteFunc: s.claimChanged},
		s.secrets:    {AddFunc: s.sourceChanged, UpdateFunc: func(_, obj any) { s.sourceChanged(obj) }},
		s.configMaps: {AddFunc: s.sourceChanged, UpdateFunc: func(_, obj any) { s.sourceChanged(obj) }},
		s.classes:    {AddFunc: func(any) {}},
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("subscribing to events: %w", err)
		}
	}
	return nil
}

func (s *Simulator) podChanged(obj any) {
	if key, ok := keyOf(obj); ok {
		s.podQueue.Add(key)
	}
}

// podGone also covers pods that were deleted by force: their containers end
// here at the latest.
func (s *Simulator) podGone(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	s.mu.Lock()
	r := s.runs[pod.UID]
	delete(s.runs, pod.UID)
	delete(s.bound, pod.UID)
	s.mu.Unlock()
	if r != nil {
		s.stopRun(pod.UID, r)
	}
	// A pod of the same name may be waiting for this one's claim or address.
	s.podQueue.Add(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
}

// claimChanged looks at the claim and at the pods that wait for it.
func (s *Simulator) claimChanged(obj any) {
	key, ok := keyOf(obj)
	if !ok {
		return
	}
	s.claimQueue.Add(key)
	s.pokeWhere(key.Namespace, func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" && usesClaim(pod, key.Name) })
}

// sourceChanged looks at the pods that cannot start for want of a Secret or
// ConfigMap.
func (s *Simulator) sourceChanged(obj any) {
	key, ok := keyOf(obj)
	if !ok {
		return
	}
	s.pokeWhere(key.Namespace, func(pod *corev1.Pod) bool {
		r := s.lookup(pod.UID)
		if r == nil {
			return false
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.mounting
	})
}

func (s *Simulator) pokeMatching(match Match) {
	s.pokeWhere(match.Namespace, func(pod *corev1.Pod) bool { return match.pod(pod.Namespace, pod.Name) })
}

func (s *Simulator) pokeWhere(namespace string, which func(*corev1.Pod) bool) {
	for _, obj := range s.pods.GetStore().List() {
		pod, ok := obj.(*corev1.Pod)
		if ok && (namespace == "" || pod.Namespace == namespace) && which(pod) {
			s.Poke(pod.Namespace, pod.Name)
		}
	}
}

func (s *Simulator) lookup(uid types.UID) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[uid]
}
