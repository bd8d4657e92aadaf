package fleet

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// witnesses collects whom the sidecars were told to ask for a block to trust.
type witnesses struct {
	mu    sync.Mutex
	asked map[string][]string
}

func (w fleets) witnesses() *witnesses {
	found := &witnesses{asked: map[string][]string{}}
	w.Sidecars.Program("", api.ConfigureStateSync, sidecarsim.Outcome{Do: func(_ context.Context, call sidecarsim.Call) (any, error) {
		var p wire.ConfigureStateSync
		err := json.Unmarshal(call.Params, &p)
		found.mu.Lock()
		defer found.mu.Unlock()
		found.asked[call.Node] = p.RPCServers
		return nil, err
	}})
	return found
}

func (f *witnesses) of(node string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[node]
}

// A fleet that state-syncs from its own chain: siblings at height 0 are never asked, those in sync
// are, and all of them.
func TestF8_ScaleUp_AsksNodesInSyncByTheirNamesInside(t *testing.T) {
	w := newPublishingWorld(t)
	w.startLoadBalancers()
	asked := w.witnesses()
	snd := reached("rpc", 2)
	snd.Spec.Template.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{StateSync: &v1alpha1.StateSyncSnapshot{}}
	snd.Spec.Template.Spec.Peers = []v1alpha1.PeerSource{{Label: &v1alpha1.LabelPeers{Selector: map[string]string{v1alpha1.LabelChain: "pacific-1"}}}}
	w.Create(snd)
	for _, name := range []string{"rpc-0", "rpc-1"} {
		n := w.AwaitNode(name, func(n *v1alpha1.SeiNode) bool {
			return n.Status.Plan != nil && strings.Contains(planMessages(n), "none of the 1 nodes that spec.peers finds by label is in sync")
		})
		if task := plan.Find(n.Status.Plan, domain.StepConfigureStateSync); task.Deadline != nil {
			t.Errorf("%s gives up at %v: its peers may take longer to be in sync", name, task.Deadline)
		}
	}
	if got := asked.of(w.Key("rpc-0")); got != nil {
		t.Errorf("a sibling without a block was asked: %v", got)
	}

	w.Create(&v1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Name: "elder", Labels: map[string]string{v1alpha1.LabelChain: "pacific-1"}},
		Spec:       v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}},
	})
	w.await("rpc", settled)
	inside := func(names ...string) (list []string) {
		for _, n := range names {
			list = append(list, n+"-0."+n+"."+w.NS+".svc.cluster.local:26657")
		}
		return list
	}
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas = 3 })
	w.await("rpc", settled)
	if diff := cmp.Diff(inside("elder", "rpc-0", "rpc-1"), asked.of(w.Key("rpc-2"))); diff != "" {
		t.Errorf("witnesses of the new node (-want +got):\n%s", diff)
	}
}

// planMessages is what the steps of a node's plan say.
func planMessages(n *v1alpha1.SeiNode) string {
	var all strings.Builder
	for _, task := range n.Status.Plan.Tasks {
		all.WriteString(task.Message + "\n")
	}
	return all.String()
}
