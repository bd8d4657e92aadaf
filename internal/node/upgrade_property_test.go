package node_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// upgradeModel is a chain, a volume, a pod and an operator. The chain's upgrades come in an order of
// its own; the node follows it block by block with the binary of its pod, which knows the upgrades up
// to its own.
type upgradeModel struct {
	t    *testing.T
	rnd  *rand.Rand
	spec *v1alpha1.SeiNodeSpec
	// chain are the upgrades that the chain goes through, those before next are applied to the state.
	chain []api.Upgrade
	next  int
	// planned: the chain's plan for the next one is in the state.
	planned, halted, asked bool
	// image is that of the pod.
	image   string
	refusal *api.UpgradeRefusal
	status  *v1alpha1.UpgradeStatus
	// moves are the images that the pod has had, in order.
	moves []string
}

// has reports whether an image has an upgrade: seid:N has all up to N.
func (m *upgradeModel) has(image string, upgrade int) bool {
	return upgrade < 0 || slices.Index(m.images(), image) > upgrade
}

func (m *upgradeModel) images() []string {
	list := append(make([]string, 0, 1+len(m.chain)), m.spec.Image)
	for _, u := range m.chain {
		list = append(list, "seid:"+u.Name)
	}
	return list
}

func newUpgradeModel(t *testing.T, seed uint64) *upgradeModel {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	m := &upgradeModel{t: t, rnd: rnd, spec: &v1alpha1.SeiNodeSpec{Image: "seid:first", FullNode: &v1alpha1.FullNodeSpec{}}, image: "seid:first"}
	for i, name := range []string{"v1", "v2", "v3", "v4", "v5"} {
		m.chain = append(m.chain, api.Upgrade{Name: name, Height: int64(100 * (i + 1)), Minor: rnd.IntN(3) == 0})
		m.spec.Upgrades = append(m.spec.Upgrades, v1alpha1.ChainUpgrade{Name: name, Image: "seid:" + name})
	}
	m.moves = []string{m.image}
	return m
}

// document is what the sidecar tells; nil when it does not answer.
func (m *upgradeModel) document() *api.Node {
	if m.rnd.IntN(4) == 0 {
		return nil
	}
	d := &api.Node{APILevel: api.Level, Home: api.Home{Stage: api.HomeFirstSync}, Upgrades: &api.Upgrades{Known: m.asked, Refusal: m.refusal}}
	if m.asked {
		for i := m.next - 1; i >= 0; i-- {
			d.Upgrades.Applied = append(d.Upgrades.Applied, api.AppliedUpgrade{Name: m.chain[i].Name, Height: m.chain[i].Height})
		}
	}
	if m.planned {
		d.Upgrade = &m.chain[m.next]
	}
	if m.halted {
		d.Upgrades.Needed = &m.chain[m.next]
	}
	return d
}

// pass is a pass of the operator: it may be a new process, and it remembers what is in the status.
func (m *upgradeModel) pass() {
	in := node.UpgradeInput{Spec: m.spec, Document: m.document(), Before: m.status, Running: m.image}
	c := node.EffectiveImage(in)
	state := v1alpha1.UpgradeUpToDate
	switch {
	case c.Halted:
		state = v1alpha1.UpgradeHalted
	case c.Early:
		state = v1alpha1.UpgradeMovedEarly
	case c.Scheduled != nil:
		state = v1alpha1.UpgradeScheduled
	}
	m.status = &v1alpha1.UpgradeStatus{Image: c.Image, Entry: c.Entry, Scheduled: c.Scheduled, Applied: c.Applied, State: state}
	if c.Image == m.image {
		return
	}
	m.require(c.Image)
	m.image, m.refusal = c.Image, nil
	m.moves = append(m.moves, c.Image)
}

// require checks a move.
func (m *upgradeModel) require(image string) {
	if slices.Contains(m.moves, image) {
		m.t.Errorf("moved back to %s after %v", image, m.moves)
	}
	if !m.has(image, m.next-1) {
		m.t.Errorf("moved to %s although %s is applied", image, m.chain[m.next-1].Name)
	}
	if m.next == len(m.chain) {
		return
	}
	if early := m.has(image, m.next) && !m.halted; early && (!m.planned || !m.chain[m.next].Minor) {
		m.t.Errorf("moved to %s before the halt for %s", image, m.chain[m.next].Name)
	}
	if m.has(image, m.next+1) && m.next+1 < len(m.chain) {
		m.t.Errorf("moved to %s past %s", image, m.chain[m.next].Name)
	}
}

// block lets the chain continue: a plan appears, is cancelled, or is due.
func (m *upgradeModel) block() {
	if m.next == len(m.chain) || m.halted && !m.has(m.image, m.next) {
		return
	}
	switch {
	case m.halted:
		m.apply()
	case !m.planned:
		m.planned = true
	case m.rnd.IntN(4) == 0:
		m.planned = false
	case m.has(m.image, m.next):
		m.apply()
	default:
		m.halted = true
		m.refusal = &api.UpgradeRefusal{Kind: api.RefusedNeeded, Name: m.chain[m.next].Name}
	}
}

func (m *upgradeModel) apply() {
	m.next++
	m.planned, m.halted, m.refusal = false, false, nil
}

// From genesis, under any interleaving of blocks, looks, silences and restarts of the operator, a node
// walks through all entries in order, each at its halt or, if minor, once it is planned, and none twice.
func TestEffectiveImage_AnyInterleaving_WalksAllEntriesInOrder(t *testing.T) {
	for seed := range uint64(2000) {
		m := newUpgradeModel(t, seed)
		for range 400 {
			switch m.rnd.IntN(5) {
			case 0, 1:
				m.block()
			case 2:
				m.asked = true // by a look at a seid that answers
			default:
				m.pass()
			}
			if t.Failed() {
				t.Fatalf("seed %d, images %v", seed, m.moves)
			}
		}
		if m.next != len(m.chain) {
			t.Fatalf("seed %d: stopped before %s with images %v", seed, m.chain[m.next].Name, m.moves)
		}
		for range 20 {
			m.pass()
		}
		if want := m.images(); !slices.Equal(m.moves, want) {
			t.Fatalf("seed %d: images %v, want %v", seed, m.moves, want)
		}
	}
}
