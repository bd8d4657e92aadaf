package events

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Latch turns facts that are no part of the status into transitions: it passes a
// fact once, and again only when it changed. What it knows dies with the
// process, so a lasting fact is told again after a restart.
type Latch struct {
	mu   sync.Mutex
	last map[latchKey]string
}

type latchKey struct {
	object types.NamespacedName
	reason Reason
}

// Changed reports whether text is new for the object and reason. An empty text
// means that the fact has ended; it never counts as a change.
func (l *Latch) Changed(object types.NamespacedName, reason Reason, text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := latchKey{object, reason}
	if text == "" {
		delete(l.last, key)
		return false
	}
	if l.last[key] == text {
		return false
	}
	if l.last == nil {
		l.last = map[latchKey]string{}
	}
	l.last[key] = text
	return true
}

// Forget drops what is known of a deleted object.
func (l *Latch) Forget(object types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.last {
		if key.object == object {
			delete(l.last, key)
		}
	}
}
