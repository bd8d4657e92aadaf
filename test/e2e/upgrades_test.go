package e2e

import (
	"fmt"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
)

const (
	// upgradesEnv with the value all runs every step of the upgrades. They take a quarter of an hour and keep both cores busy, so
	// that the test stage of every change runs the first one only.
	upgradesEnv = "E2E_UPGRADES"
	// votingBlocks are more than the chain makes from a proposal to its end: it votes for 15 seconds, and a block takes one
	// at least.
	votingBlocks = 20
	// noticedBlocks are so many that all nodes have seen a plan and pulled its image: they look twice a minute.
	noticedBlocks = 45
	// cancelledUpgrade is planned and then cancelled.
	cancelledUpgrade = "v8.0.0"
)

// A chain goes through one upgrade after the other while nobody does more than vote for them and say which images they
// need: four validators and a full node move by themselves, whatever is missing at the halt. In the end a new full node
// walks through all of it from the genesis.
func TestUpgrades_OfALiveChain_NeedNobodyAtTheHalt(t *testing.T) {
	s := begin(t, "upgrades")
	s.chain.id = "upgrades-1"
	s.peers = v1alpha1.LabelPeers{Selector: map[string]string{v1alpha1.LabelDeployment: "v"}}
	fleet := s.voters()
	fleet.Spec.Genesis.Overrides["gov.voting_params.voting_period"] = rawJSON(`"15s"`)
	fleet.Spec.Genesis.Overrides["gov.voting_params.expedited_voting_period"] = rawJSON(`"10s"`)
	fleet.Spec.Template.Spec.Upgrades = upgradeEntries(2)
	s.create(fleet)
	s.create(s.upgradable("full", 2))
	s.awaitInSync("full")
	s.awaitFleet("v", v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
	for i, step := range []struct {
		name string
		run  func(*scenario)
	}{
		{"the operator is killed at the halt", (*scenario).upgradeWithoutOperator},
		{"a validator is away at the halt", (*scenario).upgradeWithoutValidator},
		{"the image is named after the halt", (*scenario).upgradeWithoutEntry},
		{"the image is in a registry alone", (*scenario).upgradeFromRegistry},
		{"a plan is cancelled", (*scenario).cancelUpgrade},
		{"a minor upgrade is rolled out early", (*scenario).upgradeEarly},
		{"a full node starts from the genesis", (*scenario).walkUpgrades},
	} {
		passed := t.Run(step.name, func(t *testing.T) {
			if i > 0 && os.Getenv(upgradesEnv) != "all" {
				t.Skipf("runs with %s=all", upgradesEnv)
			}
			theReport.watch(t)
			step.run(s.in(t))
		})
		if !passed {
			return // the next step begins where this one should have ended
		}
	}
}

// upgradeEntries are the first of the chain's upgrades with their images.
func upgradeEntries(count int) []v1alpha1.ChainUpgrade {
	entries := make([]v1alpha1.ChainUpgrade, 0, count)
	for _, name := range chainUpgrades[:count] {
		entries = append(entries, v1alpha1.ChainUpgrade{Name: name, Image: upgradeImage(name)})
	}
	return entries
}

func (s *scenario) upgradable(name string, entries int) *v1alpha1.SeiNode {
	node := s.fullNode(name)
	node.Spec.Upgrades = upgradeEntries(entries)
	return node
}

func (s *scenario) upgradeWithoutOperator() {
	plan := s.planNext(chainUpgrades[0], "", noticedBlocks)
	for _, name := range s.everyNode() {
		s.awaitCondition(name, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionTrue, v1alpha1.ReasonImageKnown)
		s.awaitPulled(name, upgradeImage(plan.Name))
	}
	halt := s.watchHalt(s.everyNode()...)
	var halted time.Time
	s.killOperatorAfter(func() { halted = halt.await() })
	s.awaitHeight("v-0", plan.Height)
	s.figureHalt("with the operator killed at it", halted)
	s.awaitUpgraded(plan.Name, s.everyNode()...)
}

func (s *scenario) upgradeWithoutValidator() {
	const away = "v-3"
	halt := s.watchHalt("v-0", "v-1", "v-2")
	plan := s.planNext(chainUpgrades[1], "", 5)
	s.holdPod(away)
	halted := halt.await()
	s.awaitHeight("v-0", plan.Height)
	s.figureHalt("with one of four away", halted)
	s.awaitBlocks("v-0", 2) // three of four make blocks
	if image := s.seiNode(away).Status.CurrentImage; image != upgradeImage(chainUpgrades[0]) {
		s.t.Errorf("%s was moved to %s before it had stopped for the upgrade", away, image)
	}
	s.releasePod(away)
	s.awaitUpgraded(plan.Name, s.everyNode()...)
}

func (s *scenario) upgradeWithoutEntry() {
	halt := s.watchHalt(s.everyNode()...)
	plan := s.planNext(chainUpgrades[2], "", 5)
	halt.await()
	s.awaitSomeHalted()
	for _, name := range s.everyNode() {
		s.awaitCondition(name, v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
	}
	added := time.Now()
	s.nameUpgrades(3)
	s.awaitHeight("v-0", plan.Height)
	theReport.figuref(s.t, "from naming the image of an upgrade after the halt to the next block", "%.1f s", time.Since(added).Seconds())
	s.awaitUpgraded(plan.Name, s.everyNode()...)
	s.awaitCondition("full", v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionFalse, v1alpha1.ReasonNothingScheduled)
}

// cancelUpgrade has the validators change their mind. There is no task for that, so it is done as one does it by hand.
func (s *scenario) cancelUpgrade() {
	proposal := s.planUpgrade(upgrade.Plan{Name: cancelledUpgrade, Height: plannedUpgradeHeight})
	some := []string{"full", "v-0"} // all would take longer and show no more
	for _, name := range some {
		s.awaitCondition(name, v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
	}
	out, err := s.kubectl(s.t.Context(), nil, "-n", s.namespace, "exec", "v-1-0", "-c", "sidecar", "--",
		"seid", "tx", "gov", "submit-proposal", "cancel-software-upgrade", "--title=cancel", "--description=cancel", "--deposit="+deposit,
		"--from=validator", "--keyring-backend=test", "--keyring-dir="+home.DefaultPath, "--home="+home.DefaultPath,
		"--chain-id="+s.chain.id, "--fees=20000usei", "--gas=500000", "--broadcast-mode=sync", "--yes")
	if err != nil {
		s.t.Fatalf("proposing to cancel: %v: %s", err, out)
	}
	s.awaitBlocks("v-1", 2) // nobody can vote before it is in a block
	s.voteFor(proposal + 1)
	s.awaitPlan(nil)
	for _, name := range some {
		for _, condition := range []string{v1alpha1.ConditionUpgradeScheduled, v1alpha1.ConditionUpgradeImageMissing} {
			s.awaitCondition(name, condition, metav1.ConditionFalse, v1alpha1.ReasonNothingScheduled)
		}
	}
}

// upgradeEarly ends with all nodes on the image of a minor upgrade before its height, and the chain never stands.
func (s *scenario) upgradeEarly() {
	s.nameUpgrades(len(chainUpgrades))
	plan := s.planNext(chainUpgrades[len(chainUpgrades)-1], `{"upgradeType":"minor"}`, 100)
	began := time.Now()
	s.awaitAllEarly(plan.Name)
	theReport.figuref(s.t, "a minor upgrade of four validators and a full node before its height", "%.1f s", time.Since(began).Seconds())
	if at := s.height("v-0"); at >= plan.Height {
		s.t.Errorf("the rollout ended at height %d, want it before %d", at, plan.Height)
	}
}

// walkUpgrades makes a full node that begins with the image before all upgrades. Meanwhile the chain passes the height of
// the minor one.
func (s *scenario) walkUpgrades() {
	before := s.podsOf("v")
	began := time.Now()
	s.create(s.upgradable("late", len(chainUpgrades)))
	last := chainUpgrades[len(chainUpgrades)-1]
	s.awaitUpgraded(last, append(s.everyNode(), "late")...)
	theReport.figuref(s.t, fmt.Sprintf("from nothing through %d upgrades to the head of the chain", len(chainUpgrades)), "%.1f s", time.Since(began).Seconds())
	if first := s.firstBlock("late"); first != 1 {
		s.t.Errorf("the first block of the new node is %d, want that of the genesis", first)
	}
	after := s.podsOf("v")
	for name, uid := range before {
		if after[name] != uid {
			s.t.Errorf("pod %s was replaced at the height of a minor upgrade that it had already", name)
		}
	}
	s.awaitBlocks("late", 2)
}
