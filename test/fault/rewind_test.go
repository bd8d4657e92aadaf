package fault

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// destructive calls take something away from a node, or begin to: its pod, its process, its data, an
// object, or the finalizer that holds one.
func destructive(c call) bool {
	resource, _, _ := strings.Cut(c.object, " ")
	switch {
	case !c.changes:
		return false
	case c.toAPI:
		return c.verb == "delete" || slices.Contains([]string{"statefulsets", "jobs", "seinodes"}, resource)
	default:
		task := strings.TrimPrefix(c.verb, "submit-")
		return slices.Contains([]string{"restart-seid", "stop-seid", "mark-not-ready", "reset-data", "snapshot-restore"}, task)
	}
}

// staleStart kills the process right before the call. The caches of the next one are filled by an API
// server that is some changes behind, and stay so for one pass.
func staleStart(changes int) meeting {
	return func(l *life, _ *http.Request, _ http.RoundTripper) (*http.Response, error) {
		l.wire.rewind(changes)
		l.kill()
		return nil, errKilled
	}
}

// rewind has the next operator begin so many changes behind.
func (r *run) rewind(changes int) {
	r.Watches.Rewind(r.census.behind(changes))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rewound = true
}

// patience is how long a pass on old caches is waited for: it may find nothing that it can do.
const patience = 2 * time.Second

// forward has an operator that began some changes behind make a pass over every object, and then shows
// it the present.
func (r *run) forward(before map[object]float64) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < patience; <-tick.C {
		passed := func(o object) bool { return r.reconciles(o) > before[o] }
		if len(r.scenario.objects) > 0 && !slices.ContainsFunc(r.scenario.objects, func(o object) bool { return !passed(o) }) {
			break
		}
	}
	r.Watches.Forward()
}

// passes are how often each object was looked at.
func (r *run) passes() map[object]float64 {
	seen := map[object]float64{}
	for _, o := range r.scenario.objects {
		seen[o] = r.reconciles(o)
	}
	return seen
}
