package lifecycle

// Draining reports whether a task is about to end the node, which still answers, so that
// clients are sent elsewhere first.
func (t *Tasks) Draining() bool { return t.leaving.Load() }
