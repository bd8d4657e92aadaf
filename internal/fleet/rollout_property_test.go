package fleet_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// template is what a modelled fleet asks for. Nodes fail with a bad one, and keep serving or not.
type template struct {
	id        int
	bad, down bool
}

// modelNode is a node that takes a while to get to the spec it has.
type modelNode struct {
	spec    template
	arrived bool
	soaks   bool
	broken  bool
	silent  bool
	// hurt: it served and was at rest when it was moved, and is not back since.
	hurt bool
}

func (m *modelNode) serves() bool {
	if m.arrived {
		return !m.broken && (!m.spec.bad || !m.spec.down)
	}
	return !m.broken && m.spec.bad && !m.spec.down
}

// rolloutModel is a fleet under a rollout, with the rule as the only thing that moves nodes.
type rolloutModel struct {
	*rapid.T
	nodes   []modelNode
	wanted  template
	max     int
	rollout *v1alpha1.RolloutStatus
	brought string
	now     time.Time
}

func (m *rolloutModel) hash() string { return string(rune('a' + m.wanted.id%26)) }

func (m *rolloutModel) judged() []fleet.Node {
	list := make([]fleet.Node, 0, len(m.nodes))
	for i := range m.nodes {
		n := &m.nodes[i]
		judged := fleet.Node{
			Name: fleet.ChildName("rpc", i), Ordinal: i, Current: n.spec == m.wanted, InForce: n.arrived && !n.spec.bad,
			Ready: n.serves() && !n.silent, Unknown: n.silent, InFlight: !n.arrived,
		}
		if n.soaks {
			judged.Soak = time.Second
		}
		if n.arrived && n.spec.bad {
			judged.Failed = "it failed"
		}
		list = append(list, judged)
	}
	return list
}

// pass moves whom the rule lets move.
func (m *rolloutModel) pass() {
	judged := m.judged()
	_, failed := fleet.FirstFailed(judged)
	for _, i := range fleet.Moves(judged, m.max) {
		n := &m.nodes[i]
		if failed && n.serves() {
			m.Fatalf("node %d serves and is moved past one that failed", i)
		}
		n.hurt = n.hurt || n.serves() && n.arrived && !n.soaks
		n.spec, n.arrived, n.soaks = m.wanted, false, false
	}
	hurt := 0
	for i := range m.nodes {
		n := &m.nodes[i]
		if atRest := n.arrived && !n.soaks && n.serves(); n.hurt && !n.broken && !atRest {
			hurt++
		}
	}
	if hurt > m.max {
		m.Fatalf("%d nodes were taken down, allowed are %d: %+v", hurt, m.max, m.nodes)
	}
	m.now = m.now.Add(time.Second)
	m.rollout = fleet.Track(m.rollout, m.brought, fleet.Goal{TargetHash: m.hash()}, m.judged(), m.now)
	if m.rollout == nil {
		m.brought = m.hash()
	}
}

// arrive lets a node get to its spec, and then stay there for long enough.
func (m *rolloutModel) arrive(i int) {
	n := &m.nodes[i]
	switch {
	case n.silent || n.broken:
	case !n.arrived:
		n.arrived, n.soaks = true, !n.spec.bad
	default:
		n.soaks = false
	}
	if n.arrived && !n.soaks && !n.spec.bad {
		n.hurt = false
	}
}

// event lets one thing happen.
func (m *rolloutModel) event(random *rand.Rand) {
	i := random.IntN(len(m.nodes))
	n := &m.nodes[i]
	switch random.IntN(8) {
	case 0:
		m.wanted = template{m.wanted.id + 1, random.IntN(2) == 0, random.IntN(2) == 0}
	case 1, 2:
		m.arrive(i)
	case 3:
		for i := range m.nodes {
			m.arrive(i)
		}
	case 4:
		n.broken, n.hurt = true, false // that was not us
	case 5:
		n.broken = false
	case 6:
		n.silent = true
	case 7:
		n.silent = false
	}
}

// Whatever templates, troubles and delays there are: no more nodes are down because of a rollout
// than allowed, none that serves is moved past one that failed, and a good template ends with
// every node done.
func TestRollout_AnySequence_KeepsTheBudgetAndEndsAtTheTemplate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &rolloutModel{T: t, max: rapid.IntRange(1, 3).Draw(t, "maxUnavailable"), now: passAt, brought: "a"}
		m.nodes = make([]modelNode, rapid.IntRange(3, 7).Draw(t, "nodes"))
		for i := range m.nodes {
			m.nodes[i].arrived = true
		}
		// Drawn evenly: rapid prefers the first of a list, and so the same few events.
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for range rapid.IntRange(10, 60).Draw(t, "steps") {
			m.event(random)
			m.pass()
		}
		m.wanted = template{id: m.wanted.id + 1}
		for i := range m.nodes {
			m.nodes[i].broken, m.nodes[i].silent = false, false
		}
		for range 4 * len(m.nodes) {
			m.pass()
			for i := range m.nodes {
				m.arrive(i)
			}
		}
		m.pass()
		for _, n := range m.judged() {
			if !n.Done() {
				t.Fatalf("%s is not done: %+v", n.Name, m.nodes)
			}
		}
		if m.rollout != nil || m.brought != m.hash() {
			t.Fatalf("the rollout goes on: %+v", m.rollout)
		}
	})
}
