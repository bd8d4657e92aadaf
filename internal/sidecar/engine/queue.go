package engine

import "sync"

// queue decides whose turn it is. A task gets all its groups at once or none,
// so two tasks can never wait for each other; and a task that waits keeps its
// groups from everyone behind it, so nobody is overtaken forever.
type queue struct {
	mu      sync.Mutex
	held    map[Group]bool
	free    int // places left for tasks without a group
	waiting []*ticket
}

// ticket is one task's place in the queue. turn is closed when it may run.
type ticket struct {
	groups []Group
	turn   chan struct{}
	called bool
}

func newQueue(readOnlyTasks int) *queue {
	return &queue{held: map[Group]bool{}, free: readOnlyTasks}
}

// join takes a place at the end of the queue.
func (q *queue) join(groups []Group) *ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &ticket{groups: groups, turn: make(chan struct{})}
	q.waiting = append(q.waiting, t)
	q.callNext()
	return t
}

// leave gives back what the ticket holds, or its place if its turn has not come.
func (q *queue) leave(t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !t.called:
		q.drop(t)
	case len(t.groups) == 0:
		q.free++
	default:
		for _, g := range t.groups {
			delete(q.held, g)
		}
	}
	q.callNext()
}

func (q *queue) drop(t *ticket) {
	kept := q.waiting[:0]
	for _, w := range q.waiting {
		if w != t {
			kept = append(kept, w)
		}
	}
	q.waiting = kept
}

// callNext calls everyone who can run now, in order of arrival.
func (q *queue) callNext() {
	wanted := map[Group]bool{}
	still := q.waiting[:0]
	for _, t := range q.waiting {
		if !q.fits(t, wanted) {
			for _, g := range t.groups {
				wanted[g] = true
			}
			still = append(still, t)
			continue
		}
		q.call(t)
	}
	clear(q.waiting[len(still):])
	q.waiting = still
}

func (q *queue) fits(t *ticket, wanted map[Group]bool) bool {
	if len(t.groups) == 0 {
		return q.free > 0
	}
	for _, g := range t.groups {
		if q.held[g] || wanted[g] {
			return false
		}
	}
	return true
}

func (q *queue) call(t *ticket) {
	if len(t.groups) == 0 {
		q.free--
	}
	for _, g := range t.groups {
		q.held[g] = true
	}
	t.called = true
	close(t.turn)
}
