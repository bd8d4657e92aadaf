package fleet

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Node is what the rollout rule knows of one of the fleet's nodes.
type Node struct {
	Name    string
	Ordinal int
	// Current: its spec holds what the template asks for.
	Current bool
	// Settled: it runs the spec it has.
	Settled bool
	// Ready: it is in sync and serves.
	Ready bool
	// Stopped: it is not meant to run.
	Stopped bool
	// Why says what a node that is not done waits for.
	Why string
}

// Available reports whether it serves and nothing is being done to it.
func (n Node) Available() bool { return n.Ready && n.Settled }

// Done reports whether a rollout has nothing left to do, and nothing to wait for,
// with this node.
func (n Node) Done() bool { return n.Current && n.Settled && (n.Ready || n.Stopped) }

// Moves lists the ordinals of the nodes that may take over the template now. A node
// that is down always may: it cannot be hurt, and the change may be its cure. One that
// serves may only while fewer than maxUnavailable nodes are down or on their way.
//
// A node to which something is being done may be about to go down, so it keeps those
// that are available back. But it is not down, and being busy does not set it free: a
// change that restarts nothing makes all nodes busy for a moment.
func Moves(nodes []Node, maxUnavailable int) []int {
	var moves []int
	taken, busy := 0, 0
	for _, n := range nodes {
		switch {
		case !n.Ready:
			taken++
			if !n.Current {
				moves = append(moves, n.Ordinal)
			}
		case n.Settled:
		case n.Current:
			taken++
		default:
			busy++
		}
	}
	for _, n := range byOrdinal(nodes) {
		if n.Ready && !n.Current && !n.Settled && taken < maxUnavailable {
			busy--
			taken++
			moves = append(moves, n.Ordinal)
		}
	}
	for _, n := range byOrdinal(nodes) {
		if n.Available() && !n.Current && taken+busy < maxUnavailable {
			taken++
			moves = append(moves, n.Ordinal)
		}
	}
	slices.Sort(moves)
	return moves
}

func byOrdinal(nodes []Node) []Node {
	return slices.SortedFunc(slices.Values(nodes), func(a, b Node) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
}

// The defaults of an update strategy.
const (
	defaultMaxUnavailable   = 1
	defaultProgressDeadline = 10 * time.Minute
)

// MaxUnavailable is how many nodes a rollout may take down: at least one, or nothing
// would ever move. A percentage is rounded down.
func MaxUnavailable(snd *v1alpha1.SeiNodeDeployment) int {
	s := snd.Spec.UpdateStrategy
	if s == nil || s.InPlace == nil || s.InPlace.MaxUnavailable == nil {
		return defaultMaxUnavailable
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(s.InPlace.MaxUnavailable, int(snd.Spec.Replicas), false)
	if err != nil {
		return defaultMaxUnavailable // admission lets nothing else through
	}
	return max(n, defaultMaxUnavailable)
}

// ProgressDeadline is how long a rollout may stand still before that is reported.
func ProgressDeadline(snd *v1alpha1.SeiNodeDeployment) time.Duration {
	s := snd.Spec.UpdateStrategy
	if s == nil || s.InPlace == nil || s.InPlace.ProgressDeadlineSeconds == 0 {
		return defaultProgressDeadline
	}
	return time.Duration(s.InPlace.ProgressDeadlineSeconds) * time.Second
}

// Track is the rollout after a look at the nodes; nil when there is none. It begins when
// the template is no longer what the nodes were last brought to, or when a node's spec
// differs from it, goes on until every node is done, and starts over when the template
// changes in between.
func Track(before *v1alpha1.RolloutStatus, broughtTo, targetHash string, nodes []Node, now time.Time) *v1alpha1.RolloutStatus {
	done := int32(0)
	behind := broughtTo != "" && broughtTo != targetHash
	for _, n := range nodes {
		if n.Done() {
			done++
		}
		behind = behind || !n.Current
	}
	total := int32(len(nodes))
	if before == nil && !behind || done == total {
		return nil
	}
	at := metav1.NewTime(now.Truncate(time.Second))
	after := &v1alpha1.RolloutStatus{TargetHash: targetHash, StartedAt: at}
	if before != nil && before.TargetHash == targetHash {
		after.StartedAt, after.ProgressedAt = before.StartedAt, before.ProgressedAt
		if done > before.Updated {
			after.ProgressedAt = &at
		}
	}
	after.Updated, after.Total, after.WaitingOn = done, total, WaitingOn(nodes)
	return after
}

// WaitingOn names the node a rollout waits for: one that is on its way, or else the
// next in line.
func WaitingOn(nodes []Node) string {
	for _, onItsWay := range []bool{true, false} {
		for _, n := range byOrdinal(nodes) {
			if !n.Done() && n.Current == onItsWay {
				return n.Name + ": " + n.Why
			}
		}
	}
	return ""
}

// StalledSince is when a rollout last made progress, and how long it may still stand
// still; nothing is left when it has stalled.
func StalledSince(r *v1alpha1.RolloutStatus, deadline time.Duration, now time.Time) (since time.Time, left time.Duration) {
	since = r.StartedAt.Time
	if r.ProgressedAt != nil && r.ProgressedAt.After(since) {
		since = r.ProgressedAt.Time
	}
	return since, max(0, since.Add(deadline).Sub(now))
}
