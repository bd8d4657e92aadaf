package main

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// startTimes notes when the sidecar of a pod started, by the kubelet's own clock: the
// API shows it later, and in whole seconds.
type startTimes struct {
	*sidecarsim.Sidecars

	mu sync.Mutex
	at map[types.UID]time.Time
}

// Started implements podsim.Runtime.
func (s *startTimes) Started(c podsim.Container) {
	s.Sidecars.Started(c)
	if c.Name != render.ContainerSidecar {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[c.Pod.UID] = time.Now()
}

// all are the start times by pod.
func (s *startTimes) all() map[types.UID]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.at)
}
