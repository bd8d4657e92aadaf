package chaos

import (
	"slices"
	"time"
)

// Kind is what sort of disturbance an event is.
type Kind string

// Kinds of events.
const (
	Kill   Kind = "kill"
	Freeze Kind = "freeze"
	Loss   Kind = "loss"
	Edit   Kind = "edit"
)

// RowSeid is the row of events that hit a process of seid.
const RowSeid = "seid"

// Event is something that was done to the network or to the cluster.
type Event struct {
	At, Until time.Time
	Kind      Kind
	// Row is what was hit: a component, or a kind of object.
	Row string
	// Node is the SeiNode whose process or pod was hit; empty if it was none, or all.
	Node string
	What string
	// Missed says why it was not done.
	Missed string
}

// Run is the time for which one process of seid ran.
type Run struct {
	Node string
	// Pod is the UID of its pod.
	Pod      string
	From, To time.Time
}

// Block is a block of the chain with the time in its header.
type Block struct {
	Height   int64
	At       time.Time
	Evidence int
}

// running is whether a process of the node ran at that time.
func running(runs []Run, node string, at time.Time) bool {
	return slices.ContainsFunc(runs, func(r Run) bool { return r.Node == node && !at.Before(r.From) && at.Before(r.To) })
}

// runsOf are the runs of one node in their order.
func runsOf(runs []Run, node string) []Run {
	var found []Run
	for _, r := range runs {
		if r.Node == node {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b Run) int { return a.From.Compare(b.From) })
	return found
}

// Away is for how long in all, and at most, a node had no process between two times.
func Away(runs []Run, node string, from, to time.Time) (total, longest time.Duration) {
	up := from
	for _, r := range append(runsOf(runs, node), Run{From: to, To: to}) {
		if r.From.After(to) {
			r.From = to
		}
		if down := r.From.Sub(up); down > 0 {
			total, longest = total+down, max(longest, down)
		}
		if r.To.After(up) {
			up = r.To
		}
	}
	return total, longest
}

// Together says which node had two processes at the same time: both would sign with one key.
func Together(runs []Run, nodes []string) []string {
	var found []string
	for _, node := range nodes {
		own := runsOf(runs, node)
		for i := 1; i < len(own); i++ {
			if own[i].From.Before(own[i-1].To) {
				found = append(found, node+": two processes at "+own[i].From.UTC().Format(time.TimeOnly))
			}
		}
	}
	return found
}
