package fleet

import (
	"cmp"
	"slices"
)

// Moves lists the ordinals of the nodes that may take over the template now. A node
// that is down always may: it cannot be hurt, and the change may be its cure. One that
// serves may only while fewer than maxUnavailable nodes are down or on their way, and
// while no node that has the template's spec has failed with it, or failed before and has not
// been looked at since it was written to.
//
// A node to which something is being done may be about to go down, so it keeps the others
// back. But it is not down, and being busy does not set it free: a change that restarts
// nothing makes all nodes busy for a moment. Nor does it free a node of which it is unknown whether it
// serves; it counts as down for all others.
func Moves(nodes []Node, maxUnavailable int) []int {
	var moves []int
	b := budget{left: maxUnavailable}
	for _, n := range nodes {
		switch {
		case n.Unknown:
			b.left--
		case !n.Ready:
			b.left--
			if n.waits() {
				moves = append(moves, n.Ordinal)
			}
		case n.Settled():
		case n.Current:
			b.left--
		case n.mayGoDown():
			b.inFlight++
		default:
			b.behind++
		}
	}
	if _, failed := FirstFailed(nodes); !failed && !slices.ContainsFunc(nodes, Node.undecided) {
		moves = append(moves, b.spend(byOrdinal(nodes))...)
	}
	slices.Sort(moves)
	return moves
}

// budget is how many more nodes may be taken down, and how many serve on an older spec and are
// not at rest: some that may go down by what is being done to them, some that do not get on.
type budget struct {
	left, inFlight, behind int
}

// spend lists the nodes that may move because the budget is not used up: first those that may go
// down anyhow, then those that do not get on, then the others.
func (b budget) spend(nodes []Node) []int {
	var moves []int
	for _, n := range nodes {
		if n.waits() && n.Unknown && b.left >= b.inFlight {
			moves = append(moves, n.Ordinal) // it takes its own share already
		}
	}
	each := func(who func(Node) bool, count *int, may func() bool) {
		for _, n := range nodes {
			if n.waits() && n.Ready && who(n) && may() {
				*count--
				b.left--
				moves = append(moves, n.Ordinal)
			}
		}
	}
	each(func(n Node) bool { return !n.Settled() && n.mayGoDown() }, &b.inFlight, func() bool { return b.left > 0 })
	each(func(n Node) bool { return !n.Settled() && !n.mayGoDown() }, &b.behind, func() bool { return b.left > b.inFlight })
	each(Node.Settled, new(int), func() bool { return b.left > b.inFlight+b.behind })
	return moves
}

// mayGoDown reports whether a node that serves cannot be counted on: something is being done to
// it, or was a moment ago.
func (n Node) mayGoDown() bool { return n.InFlight || n.Soak > 0 || n.Task != "" }

// waits reports whether a node still has to take over the template.
func (n Node) waits() bool { return !n.Current && !n.Held }

// undecided reports whether a node has the template, failed the last time somebody looked, and was
// written to since: a change that restarts nothing does not make it well.
func (n Node) undecided() bool { return n.Current && n.FailedBefore }

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
