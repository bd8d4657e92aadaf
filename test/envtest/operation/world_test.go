package operation

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

func TestMain(m *testing.M) { os.Exit(world.Main(m, envtest.WithKeptNamespaces())) }

// tasks is a world in which tests make tasks for nodes.
type tasks struct{ *world.World }

func newOperatedWorld(t *testing.T) tasks {
	t.Helper()
	t.Parallel() // a world is a namespace of its own
	return tasks{world.Operated(t)}
}

// validator is one whose keys are on its volume.
func validator(name string) *v1alpha1.SeiNode {
	n := world.FullNode(name)
	n.Spec.FullNode, n.Spec.Validator = nil, &v1alpha1.ValidatorSpec{}
	return n
}

// bringUp creates a node and waits until it is ready.
func (w tasks) bringUp(node *v1alpha1.SeiNode) *v1alpha1.SeiNode {
	w.T.Helper()
	w.Create(node)
	return w.AwaitNode(node.Name, func(n *v1alpha1.SeiNode) bool {
		return n.Status.Plan == nil && conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	})
}

func newTask(name, node string, kind v1alpha1.SeiNodeTaskKind) *v1alpha1.SeiNodeTask {
	t := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: name}}
	t.Spec.Kind, t.Spec.Target.NodeRef.Name = kind, node
	return t
}

// vote is a vote of a validator on a proposal.
func vote(name, node string) *v1alpha1.SeiNodeTask {
	t := newTask(name, node, v1alpha1.TaskKindGovVote)
	t.Spec.GovVote = &v1alpha1.GovVote{
		GovTx: v1alpha1.GovTx{ChainID: "pacific-1", Fees: "20000usei", Gas: 200000}, ProposalID: 42, Option: "yes",
	}
	return t
}

func restart(name, node string) *v1alpha1.SeiNodeTask {
	t := newTask(name, node, v1alpha1.TaskKindRestartSeid)
	t.Spec.RestartSeid = &v1alpha1.RestartSeid{}
	return t
}

// awaitHeight waits for a height, and ends seid then if asked to.
func awaitHeight(name, node, action string) *v1alpha1.SeiNodeTask {
	t := newTask(name, node, v1alpha1.TaskKindAwaitCondition)
	t.Spec.AwaitCondition = &v1alpha1.AwaitCondition{Height: &v1alpha1.HeightCondition{TargetHeight: 7}, Action: action}
	return t
}

func updateImage(name, node, image string) *v1alpha1.SeiNodeTask {
	t := newTask(name, node, v1alpha1.TaskKindUpdateNodeImage)
	t.Spec.UpdateNodeImage = &v1alpha1.UpdateNodeImage{Image: image}
	return t
}

func (w tasks) task(name string) *v1alpha1.SeiNodeTask {
	w.T.Helper()
	task := &v1alpha1.SeiNodeTask{}
	w.Get(name, task)
	return task
}

// await waits until a task is as described.
func (w tasks) await(name string, condition func(*v1alpha1.SeiNodeTask) bool) *v1alpha1.SeiNodeTask {
	w.T.Helper()
	return envtest.WaitFor(w.T, w.Env, w.NS, name, func(t *v1alpha1.SeiNodeTask) bool { return t != nil && condition(t) })
}

func complete(t *v1alpha1.SeiNodeTask) bool {
	return t.Status.Phase == v1alpha1.NodeTaskComplete && is(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonTaskComplete)
}

// failed is a task that has failed for a reason.
func failed(reason string) func(*v1alpha1.SeiNodeTask) bool {
	return func(t *v1alpha1.SeiNodeTask) bool {
		return t.Status.Phase == v1alpha1.NodeTaskFailed && is(t, v1alpha1.ConditionFailed, metav1.ConditionTrue, reason)
	}
}

// handedOver is a task whose node's sidecar works on it.
func handedOver(t *v1alpha1.SeiNodeTask) bool {
	return t.Status.Plan != nil && t.Status.Plan.Tasks[0].SubmittedAt != nil
}

func is(t *v1alpha1.SeiNodeTask, conditionType string, status metav1.ConditionStatus, reason string) bool {
	return conditions.Is(t.Status.Conditions, conditionType, status, reason)
}

// wantCondition fails the test unless a condition has a status and a reason; any reason will do for "".
func wantCondition(t *testing.T, task *v1alpha1.SeiNodeTask, conditionType string, status metav1.ConditionStatus, reason string) {
	t.Helper()
	if !is(task, conditionType, status, reason) {
		t.Errorf("condition %s is %+v, want %s %q", conditionType, conditions.Get(task.Status.Conditions, conditionType), status, reason)
	}
}

func says(t *v1alpha1.SeiNodeTask, conditionType, words string) bool {
	c := conditions.Get(t.Status.Conditions, conditionType)
	return c != nil && strings.Contains(c.Message, words)
}

func requireWords(t *testing.T, task *v1alpha1.SeiNodeTask, conditionType, words string) {
	t.Helper()
	if !says(task, conditionType, words) {
		t.Errorf("condition %s of %s does not say %q: %+v", conditionType, task.Name, words, conditions.Get(task.Status.Conditions, conditionType))
	}
}

// forceReconciles makes the operator look at a task n times, one after the other.
func (w tasks) forceReconciles(name string, n int) {
	w.T.Helper()
	for range n {
		w.ForceReconcile(metrics.NameNodeTaskStatusPatches, name, &v1alpha1.SeiNodeTask{})
	}
}

// submitted counts the ids under which a node's sidecars were given tasks of a type, and how often.
func (w tasks) submitted(node string, taskType api.TaskType) (ids, times int) {
	seen := map[string]bool{}
	for _, r := range w.Sidecars.Requests(w.Key(node)) {
		if r.Type == taskType && r.Status == 201 {
			seen[r.Task] = true
			times++
		}
	}
	return len(seen), times
}

// submit gives a node's sidecar a task, as a person with a token would, and waits for its end.
func (w tasks) submit(name string, taskType api.TaskType) {
	w.T.Helper()
	node, objects := &v1alpha1.SeiNode{}, task.Objects{StatefulSet: &appsv1.StatefulSet{}, Pod: &corev1.Pod{}}
	w.Get(name, node)
	w.Get(name, objects.StatefulSet)
	w.Get(name+"-0", objects.Pod)
	pool := sidecar.NewPool(sidecar.Options{Tokens: world.Tokens{World: w.World}, Roots: w.Roots})
	defer pool.CloseIdle()
	to := objects.Dial(pool, node)
	id, err := to.Submit(w.T.Context(), api.TaskRequest{Type: taskType})
	if err != nil {
		w.T.Fatal(err)
	}
	if result, err := to.Get(w.T.Context(), id, time.Minute); err != nil || result.Status != api.TaskCompleted {
		w.T.Fatalf("%s: %+v, %v, want no error and Status %v", taskType, result, err, api.TaskCompleted)
	}
}

// chain is what transactions are on: one per task id, as the real sidecar sees to.
type chain struct {
	mu  sync.Mutex
	txs map[string]int
}

// include is a transaction that makes it into a block.
func (c *chain) include(_ context.Context, call sidecarsim.Call) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.txs == nil {
		c.txs = map[string]int{}
	}
	if c.txs[call.ID] == 0 {
		c.txs[call.ID] = len(c.txs) + 1
	}
	sent := wire.GovTxResult{TxHash: fmt.Sprintf("HASH%d", c.txs[call.ID]), Height: 1000, InclusionStatus: wire.InclusionCommitted}
	if call.Type != api.GovVote {
		sent.ProposalID = 42
	}
	return sent, nil
}

func (c *chain) transactions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.txs)
}
