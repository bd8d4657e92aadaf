package loop

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Sightings remember since when something was seen of an object in every pass. They die
// with the process, so they may put something off and never decide it.
type Sightings struct {
	mu    sync.Mutex
	since map[types.NamespacedName]time.Time
}

// Lasted is for how long it has been seen; not seen, it starts over the next time.
func (s *Sightings) Lasted(object types.NamespacedName, seen bool, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !seen {
		delete(s.since, object)
		return 0
	}
	first, known := s.since[object]
	if !known {
		if s.since == nil {
			s.since = map[types.NamespacedName]time.Time{}
		}
		s.since[object], first = now, now
	}
	return now.Sub(first)
}

// Forget drops what is known of an object.
func (s *Sightings) Forget(object types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.since, object)
}
