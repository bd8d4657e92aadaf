package fleet

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// upgrading is a chain that a fleet's nodes follow through upgrade v2 at height 100: seid:b and what
// is newer have its handler.
type upgrading struct {
	fleets
	mu sync.Mutex
	// plan is what is scheduled; nil when nothing is.
	plan *api.Upgrade
	// stopped are the nodes whose seid stops for it, applied those whose state has it.
	stopped, applied map[string]bool
}

// followUpgrade has the nodes of a fleet report an upgrade.
func (w fleets) followUpgrade(fleet string, replicas int) *upgrading {
	w.T.Helper()
	c := &upgrading{fleets: w, stopped: map[string]bool{}, applied: map[string]bool{}}
	for i := range replicas {
		name := child(fleet, i)
		w.T.Cleanup(w.Sidecars.Amend(w.Key(name), func(doc *api.Node) { c.tell(name, doc) }))
	}
	return c
}

func (c *upgrading) tell(name string, doc *api.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	doc.Upgrades = &api.Upgrades{Known: true}
	if c.applied[name] {
		doc.Upgrades.Applied = []api.AppliedUpgrade{{Name: "v2", Height: 100}}
		return
	}
	doc.Upgrade = c.plan
	if c.stopped[name] {
		doc.Upgrades.Needed = c.plan
	}
}

// schedule has the chain schedule the upgrade, and every node look.
func (c *upgrading) schedule(minor bool, nodes ...string) {
	c.T.Helper()
	c.mu.Lock()
	c.plan = &api.Upgrade{Name: "v2", Height: 100, Minor: minor}
	c.mu.Unlock()
	for _, name := range nodes {
		c.look(name)
	}
}

// cancel has the chain drop its plan, and every node look.
func (c *upgrading) cancel(nodes ...string) {
	c.T.Helper()
	c.mu.Lock()
	c.plan = nil
	c.mu.Unlock()
	for _, name := range nodes {
		c.look(name)
	}
}

// look has the operator look at a node now.
func (c *upgrading) look(name string) {
	c.T.Helper()
	c.EditNode(name, func(n *v1alpha1.SeiNode) { metav1.SetMetaDataAnnotation(&n.ObjectMeta, "forced", n.ResourceVersion) })
}

// halt has the seid of nodes stop for the upgrade.
func (c *upgrading) halt(nodes ...string) {
	c.T.Helper()
	c.mu.Lock()
	for _, name := range nodes {
		c.stopped[name] = true
	}
	c.mu.Unlock()
	for _, name := range nodes {
		c.Sidecars.SetSync(c.Key(name), api.SyncUpgradeNeeded, "the chain needs another binary")
		c.look(name) // a node that was down before shows no change
	}
}

// produce has nodes apply the upgrade and be in sync.
func (c *upgrading) produce(nodes ...string) {
	c.T.Helper()
	c.mu.Lock()
	for _, name := range nodes {
		c.applied[name] = true
	}
	c.mu.Unlock()
	for _, name := range nodes {
		c.Sidecars.SetInSync(c.Key(name), true)
		c.look(name)
	}
}

// withEntry is a fleet of three that has an image for v2.
func withEntry() *v1alpha1.SeiNodeDeployment {
	snd := rpc("rpc", 3)
	snd.Spec.Template.Spec.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v2", Image: "seid:b"}}
	return snd
}

var three = []string{"rpc-0", "rpc-1", "rpc-2"}

// numbers is a fleet whose upgrade has come so far.
func numbers(halted, moved, producing int32) func(*v1alpha1.SeiNodeDeployment) bool {
	return func(s *v1alpha1.SeiNodeDeployment) bool {
		r := s.Status.Rollout
		return r != nil && r.Reason == v1alpha1.RolloutChainUpgrade && r.Upgrade != nil &&
			*r.Upgrade == v1alpha1.UpgradeRollout{Name: "v2", Height: 100, Halted: halted, Moved: moved, Producing: producing}
	}
}

// One upgrade is one rollout: all halted nodes move together, whatever the budget is, and nobody
// writes into a spec.
func TestUpgrade_ChainHalts_AllNodesMoveTogether(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(withEntry())
	c := w.followUpgrade("rpc", 3)
	c.schedule(false, three...)
	next := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.NextUpgrade != nil })
	if n := next.Status.NextUpgrade; n.Name != "v2" || n.Height != 100 || n.Image != "seid:b" || next.Status.Rollout != nil {
		t.Errorf("next upgrade %+v, rollout %+v", n, next.Status.Rollout)
	}
	before := w.Node("rpc-0").Generation
	c.halt(three...)
	moved := w.await("rpc", numbers(0, 3, 0))
	wantCondition(t, moved, v1alpha1.ConditionRolloutInProgress, metav1.ConditionTrue, v1alpha1.ReasonChainUpgrade)
	if moved.Status.Phase != v1alpha1.DeploymentUpgrading {
		t.Errorf("phase %s, want %s", moved.Status.Phase, v1alpha1.DeploymentUpgrading)
	}
	c.produce(three...)
	w.await("rpc", runs("seid:b"))
	w.AwaitEvent("rpc", events.ChainUpgradeStarted)
	w.AwaitEvent("rpc", events.RolloutComplete)
	if n := w.Node("rpc-0"); n.Generation != before || n.Spec.Image != "seid:a" {
		t.Errorf("the spec of rpc-0 was written: generation %d, image %s", n.Generation, n.Spec.Image)
	}
}

// U2: a node that is down while the others take the upgrade is waited for, and takes it when it gets there.
func TestUpgrade_OneStopsLate_IsNotForgotten(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(withEntry())
	c := w.followUpgrade("rpc", 3)
	c.schedule(false, three...)
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.NextUpgrade != nil })
	w.Sidecars.SetInSync(w.Key("rpc-2"), false)
	c.halt("rpc-0", "rpc-1")
	w.await("rpc", numbers(0, 2, 0))
	c.produce("rpc-0", "rpc-1")
	w.await("rpc", numbers(0, 2, 2))
	w.RestartOperator()
	c.halt("rpc-2")
	w.await("rpc", numbers(0, 3, 2))
	c.produce("rpc-2")
	w.await("rpc", runs("seid:b"))
}

// U3: nodes that stand at the halt without an image all move when an entry is added.
func TestUpgrade_EntryAddedAfterTheHalt_AllMoveAtOnce(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(rpc("rpc", 3))
	c := w.followUpgrade("rpc", 3)
	c.schedule(false, three...)
	c.halt(three...)
	stuck := w.await("rpc", numbers(3, 0, 0))
	if text := message(stuck, v1alpha1.ConditionUpgradeImageMissing); !is(stuck, v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionTrue, v1alpha1.ReasonNoEntry) ||
		!strings.Contains(text, "spec.template.spec.upgrades names upgrade v2 at height 100") {
		t.Errorf("UpgradeImageMissing: %s", text)
	}
	if is(stuck, v1alpha1.ConditionRolloutFailed, metav1.ConditionTrue, "") {
		t.Error("a halt counts as a failure of the template")
	}
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Template.Spec.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v2", Image: "seid:b"}}
	})
	w.await("rpc", numbers(0, 3, 0))
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionFalse, v1alpha1.ReasonImageKnown)
	})
	c.produce(three...)
	w.await("rpc", runs("seid:b"))
}

// A minor upgrade goes through the fleet before its height, node after node.
func TestUpgrade_Minor_IsTakenEarlyWithinTheBudget(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(withEntry())
	c := w.followUpgrade("rpc", 3)
	watch := w.watchNodes()
	c.schedule(true, three...)
	w.await("rpc", numbers(0, 1, 1))
	w.await("rpc", runs("seid:b"))
	watch.require(t, 1)
	for _, name := range three {
		if n := w.Node(name); n.Status.Upgrade.State != v1alpha1.UpgradeMovedEarly || n.Annotations[v1alpha1.AnnotationMinorUpgrade] != "v2" {
			t.Errorf("%s: %+v, may take %q", name, n.Status.Upgrade, n.Annotations[v1alpha1.AnnotationMinorUpgrade])
		}
	}
	// At the height nothing happens any more, and the permission goes.
	pods := w.pods("rpc", 3)
	c.produce(three...)
	for _, name := range three {
		w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool {
			return n.Status.Upgrade.State == v1alpha1.UpgradeUpToDate && n.Annotations[v1alpha1.AnnotationMinorUpgrade] == ""
		})
	}
	w.await("rpc", runs("seid:b"))
	for i, uid := range w.pods("rpc", 3) {
		if uid != pods[i] {
			t.Errorf("the pod of rpc-%d was replaced", i)
		}
	}
}

// U4: a permission ends with the plan that it was given for. A plan of the same name that is a major
// one moves nobody before the halt.
func TestUpgrade_Minor_CancelledAndPlannedAsMajor_MovesAtTheHalt(t *testing.T) {
	w := newOperatedWorld(t)
	snd := withEntry()
	snd.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{Partition: 2}}
	w.bringUp(snd)
	c := w.followUpgrade("rpc", 3)
	c.schedule(true, three...)
	early := func(n *v1alpha1.SeiNode) bool {
		return n.Status.Upgrade.State == v1alpha1.UpgradeMovedEarly && n.Status.CurrentImage == "seid:b"
	}
	w.AwaitNode("rpc-2", early)
	c.cancel(three...)
	for _, name := range three {
		w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool {
			return n.Annotations[v1alpha1.AnnotationMinorUpgrade] == "" && n.Status.Upgrade.Scheduled == nil
		})
	}
	w.AwaitNode("rpc-2", early)
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.UpdateStrategy = nil })
	c.schedule(false, three...)
	for _, name := range three[:2] {
		w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool { return n.Status.Upgrade.State == v1alpha1.UpgradeScheduled })
	}
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.ObservedGeneration == s.Generation && s.Status.NextUpgrade != nil && s.Status.NextUpgrade.Type == v1alpha1.UpgradeMajor
	})
	for _, name := range three[:2] {
		if n := w.Node(name); n.Status.CurrentImage != "seid:a" || n.Annotations[v1alpha1.AnnotationMinorUpgrade] != "" {
			t.Errorf("%s runs %s and may take %q early", name, n.Status.CurrentImage, n.Annotations[v1alpha1.AnnotationMinorUpgrade])
		}
	}
	c.halt(three[:2]...)
	c.produce("rpc-2")
	for _, name := range three[:2] {
		w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool { return n.Status.Upgrade.State == v1alpha1.UpgradeMoved })
	}
	c.produce(three...)
	w.await("rpc", runs("seid:b"))
}

// Another image for the entry in force is a change like any other: within the budget.
func TestUpgrade_PatchOfTheEntryInForce_GoesByARollout(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(withEntry())
	c := w.followUpgrade("rpc", 3)
	c.schedule(false, three...)
	c.halt(three...)
	w.await("rpc", numbers(0, 3, 0))
	c.produce(three...)
	w.await("rpc", runs("seid:b"))
	watch := w.watchNodes()
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Template.Spec.Upgrades = append(s.Spec.Template.Spec.Upgrades, v1alpha1.ChainUpgrade{Name: "v3", Image: "seid:c"})
		s.Spec.Template.Spec.Upgrades[0].Image = "seid:b2"
	})
	w.await("rpc", runs("seid:b2"))
	watch.require(t, 1)
}

// U5: an entry is taken out of the template after the chain has applied it. Every node needs its
// image: the API server refuses it for the first, no other is asked, and nothing restarts.
func TestU5_EntryInForceRemovedFromTheTemplate_IsRefusedAndNothingMoves(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(withEntry())
	c := w.followUpgrade("rpc", 3)
	c.schedule(false, three...)
	c.halt(three...)
	w.await("rpc", numbers(0, 3, 0))
	c.produce(three...)
	w.await("rpc", runs("seid:b"))
	pods := w.pods("rpc", 3)
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Upgrades = nil })
	w.await("rpc", rolloutFailed("rpc-0", "an entry of spec.upgrades that is in force cannot be removed"))
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Template.Spec.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v2", Image: "seid:b"}}
	})
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return runs("seid:b")(s) && is(s, v1alpha1.ConditionRolloutFailed, metav1.ConditionFalse, "")
	})
	if diff := cmp.Diff(pods, w.pods("rpc", 3)); diff != "" {
		t.Errorf("pods were replaced (-before +after):\n%s", diff)
	}
	for _, name := range three {
		if n := w.Node(name); len(n.Spec.Upgrades) != 1 {
			t.Errorf("%s has lost its entry", name)
		}
	}
}
