package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// upgradable is a full node with entries for two upgrades, whose images have the handlers of all
// upgrades up to their own.
func (w nodes) upgradable(name string) *v1alpha1.SeiNode {
	w.handlers()
	n := fullNode(name)
	n.Spec.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v7", Image: "seid:v7"}, {Name: "v8", Image: "seid:v8"}}
	return n
}

func (w nodes) handlers() {
	w.Sidecars.SetHandlers("seid:a", "v6")
	w.Sidecars.SetHandlers("seid:v7", "v6", "v7")
	w.Sidecars.SetHandlers("seid:v8", "v6", "v7", "v8")
}

// majorPlan is a major upgrade.
func majorPlan(name string) *api.Upgrade { return &api.Upgrade{Name: name, Height: 100} }

// lookUntil has the operator look at a node again and again until it is as described. It looks by
// itself when the pod changes, and every half minute; a test need not wait for that.
func (w nodes) lookUntil(name, what string, condition func(*v1alpha1.SeiNode) bool) *v1alpha1.SeiNode {
	w.T.Helper()
	var found *v1alpha1.SeiNode
	var asked time.Time
	w.Eventually(what, func() bool {
		if found = w.node(name); condition(found) {
			return true
		}
		if time.Since(asked) < 50*time.Millisecond {
			return false
		}
		asked = time.Now()
		w.edit(name, func(n *v1alpha1.SeiNode) {
			metav1.SetMetaDataAnnotation(&n.ObjectMeta, "looked", fmt.Sprint(asked.UnixNano()))
		})
		return false
	})
	return found
}

func (w nodes) reach(name string) {
	w.T.Helper()
	if err := w.Sidecars.ReachUpgrade(w.Key(name)); err != nil {
		w.T.Fatal(err)
	}
}

// upgradedTo is a node at rest on the image of an entry.
func upgradedTo(entry string) func(*v1alpha1.SeiNode) bool {
	return func(n *v1alpha1.SeiNode) bool {
		u := n.Status.Upgrade
		return settled(n) && u != nil && u.Entry == entry && u.State == v1alpha1.UpgradeUpToDate && u.Applied != nil && u.Applied.Name == entry
	}
}

func inState(state v1alpha1.UpgradeState) func(*v1alpha1.SeiNode) bool {
	return func(n *v1alpha1.SeiNode) bool { return n.Status.Upgrade != nil && n.Status.Upgrade.State == state }
}

// images are those that a node's seid was started with, in order, without repetitions.
func (w nodes) images(name string) []string {
	starts := w.Sidecars.Starts(w.Key(name))
	list := make([]string, 0, len(starts))
	for _, s := range starts {
		list = append(list, s.Version)
	}
	return slices.Compact(list)
}

func (w nodes) requireImages(name string, want ...string) {
	w.T.Helper()
	if got := w.images(name); !slices.Equal(got, want) {
		w.T.Errorf("seid was started with %v, want %v", got, want)
	}
	w.sound()
}

func TestUpgrade_Major_MovesAtTheHaltAndNotBefore(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	pod := &corev1.Pod{}
	w.Get("n-0", pod)
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	n := w.lookUntil("n", "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
	wantCondition(t, n, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionTrue, v1alpha1.ReasonImageKnown)
	wantMessage(t, n, v1alpha1.ConditionUpgradeScheduled, "major upgrade v7 is scheduled for height 100, with image seid:v7")
	w.AwaitEvent("n", events.UpgradeScheduled)
	w.awaitPulled("n")
	mark := w.Recorder.Mark()
	w.forceReconciles("n", 5)
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes while an upgrade is ahead")
	now := &corev1.Pod{}
	w.Get("n-0", now)
	if now.UID != pod.UID || !settled(w.node("n")) {
		t.Fatal("the node moved before the halt")
	}

	w.reach("n")
	n = w.await("n", upgradedTo("v7"))
	w.AwaitEvent("n", events.UpgradeHalted)
	w.AwaitEvent("n", events.UpgradeApplied)
	if n.Status.LastPlan.Reason != domain.ReasonChainUpgrade || n.Status.CurrentImage != "seid:v7" || n.Spec.Image != "seid:a" {
		t.Errorf("last plan %+v, image %s in the pod and %s in the spec, want reason %s, seid:v7 and seid:a",
			n.Status.LastPlan, n.Status.CurrentImage, n.Spec.Image, domain.ReasonChainUpgrade)
	}
	for _, c := range []string{v1alpha1.ConditionUpgradeScheduled, v1alpha1.ConditionUpgradeImageMissing} {
		wantCondition(t, n, c, metav1.ConditionFalse, v1alpha1.ReasonNothingScheduled)
	}
	w.requireImages("n", "seid:a", "seid:v7")
	w.forceReconciles("n", 1)
	mark = w.Recorder.Mark()
	w.forceReconciles("n", 5)
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes after the upgrade")
}

// A halt costs a handful of status writes, however long the plan was ahead.
func TestUpgrade_Major_StatusWritesAreFew(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	w.lookUntil("n", "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
	mark := w.Recorder.Mark()
	w.reach("n")
	w.await("n", upgradedTo("v7"))
	if writes := w.Recorder.Since(mark).Writes().In(w.NS).Of("seinodes/status"); len(writes) > 9 {
		t.Errorf("%d status writes from the halt to the end, want 9 at most", len(writes))
	}
}

// U3.
func TestUpgrade_WithoutAnEntry_IsToldAheadAndGoesOnWhenItIsAdded(t *testing.T) {
	w := newOperatedWorld(t)
	w.handlers()
	w.bringUp(fullNode("n"))
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	missing := func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
	}
	n := w.lookUntil("n", "the plan to be seen", missing)
	wantCondition(t, n, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
	wantCondition(t, n, v1alpha1.ConditionStalled, metav1.ConditionFalse, "")
	w.AwaitEvent("n", events.UpgradeImageMissing)
	w.reach("n")
	n = w.await("n", inState(v1alpha1.UpgradeHalted))
	wantCondition(t, n, v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
	wantCondition(t, n, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
	wantCondition(t, n, v1alpha1.ConditionInSync, metav1.ConditionFalse, v1alpha1.ReasonUpgradeNeeded)
	wantMessage(t, n, v1alpha1.ConditionReady, "v7")
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v7", Image: "seid:v7"}} })
	w.await("n", upgradedTo("v7"))
	w.requireImages("n", "seid:a", "seid:v7")
}

// U3.
func TestUpgrade_EntryAddedAhead_ClearsTheCondition(t *testing.T) {
	w := newOperatedWorld(t)
	w.handlers()
	w.bringUp(fullNode("n"))
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	w.lookUntil("n", "the plan to be seen", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
	})
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v7", Image: "seid:v7"}} })
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionFalse, v1alpha1.ReasonImageKnown)
	})
	w.requireImages("n", "seid:a")
}

// U6: the image of the entry lacks the handler: told with seid's line, no way back and forth, and well
// again with another image.
func TestUpgrade_WrongImage_FailsAndRecovers(t *testing.T) {
	w := newOperatedWorld(t)
	n := w.upgradable("n")
	n.Spec.Upgrades[0].Image = "seid:wrong"
	w.Sidecars.SetHandlers("seid:wrong", "v6", "zz")
	w.bringUp(n)
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	w.lookUntil("n", "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
	w.reach("n")
	n = w.lookUntil("n", "the failure", inState(v1alpha1.UpgradeFailed))
	wantCondition(t, n, v1alpha1.ConditionUpgradeFailed, metav1.ConditionTrue, v1alpha1.ReasonHandlerMissing)
	for _, words := range []string{`UPGRADE "v7" NEEDED at height: 100`, "entry v7 of spec.upgrades"} {
		wantMessage(t, n, v1alpha1.ConditionUpgradeFailed, words)
	}
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonHandlerMissing)
	})
	w.AwaitEvent("n", events.UpgradeFailed)
	w.losePod("n") // a new pod fails the same way, and says nothing new
	n = w.lookUntil("n", "the failure again", func(n *v1alpha1.SeiNode) bool { return inState(v1alpha1.UpgradeFailed)(n) && n.Status.Plan == nil })
	wantCondition(t, n, v1alpha1.ConditionUpgradeFailed, metav1.ConditionTrue, v1alpha1.ReasonHandlerMissing)
	w.requireImages("n", "seid:a", "seid:wrong")
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Upgrades[0].Image = "seid:v7" })
	n = w.await("n", upgradedTo("v7"))
	wantCondition(t, n, v1alpha1.ConditionUpgradeFailed, metav1.ConditionFalse, v1alpha1.ReasonNoFailure)
	w.requireImages("n", "seid:a", "seid:wrong", "seid:v7")
}

// spec.image has the handler of an upgrade that is not due.
func TestUpgrade_ImageThatIsTooNew_IsNamed(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	w.Sidecars.SetHandlers("seid:early", "v6", "v7")
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:early" })
	n := w.lookUntil("n", "the failure", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionUpgradeFailed, metav1.ConditionTrue, v1alpha1.ReasonTooEarly)
	})
	for _, words := range []string{"spec.image", "BINARY UPDATED BEFORE TRIGGER"} {
		wantMessage(t, n, v1alpha1.ConditionUpgradeFailed, words)
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:a" })
	w.lookUntil("n", "the node to be well", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionUpgradeFailed, metav1.ConditionFalse, v1alpha1.ReasonNoFailure)
	})
}

// U4.
func TestUpgrade_Cancelled_ConditionsClear(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	w.lookUntil("n", "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
	w.Sidecars.Plan(w.Key("n"), nil)
	n := w.lookUntil("n", "the plan to be gone", inState(v1alpha1.UpgradeUpToDate))
	wantCondition(t, n, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionFalse, v1alpha1.ReasonNothingScheduled)
	if n.Status.Upgrade.Scheduled != nil {
		t.Errorf("upgrade %+v is scheduled, want none", n.Status.Upgrade.Scheduled)
	}
	w.AwaitEvent("n", events.UpgradeCancelled)
	w.requireImages("n", "seid:a")
}

func TestUpgrade_FromGenesis_WalksAllEntries(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	for _, name := range []string{"v7", "v8"} {
		w.Sidecars.Plan(w.Key("n"), majorPlan(name))
		w.reach("n") // replaying, nobody has seen the plan before
		w.await("n", upgradedTo(name))
	}
	w.requireImages("n", "seid:a", "seid:v7", "seid:v8")
	w.losePod("n")
	w.await("n", upgradedTo("v8"))
	w.requireImages("n", "seid:a", "seid:v7", "seid:v8")
}

// A state that is further than anybody knew: seid names the upgrade that it needs.
func TestUpgrade_StateThatIsAhead_GetsTheImageItNeeds(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	w.Sidecars.Applied(w.Key("n"), api.AppliedUpgrade{Name: "v8", Height: 90}, api.AppliedUpgrade{Name: "v7", Height: 80})
	w.losePod("n")
	w.lookUntil("n", "the node to move", upgradedTo("v8"))
	w.requireImages("n", "seid:a", "seid:v8")
}

// An older sidecar cannot tell what is applied. It reports a halt, and the node moves.
func TestUpgrade_OlderSidecar_IsToldAndMovesAtTheHalt(t *testing.T) {
	w := newOlderWorld(t)
	w.Sidecars.SetLevel(w.Key("n"), api.LevelPublish)
	w.bringUp(w.upgradable("n"))
	w.lookUntil("n", "the sidecar to be too old", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionUnknown, v1alpha1.ReasonSidecarTooOld)
	})
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	w.reach("n")
	w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && n.Status.CurrentImage == "seid:v7" })
	w.requireImages("n", "seid:a", "seid:v7")
}

// S1, S2: a validator moves like for any other image.
func TestUpgrade_Validator_KeepsItsReservation(t *testing.T) {
	w := newOperatedWorld(t)
	w.handlers()
	file, address := consensusKey('a')
	w.Create(secret("signing", v1alpha1.SecretKeySigningKey, file))
	w.Create(secret("nodekey", v1alpha1.SecretKeyNodeKey, nodeKey('n')))
	v := validator("v", "signing", "nodekey")
	v.Spec.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v7", Image: "seid:v7"}}
	w.bringUp(v)
	w.Sidecars.Plan(w.Key("v"), majorPlan("v7"))
	w.reach("v")
	w.await("v", upgradedTo("v7"))
	w.requireImages("v", "seid:a", "seid:v7")
	for _, s := range w.Sidecars.Starts(w.Key("v")) {
		if s.Address != address {
			t.Errorf("seid was started with address %s, want %s", s.Address, address)
		}
	}
}

// U5: the image of the entry in force can be edited, as spec.image could; the entry cannot be removed.
func TestUpgrade_EntryInForce_IsEditedAndNotRemoved(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(w.upgradable("n"))
	w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
	w.reach("n")
	w.await("n", upgradedTo("v7"))
	n := w.node("n")
	without := n.DeepCopy()
	without.Spec.Upgrades = without.Spec.Upgrades[1:]
	if err := w.Client.Patch(t.Context(), without, client.MergeFrom(n)); err == nil || !strings.Contains(err.Error(), "the state on the volume needs its image") {
		t.Errorf("removing the entry: %v, want an error that the state on the volume needs its image", err)
	}
	w.Sidecars.SetHandlers("seid:v7.1", "v6", "v7")
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Upgrades[0].Image = "seid:v7.1" })
	w.await("n", func(n *v1alpha1.SeiNode) bool { return upgradedTo("v7")(n) && n.Status.CurrentImage == "seid:v7.1" })
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image, n.Spec.Upgrades = "seid:v7.1", nil })
	w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && n.Status.Upgrade.Entry == "" })
	w.requireImages("n", "seid:a", "seid:v7", "seid:v7.1")
}
