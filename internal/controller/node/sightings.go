package node

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// sightings remember since when something was seen of a node in every pass. They die
// with the process, so they may put something off and never decide it.
type sightings struct {
	mu    sync.Mutex
	since map[types.NamespacedName]time.Time
}

// lasted is for how long it has been seen; not seen, it begins anew the next time.
func (s *sightings) lasted(node types.NamespacedName, seen bool, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !seen {
		delete(s.since, node)
		return 0
	}
	first, known := s.since[node]
	if !known {
		if s.since == nil {
			s.since = map[types.NamespacedName]time.Time{}
		}
		s.since[node], first = now, now
	}
	return now.Sub(first)
}

// forget drops what is known of a node.
func (s *sightings) forget(node types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.since, node)
}
