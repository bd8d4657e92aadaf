package chaos

import (
	"fmt"
	"slices"
	"time"
)

// Move is a node that the operator took down: its pod was deleted, or its seid restarted.
type Move struct {
	Fleet, Node, How string
	At               time.Time
	// Served is whether the node was of use in that moment. One that was not needs no protection.
	Served bool
	// Back is when it was of use again.
	Back time.Time
}

// OverBudget says at which moves more nodes of a fleet that had served were down because of the operator than it may
// take down.
func OverBudget(moves []Move, budget int) []string {
	moves = slices.Clone(moves)
	slices.SortFunc(moves, func(a, b Move) int { return a.At.Compare(b.At) })
	var over []string
	for i, m := range moves {
		if !m.Served {
			continue
		}
		down := map[string]bool{m.Node: true}
		for _, before := range moves[:i] {
			if before.Served && before.Fleet == m.Fleet && m.At.Before(before.Back) {
				down[before.Node] = true
			}
		}
		if len(down) > budget {
			over = append(over, fmt.Sprintf("%s: %s was taken down (%s), with it %d nodes of %s; its budget is %d",
				m.At.UTC().Format(time.TimeOnly), m.Node, m.How, len(down), m.Fleet, budget))
		}
	}
	return over
}

// fresh is how old the last block may be, and for how long a process must have run, to say that a node served.
const fresh = 10 * time.Second

// Served is whether a node was of use until it was taken down: its seid ran for a while, the chain made blocks, and its
// pod was ready. Full nodes leave their Services before a restart: drain is how long before.
func Served(node string, at time.Time, drain time.Duration, runs []Run, blocks []Block, ready []Run) bool {
	steady := slices.ContainsFunc(runs, func(r Run) bool {
		return r.Node == node && !r.From.After(at.Add(-fresh)) && !at.After(r.To)
	})
	lives := slices.ContainsFunc(blocks, func(b Block) bool { return !b.At.After(at) && b.At.After(at.Add(-fresh)) })
	return steady && lives && slices.ContainsFunc(ready, func(r Run) bool {
		return r.Node == node && !r.From.After(at) && r.To.After(at.Add(-drain))
	})
}

// Back is when the node came back after it was taken down: the beginning of its next run, or the end of everything.
func Back(node string, after time.Time, runs []Run, end time.Time) time.Time {
	for _, r := range runsOf(runs, node) {
		if r.From.After(after) {
			return r.From
		}
	}
	return end
}

// Restarts are the ends of seid in a pod that stayed, which no event explains: the operator had it restarted, or it ended
// by itself.
func Restarts(runs []Run, events []Event, nodes []string) []Run {
	var found []Run
	for _, node := range nodes {
		own := runsOf(runs, node)
		for i := 0; i+1 < len(own); i++ {
			if own[i].Pod == own[i+1].Pod && !explained(own[i], events) {
				found = append(found, own[i])
			}
		}
	}
	return found
}

// near is how far apart the kill of a process and the look that misses it may be.
const near = 5 * time.Second

func explained(r Run, events []Event) bool {
	return slices.ContainsFunc(events, func(e Event) bool {
		return e.Missed == "" && e.Kind == Kill && e.Row == RowSeid && e.Node == r.Node && !e.At.After(r.To.Add(near)) && e.At.After(r.To.Add(-near))
	})
}
