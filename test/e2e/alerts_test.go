package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// noticesANodeWithoutPeers makes one, and sees that the alert's expression is true of it and of no other.
func (m *monitor) noticesANodeWithoutPeers(name string) {
	m.t.Helper()
	noPeers := m.ofNodes(m.alert("NoPeers"), m.namespace)
	m.awaitNothing("NoPeers of nodes that have some", noPeers)
	node := m.fullNode(name)
	node.Spec.Peers = nil
	m.create(node)
	m.awaitReason(name, v1alpha1.ReasonNoPeers)
	m.scrapeNodes(3)
	m.awaitAlert("NoPeers", noPeers, "name", name)
}

// noticesAMissingSnapshot makes a node that has to make snapshots and has none yet.
func (m *monitor) noticesAMissingSnapshot(name string) {
	m.t.Helper()
	none := m.ofNodes(m.alertFor("SnapshotTooOld", "none"), m.namespace)
	m.awaitNothing("SnapshotTooOld of nodes that make none", none)
	node := m.fullNode(name)
	node.Spec.FullNode.SnapshotGeneration = &v1alpha1.SnapshotGeneration{Tendermint: &v1alpha1.TendermintSnapshotGeneration{KeepRecent: 2}}
	node.Spec.Overrides = map[string]string{"storage.snapshot_interval": "100000"}
	m.create(node)
	m.awaitInSync(name)
	m.scrapeNodes(4)
	m.awaitAlert("SnapshotTooOld", none, "name", name)
}

// noticesADivergedNode makes a node that begins with another state than its chain, in a namespace with another genesis: it
// refuses a block that all others have.
func (m *monitor) noticesADivergedNode(name string) {
	m.t.Helper()
	astray := *m.scenario
	astray.namespace += "-" + name
	astray.createNamespace()
	m.t.Cleanup(astray.end)
	astray.chain.genesis = withOtherState(m.t, m.chain.genesis)
	astray.create(astray.chain.genesisMap(m.t))
	diverged := m.ofNodes(m.alertFor("AppHashMismatch", "diverged"), m.namespace+"|"+astray.namespace)
	m.awaitNothing("AppHashMismatch of nodes that follow their chain", diverged)
	astray.create(astray.fullNode(name))
	await(m.t, inSyncTimeout, name+" to have a pod", func(context.Context) (bool, string, error) {
		node := astray.seiNode(name)
		return node.Status.CurrentImage != "", describe(node), nil
	})
	m.scrape(m.namespace, astray.namespace)
	m.awaitAlert("AppHashMismatch", diverged, "name", name)
	m.t.Log(describe(astray.seiNode(name)))
}

// withOtherState is a genesis of the same chain whose first state differs in a parameter.
func withOtherState(t *testing.T, genesis []byte) []byte {
	t.Helper()
	var document map[string]any
	decode(t, genesis, &document)
	state, _ := document["app_state"].(map[string]any)
	staking, _ := state["staking"].(map[string]any)
	params, ok := staking["params"].(map[string]any)
	if !ok {
		t.Fatal("the genesis has no parameters of staking")
	}
	params["max_entries"] = 8
	changed, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// ofNodes is an expression, for the nodes of some namespaces.
func (m *monitor) ofNodes(expr, namespaces string) string {
	return fmt.Sprintf(`(%s) and on (namespace, name) sei_node_diverged{namespace=~%q}`, expr, namespaces)
}

// awaitAlert waits until the expression of an alert is true of one thing and of no other.
func (m *monitor) awaitAlert(alert, expr, label, value string) {
	m.t.Helper()
	await(m.t, inSyncTimeout, alert+" of "+value, func(ctx context.Context) (bool, string, error) {
		answer, err := m.Query(ctx, expr)
		return len(answer) == 1 && answer[0].Labels[label] == value, fmt.Sprint(answer), err
	})
	m.t.Logf("%s is true of %s alone", alert, value)
}

// Blocks that a validator of the alerts' chain may miss before it is jailed, out of a window twice as long.
const missable = 120

// The alerts about validators, about a chain that stands, and about nodes that differ from the others of theirs, on a chain
// whose validators are stopped: it takes some twelve minutes, most of them in blocks that are missed on purpose.
// E2E_ALERTS=all makes them all.
func TestAlerts_ChainWithoutItsValidators_AreTrueOfIt(t *testing.T) {
	if os.Getenv("E2E_ALERTS") != "all" {
		t.Skip("skipped: it waits for missed blocks; E2E_ALERTS=all runs it")
	}
	s := begin(t, "alerts")
	s.chain.id = "alerts-1"
	s.peers = v1alpha1.LabelPeers{Selector: map[string]string{v1alpha1.LabelDeployment: "v"}}
	bin, err := s.script(t.Context(), "prometheus.sh")
	if err != nil {
		t.Fatalf("getting prometheus: %v", err)
	}
	fleet := s.voters()
	maps.Copy(fleet.Spec.Genesis.Overrides, map[string]apiextensionsv1.JSON{
		"slashing.params.signed_blocks_window":   rawJSON(fmt.Sprintf("%q", fmt.Sprint(2*missable))),
		"slashing.params.min_signed_per_window":  rawJSON(`"0.5"`),
		"slashing.params.downtime_jail_duration": rawJSON(`"600s"`),
	})
	s.create(fleet)
	s.awaitFleet("v", v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
	s.stopsEarly("late")
	m := s.startMonitor(bin)
	m.scrapeNodes(validators)

	missing, jailed := m.ofNodes(m.alert("ValidatorMissingBlocks"), s.namespace), m.ofNodes(m.alertFor("ValidatorJailed", "jailed"), s.namespace)
	m.awaitNothing("ValidatorMissingBlocks of validators that sign", missing)
	m.awaitNothing("ValidatorJailed of validators that sign", jailed)
	m.stopFor("v-3", missable*6/10)
	m.awaitAlert("ValidatorMissingBlocks", missing, "name", "v-3")
	m.stopFor("v-3", missable*7/10)
	m.awaitAlert("ValidatorJailed", jailed, "name", "v-3")
	m.awaitNothing("ValidatorMissingBlocks of a validator that is jailed", missing)

	halted := fmt.Sprintf(`(%s) and on (chain) sei_node_height{namespace=%q}`, m.alert("ChainHalted"), s.namespace)
	m.awaitNothing("ChainHalted of a chain that goes on", halted)
	// One of the three that are left has a third of the votes.
	m.pauseNodes("v-2")
	m.awaitAlert("ChainHalted", halted, "chain", s.chain.id)
	m.pauseNodes()
	m.scrapeWhenUp("v-2")
	m.awaitNothing("ChainHalted of a chain that goes on again", halted)

	m.noticesANodeThatStaysBehind("late", "young")
	m.pauseNodes()
	m.scrapeWhenUp("v-0")
	m.noticesAnotherHistory("w")
	m.noticesAFillingDisk("w-0")
}

// noticesAFillingDisk writes to the volume of a node. All volumes of the cluster are folders of one disk, so it fills for
// all of them, and tests that run beside this one may fill it enough.
func (m *monitor) noticesAFillingDisk(node string) {
	m.t.Helper()
	soon := m.ofNodes(m.alertFor("DiskFillingUp", "soon"), m.namespace)
	before, err := m.Query(m.t.Context(), soon)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Logf("DiskFillingUp is true of %d nodes before one of them is filled", len(before))
	pids := processes(m.pod(node), seidStart)
	if len(pids) == 0 {
		m.t.Fatalf("seid of %s is not running", node)
	}
	filler, err := os.Create(fmt.Sprintf("/proc/%d/root%s/filler", pids[0], home.DefaultPath))
	if err != nil {
		m.t.Fatal(err)
	}
	written, err := io.CopyN(filler, rand.NewChaCha8([32]byte{}), 3<<30)
	if err := errors.Join(err, filler.Close()); err != nil {
		m.t.Fatalf("after %d bytes: %v", written, err)
	}
	m.awaitValue("DiskFillingUp of the node", fmt.Sprintf("count((%s) and on (name) sei_node_height{name=%q})", soon, node), func(v float64) bool { return v == 1 })
}

// noticesAnotherHistory starts a second chain of the same id, of a single validator that is faster than the other
// chain: when it is at the same height, it has another app hash than most.
func (m *monitor) noticesAnotherHistory(fleet string) {
	m.t.Helper()
	deviates := m.ofNodes(m.alertFor("AppHashMismatch", "deviates"), m.namespace)
	m.awaitNothing("AppHashMismatch of nodes with one history", deviates)
	alone := m.founders()
	alone.Name, alone.Spec.Replicas = fleet, 1
	overrides := alone.Spec.Template.Spec.Overrides
	delete(overrides, keyHaltHeight)
	overrides["consensus.unsafe_commit_timeout_override"] = "200ms"
	// A namespace has one fleet that starts a chain, and one genesis: those of the first chain go, and its nodes stay.
	m.deleteInForeground()
	genesis := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "v-genesis"}}
	if err := m.Delete(m.t.Context(), genesis); client.IgnoreNotFound(err) != nil {
		m.t.Fatal(err)
	}
	m.create(alone)
	m.awaitFleet(fleet, v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
	m.scrapeNodes(validators + 1)
	m.awaitAlert("AppHashMismatch", deviates, "name", fleet+"-0")
}

// stopsEarly makes a full node that is paused once it is in sync.
func (s *scenario) stopsEarly(name string) {
	s.t.Helper()
	s.create(s.fullNode(name))
	s.awaitInSync(name)
	s.edit(name, func(node *v1alpha1.SeiNode) { node.Spec.Paused = true })
}

// noticesANodeThatStaysBehind resumes a node that was stopped early when all that is left of its chain is a node that began
// with a snapshot, and so lacks the blocks that it needs.
func (m *monitor) noticesANodeThatStaysBehind(late, young string) {
	m.t.Helper()
	behind := m.ofNodes(m.alert("NodeBehind"), m.namespace)
	m.awaitNothing("NodeBehind of nodes that keep up", behind)
	node := m.fullNode(young)
	node.Labels["serves"] = late
	m.create(node)
	m.awaitInSync(young)
	m.runTask("state-sync", young, func(spec *v1alpha1.SeiNodeTaskSpec) {
		spec.Kind, spec.StateSync = v1alpha1.TaskKindStateSync, &v1alpha1.StateSyncTask{
			RPCServers: []v1alpha1.HostPort{m.rpcAddress("v-0"), m.rpcAddress("v-1")},
		}
	})
	m.awaitTask("state-sync")
	m.awaitInSync(young)
	m.pauseNodes("v-0", "v-1", "v-2", "v-3")
	m.edit(late, func(node *v1alpha1.SeiNode) {
		node.Spec.Paused = false
		node.Spec.Peers = []v1alpha1.PeerSource{{Label: &v1alpha1.LabelPeers{Selector: map[string]string{"serves": late}}}}
		node.Spec.Overrides = map[string]string{"network.rpc.lag_threshold": "10"}
	})
	m.awaitReason(late, v1alpha1.ReasonBehind)
	m.scrape(m.namespace)
	m.awaitAlert("NodeBehind", behind, "name", late)
	m.t.Logf("%s starts at block %d: %s", young, m.firstBlock(young), describe(m.seiNode(late)))
}

// stopFor stops a validator while the others make some blocks, and starts it again.
func (m *monitor) stopFor(name string, blocks int64) {
	m.t.Helper()
	m.pauseNodes(name)
	m.awaitBlocks("v-0", blocks)
	m.pauseNodes()
	m.scrapeWhenUp(name)
}

// scrapeWhenUp waits until a validator is back, and has its new pod scraped.
func (m *monitor) scrapeWhenUp(name string) {
	m.t.Helper()
	m.awaitInSync(name)
	m.scrapeNodes(validators)
}

// pauseNodes stops these validators and no others.
func (m *monitor) pauseNodes(names ...string) {
	m.t.Helper()
	m.editFleet("v", func(fleet *v1alpha1.SeiNodeDeployment) {
		fleet.Spec.Nodes = nil
		for ordinal := range int32(validators) {
			if slices.Contains(names, fmt.Sprintf("v-%d", ordinal)) {
				fleet.Spec.Nodes = append(fleet.Spec.Nodes, v1alpha1.NodeSettings{Ordinal: ordinal, Paused: new(true)})
			}
		}
	})
	m.t.Logf("stopped: %s", strings.Join(names, ", "))
}
