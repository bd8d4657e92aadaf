package fleet

import (
	"cmp"
	"slices"
)

// Moves lists the ordinals of the nodes that may take over the template now. A node
// that is down always may: it cannot be hurt, and the change may be its cure. One that
// serves may only while fewer than maxUnavailable nodes are down or on their way, and
// while no node that has the template's spec has failed with it.
//
// A node to which something is being done may be about to go down, so it keeps those
// that are available back. But it is not down, and being busy does not set it free: a
// change that restarts nothing makes all nodes busy for a moment. Nor does it set a node
// free that nobody knows whether it serves; it counts as down for all others.
func Moves(nodes []Node, maxUnavailable int) []int {
	var moves []int
	taken, busy := 0, 0
	for _, n := range nodes {
		switch {
		case n.Unknown:
			taken++
		case !n.Ready:
			taken++
			if n.waits() {
				moves = append(moves, n.Ordinal)
			}
		case n.Settled():
		case n.Current:
			taken++
		default:
			busy++
		}
	}
	if _, failed := FirstFailed(nodes); !failed {
		moves = append(moves, budgeted(nodes, maxUnavailable, taken, busy)...)
	}
	slices.Sort(moves)
	return moves
}

// budgeted are the nodes that may move because the budget is not used up. taken and busy are
// how many nodes are down or on their way, and how many are busy with something else.
func budgeted(nodes []Node, maxUnavailable, taken, busy int) []int {
	var moves []int
	for _, n := range byOrdinal(nodes) {
		if n.waits() && n.Unknown && taken <= maxUnavailable {
			moves = append(moves, n.Ordinal) // it takes its own share already
		}
	}
	for _, n := range byOrdinal(nodes) {
		if n.waits() && n.Ready && !n.Settled() && taken < maxUnavailable {
			busy--
			taken++
			moves = append(moves, n.Ordinal)
		}
	}
	for _, n := range byOrdinal(nodes) {
		if n.waits() && n.Available() && taken+busy < maxUnavailable {
			taken++
			moves = append(moves, n.Ordinal)
		}
	}
	return moves
}

// waits reports whether a node has yet to take over the template.
func (n Node) waits() bool { return !n.Current && !n.Held }

// FirstFailed is the node that halts a rollout: the first that was given the template, or
// refused it, and failed.
func FirstFailed(nodes []Node) (Node, bool) {
	for _, n := range byOrdinal(nodes) {
		if n.Failed != "" && (n.Current || n.Refused) {
			return n, true
		}
	}
	return Node{}, false
}

func byOrdinal(nodes []Node) []Node {
	return slices.SortedFunc(slices.Values(nodes), func(a, b Node) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
}
