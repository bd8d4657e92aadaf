package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// history is every version of a fleet and of its nodes that the API server has sent. A rollout is
// judged by the versions of the nodes, and not by the fleet's status.
type history struct {
	nodes  []*v1alpha1.SeiNode
	fleets []*v1alpha1.SeiNodeDeployment
	known  []knowledge
}

// knowledge is what the operator's caches held before a reconcile of the fleet. From version on the
// operator acts on this or on something newer: caches never go back.
type knowledge struct {
	version uint64
	fleet   *v1alpha1.SeiNodeDeployment
	nodes   []v1alpha1.SeiNode
}

// moved reports whether a node that was in sync was given another spec.
func moved(was, is *v1alpha1.SeiNode) bool {
	return was != nil && was.UID == is.UID && inSync(was) && (was.Spec.Image != is.Spec.Image || !maps.Equal(was.Spec.Overrides, is.Spec.Overrides))
}

func inSync(n *v1alpha1.SeiNode) bool {
	return n.DeletionTimestamp == nil && conditions.Is(n.Status.Conditions, v1alpha1.ConditionInSync, metav1.ConditionTrue, "")
}

// isDown reports whether a node is out of sync, or its state is unknown.
func isDown(n *v1alpha1.SeiNode) bool { return n.DeletionTimestamp == nil && !inSync(n) }

// hasFailed reports whether a node has failed with the spec it has.
func hasFailed(n *v1alpha1.SeiNode) bool {
	if n.DeletionTimestamp != nil || n.Spec.Paused || n.Status.ObservedGeneration != n.Generation {
		return false
	}
	if conditions.Is(n.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, "") {
		return true
	}
	ready := conditions.Get(n.Status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionFalse &&
		slices.Contains([]string{v1alpha1.ReasonImagePullFailed, v1alpha1.ReasonPodCrashLooping, v1alpha1.ReasonStartRefused}, ready.Reason)
}

// mayHaveFailed reports whether a node has failed, or was not reconciled since its spec was written.
func mayHaveFailed(n *v1alpha1.SeiNode) bool {
	return n.DeletionTimestamp == nil && !n.Spec.Paused && n.Status.ObservedGeneration != n.Generation || hasFailed(n)
}

// violations are the moves of nodes in sync that break a rule of the rollout by what the operator's
// caches held. A move is judged once a later version of the fleet was seen.
func (h history) violations(allowed int) []string {
	var found []string
	last := map[string]*v1alpha1.SeiNode{}
	for _, n := range slices.SortedFunc(slices.Values(h.nodes), func(a, b *v1alpha1.SeiNode) int { return cmp.Compare(version(a), version(b)) }) {
		if k := h.knownAt(n); k != nil && moved(last[n.Name], n) && len(h.fleets) > 0 && version(n) < version(h.fleets[len(h.fleets)-1]) {
			found = append(found, h.judge(k, n, allowed)...)
		}
		last[n.Name] = n
	}
	return found
}

// knownAt is the latest knowledge from before a version of a node; nil when there is none.
func (h history) knownAt(n *v1alpha1.SeiNode) *knowledge {
	at := slices.IndexFunc(h.known, func(k knowledge) bool { return k.version > version(n) })
	if at < 0 {
		at = len(h.known)
	}
	if at == 0 {
		return nil
	}
	return &h.known[at-1]
}

// judge names the rules that moving a node has broken.
func (h history) judge(k *knowledge, n *v1alpha1.SeiNode, allowed int) []string {
	var found, down []string
	note := func(format string, args ...any) {
		found = append(found, fmt.Sprintf("%s was moved at version %d, ", n.Name, version(n))+fmt.Sprintf(format, args...))
	}
	for i := range k.nodes {
		other := &k.nodes[i]
		if other.Name == n.Name {
			continue
		}
		if isDown(other) && h.always(other, n, isDown) {
			down = append(down, other.Name)
		}
		if hasFailed(other) && h.asked(k, n, func(f *v1alpha1.SeiNodeDeployment) bool { return asks(f, other) }) && h.always(other, n, mayHaveFailed) {
			note("past %s, which had failed since version %d", other.Name, version(other))
		}
	}
	if len(down) >= allowed {
		note("while %v were down and %d are allowed", down, allowed)
	}
	if h.asked(k, n, func(f *v1alpha1.SeiNodeDeployment) bool { return f.Spec.Paused }) {
		note("while its fleet was paused")
	}
	if h.asked(k, n, func(f *v1alpha1.SeiNodeDeployment) bool {
		return ordinalOf(n) < f.Spec.UpdateStrategy.InPlace.Partition
	}) {
		note("although a partition holds it back")
	}
	return found
}

// always reports whether something held for every version of a node until another node was moved.
func (h history) always(n, until *v1alpha1.SeiNode, holds func(*v1alpha1.SeiNode) bool) bool {
	return !slices.ContainsFunc(h.nodes, func(seen *v1alpha1.SeiNode) bool {
		return seen.Name == n.Name && version(seen) > version(n) && version(seen) < version(until) && (seen.UID != n.UID || !holds(seen))
	})
}

// asked reports whether something held for every version of the fleet until a node was moved.
func (h history) asked(k *knowledge, n *v1alpha1.SeiNode, holds func(*v1alpha1.SeiNodeDeployment) bool) bool {
	return holds(k.fleet) && !slices.ContainsFunc(h.fleets, func(f *v1alpha1.SeiNodeDeployment) bool {
		return version(f) > version(k.fleet) && version(f) < version(n) && !holds(f)
	})
}

// asks reports whether a node's image and overrides are what the fleet asks of it.
func asks(f *v1alpha1.SeiNodeDeployment, n *v1alpha1.SeiNode) bool {
	want := maps.Clone(f.Spec.Template.Spec.Overrides)
	for _, one := range f.Spec.Nodes {
		if one.Ordinal == ordinalOf(n) && len(one.Overrides) > 0 {
			if want == nil {
				want = map[string]string{}
			}
			maps.Copy(want, one.Overrides)
		}
	}
	return n.Spec.Image == f.Spec.Template.Spec.Image && maps.Equal(want, n.Spec.Overrides)
}

// ordinalOf is the number a node was made with; one that has none is held back by no partition.
func ordinalOf(n *v1alpha1.SeiNode) int32 {
	ordinal, err := strconv.ParseInt(n.Labels[v1alpha1.LabelDeploymentOrdinal], 10, 32)
	if err != nil {
		return mostNodes
	}
	return int32(ordinal)
}
