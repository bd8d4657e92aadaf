package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
)

const (
	// plannedUpgrade is what the validators vote for. Its height is never reached.
	plannedUpgrade       = "e2e-upgrade"
	plannedUpgradeHeight = 1_000_000
	// taskTimeout is how long a task may take beside other scenarios on two cores.
	taskTimeout = 4 * time.Minute
)

// The one-shot operations on a live network: four validators propose an upgrade and vote for it, and a full node is waited for,
// restarted, updated and synced again. All of it is done with SeiNodeTasks alone.
func TestTasks_OnALiveNetwork_DoWhatTheySay(t *testing.T) {
	s := begin(t, "tasks")
	s.chain.id = "tasks-1"
	s.peers = v1alpha1.LabelPeers{Selector: map[string]string{v1alpha1.LabelDeployment: "v"}}
	s.create(s.voters())
	s.create(s.fullNode("full"))
	s.awaitHeight("full", 5)
	s.awaitInSync("full")
	for _, step := range []struct {
		name string
		run  func(*scenario)
	}{
		{"a token of one node opens no other", (*scenario).tryTokensOfOthers},
		{"an upgrade is proposed and voted for", (*scenario).proposeUpgrade},
		{"each proposal is sent once whatever is killed", (*scenario).proposeUnderFire},
		{"waits end when their condition holds", (*scenario).awaitWithTasks},
		{"a restart keeps the pod", (*scenario).restartWithTask},
		{"a node gets another image", (*scenario).updateWithTask},
		{"a node is synced again", (*scenario).stateSyncWithTask},
	} {
		t.Run(step.name, func(t *testing.T) {
			theReport.watch(t)
			step.run(s.in(t))
		})
	}
}

// voters are validators whose chain decides within half a minute and whose snapshots others can sync from.
func (s *scenario) voters() *v1alpha1.SeiNodeDeployment {
	fleet := s.founders()
	spec := &fleet.Spec.Template.Spec
	delete(spec.Overrides, keyHaltHeight)
	spec.Overrides["storage.state_store.enable"] = "true"
	spec.Overrides["storage.snapshot_interval"] = "10"
	spec.Overrides["storage.snapshot_keep_recent"] = "10"
	fleet.Spec.Genesis.Overrides = map[string]apiextensionsv1.JSON{
		"gov.voting_params.voting_period":           rawJSON(`"30s"`),
		"gov.voting_params.expedited_voting_period": rawJSON(`"20s"`),
		"gov.deposit_params.min_deposit":            rawJSON(`[{"denom":"usei","amount":"1000000"}]`),
	}
	return fleet
}

func rawJSON(text string) apiextensionsv1.JSON { return apiextensionsv1.JSON{Raw: []byte(text)} }

// proposeUpgrade plans an upgrade that nobody will live to see.
func (s *scenario) proposeUpgrade() {
	began := time.Now()
	if proposal := s.planUpgrade(upgrade.Plan{Name: plannedUpgrade, Height: plannedUpgradeHeight}); proposal != 1 {
		s.t.Errorf("the first proposal has number %d", proposal)
	}
	theReport.figuref(s.t, "from proposing an upgrade to the chain's plan, 30 s of voting", "%.1f s", time.Since(began).Seconds())
}

func (s *scenario) awaitWithTasks() {
	target := s.height("full") + 3
	s.runTask("await-height", "full", func(spec *v1alpha1.SeiNodeTaskSpec) {
		spec.Kind = v1alpha1.TaskKindAwaitCondition
		spec.AwaitCondition = &v1alpha1.AwaitCondition{Height: &v1alpha1.HeightCondition{TargetHeight: target}}
	})
	s.runTask("await-nodes", "full", func(spec *v1alpha1.SeiNodeTaskSpec) {
		spec.Kind = v1alpha1.TaskKindAwaitNodesAtHeight
		spec.AwaitNodesAtHeight = &v1alpha1.AwaitNodesAtHeight{TargetHeight: target}
	})
	s.runTask("await-caught-up", "full", func(spec *v1alpha1.SeiNodeTaskSpec) {
		spec.Kind = v1alpha1.TaskKindAwaitCondition
		spec.AwaitCondition = &v1alpha1.AwaitCondition{CatchingUp: &v1alpha1.CatchingUpCondition{}}
	})
	s.awaitTask("await-height")
	s.awaitTask("await-caught-up")
	if out := s.awaitTask("await-nodes").Status.Outputs; out == nil || out.AwaitNodesAtHeight == nil || out.AwaitNodesAtHeight.CurrentHeight < target {
		s.t.Errorf("outputs: %+v, want at least height %d", out, target)
	}
	if at := s.height("full"); at < target {
		s.t.Errorf("the tasks ended at height %d, want at least %d", at, target)
	}
}

func (s *scenario) restartWithTask() {
	before := s.pod("full")
	began := time.Now()
	s.runTask("restart", "full", func(spec *v1alpha1.SeiNodeTaskSpec) {
		spec.Kind, spec.RestartSeid = v1alpha1.TaskKindRestartSeid, &v1alpha1.RestartSeid{}
	})
	s.awaitTask("restart")
	theReport.figuref(s.t, "a RestartSeid task", "%.1f s", time.Since(began).Seconds())
	after := s.pod("full")
	if after.UID != before.UID {
		s.t.Error("the pod was replaced")
	}
	if was, is := restarts(before, render.ContainerSeid), restarts(after, render.ContainerSeid); is != was+1 {
		s.t.Errorf("seid was restarted %d times, want once", is-was)
	}
	s.awaitInSync("full")
	s.awaitBlocks("full", 2)
}

func (s *scenario) updateWithTask() {
	s.runTask("update", "full", func(spec *v1alpha1.SeiNodeTaskSpec) {
		spec.Kind, spec.UpdateNodeImage = v1alpha1.TaskKindUpdateNodeImage, &v1alpha1.UpdateNodeImage{Image: imageNext}
	})
	done := s.awaitTask("update")
	if out := done.Status.Outputs; out == nil || out.UpdateNodeImage == nil || out.UpdateNodeImage.AppliedImage != imageNext {
		s.t.Errorf("outputs: %+v, want not nil, UpdateNodeImage not nil and AppliedImage %v", out, imageNext)
	}
	node := s.seiNode("full")
	if node.Status.CurrentImage != imageNext || !conditions.Is(node.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "") {
		s.t.Errorf("the task ended when the node was %s with %s", describe(node), node.Status.CurrentImage)
	}
}

// stateSyncWithTask throws the node's data away. Its first block is then that of a snapshot and no longer that of the genesis.
func (s *scenario) stateSyncWithTask() {
	if first := s.firstBlock("full"); first != 1 {
		s.t.Fatalf("the first block of the node is %d, want all of them", first)
	}
	s.awaitHeight("full", 30) // snapshots and some blocks above
	began := time.Now()
	s.runTask("state-sync", "full", func(spec *v1alpha1.SeiNodeTaskSpec) {
		spec.Kind, spec.StateSync = v1alpha1.TaskKindStateSync, &v1alpha1.StateSyncTask{
			RPCServers: []v1alpha1.HostPort{s.rpcAddress("v-0"), s.rpcAddress("v-1")},
		}
	})
	s.awaitTask("state-sync")
	theReport.figuref(s.t, "a StateSync task", "%.1f s", time.Since(began).Seconds())
	s.awaitInSync("full")
	s.awaitBlocks("full", 2)
	if first := s.firstBlock("full"); first < 10 {
		s.t.Errorf("the first block of the node is %d, so it did not begin with a snapshot", first)
	}
}

func (s *scenario) rpcAddress(node string) v1alpha1.HostPort {
	return v1alpha1.HostPort(fmt.Sprintf("%s.%s.svc.cluster.local:26657", node, s.namespace))
}

func (s *scenario) firstBlock(node string) int64 {
	s.t.Helper()
	status, err := s.rpc(node).Status(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return status.SyncInfo.EarliestBlockHeight
}

// runTask creates a task for a node.
func (s *scenario) runTask(name, node string, of func(*v1alpha1.SeiNodeTaskSpec)) {
	s.t.Helper()
	task := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: name}}
	task.Spec.Target.NodeRef.Name = node
	of(&task.Spec)
	s.create(task)
}

// awaitTask waits as kubectl wait does, and fails as soon as the task does.
func (s *scenario) awaitTask(name string) *v1alpha1.SeiNodeTask {
	s.t.Helper()
	task := &v1alpha1.SeiNodeTask{}
	await(s.t, taskTimeout, "task "+name, func(context.Context) (bool, string, error) {
		task = &v1alpha1.SeiNodeTask{}
		if err := s.get(name, task); err != nil {
			return false, "", err
		}
		if task.Status.Phase == v1alpha1.NodeTaskFailed {
			s.t.Fatalf("task %s failed: %s", name, describeTask(task))
		}
		return conditions.Is(task.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, ""), describeTask(task), nil
	})
	return task
}

func describeTask(task *v1alpha1.SeiNodeTask) string {
	text := "phase " + string(task.Status.Phase)
	for _, c := range task.Status.Conditions {
		text += fmt.Sprintf("; %s %s %s (%s)", c.Type, c.Status, c.Reason, c.Message)
	}
	return text
}
