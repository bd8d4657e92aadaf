package operation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

var key = client.ObjectKey{Namespace: "ns", Name: "t"}

// rig is a task, its node with a pod, and the sidecar in it. Operators come and go.
type rig struct {
	*controllertest.Cluster
	fate    fate
	sidecar *strictSidecar
}

// fate ends an operator at one of its calls: before the call has an effect, or after, so that the
// operator never hears of it.
type fate struct {
	calls, at int
	after     bool
}

var errCrash = errors.New("the operator was killed")

func (f *fate) meets(effect func() error) error {
	f.calls++
	if f.calls != f.at {
		return effect()
	}
	if f.after {
		_ = effect() // nobody is left to hear
	}
	return errCrash
}

// mortal is the client of an operator that dies at a write.
type mortal struct {
	client.Client
	fate *fate
}

func (m mortal) Patch(ctx context.Context, obj client.Object, patch client.Patch, o ...client.PatchOption) error {
	return m.fate.meets(func() error { return m.Client.Patch(ctx, obj, patch, o...) })
}

func (m mortal) Delete(ctx context.Context, obj client.Object, o ...client.DeleteOption) error {
	return m.fate.meets(func() error { return m.Client.Delete(ctx, obj, o...) })
}

func (m mortal) Status() client.SubResourceWriter { return mortalStatus{m.Client.Status(), m.fate} }

type mortalStatus struct {
	client.SubResourceWriter
	fate *fate
}

func (m mortalStatus) Patch(ctx context.Context, obj client.Object, patch client.Patch, o ...client.SubResourcePatchOption) error {
	return m.fate.meets(func() error { return m.SubResourceWriter.Patch(ctx, obj, patch, o...) })
}

// strictSidecar keeps the wire contract: a known id is run again only after it failed.
type strictSidecar struct {
	sidecar.Sidecar
	fate  *fate
	known map[string]api.TaskResult
	// runs counts the executions per id.
	runs map[string]int
	// fails is how many executions of each id fail first, in a way that may pass.
	fails int
	// works: tasks do not end by themselves; stopAfter: from one of them on.
	works     bool
	stopAfter int
	// deleted are the ids that were cancelled.
	deleted []string
	// heldBy is the task that holds the gate, and ready: it is open.
	heldBy string
	ready  bool
	// emptied and partly say how much of the data a reset has deleted.
	emptied, partly bool
	// did are the tasks that ended well.
	did []api.TaskType
	// broken are the types whose executions fail, and how.
	broken map[api.TaskType]api.ErrorDetail
	// starts counts the starts of seid, and forgetful: every task is lost once it has ended.
	starts    int
	forgetful bool
	clock     func() time.Time
	// watch is called with every execution that begins.
	watch func(api.TaskType)
}

// dialer gives every pod the same sidecar.
type dialer struct{ to *strictSidecar }

func (d dialer) Sidecar(sidecar.Target) sidecar.Sidecar { return d.to }

func (s *strictSidecar) Node(context.Context) (api.Node, error) {
	document := api.Node{
		APILevel: api.Level, Gate: api.Gate{State: api.GateClosed, HeldBy: s.heldBy},
		Home: api.Home{ConfigHash: "hash", Emptied: s.emptied, PartlyDeleted: s.partly},
		Seid: api.Seid{State: api.SeidRunning, Starts: s.starts}, Sync: api.Sync{State: api.SyncInSync, Height: 7},
	}
	switch {
	case s.heldBy != "":
		document.Gate.State = api.GateHeld
	case s.ready:
		document.Gate.State = api.GateOpen
	}
	return document, nil
}

func (s *strictSidecar) Get(_ context.Context, id string, _ time.Duration) (api.TaskResult, error) {
	result, ok := s.known[id]
	if !ok {
		return api.TaskResult{}, sidecar.ErrNotFound
	}
	if s.forgetful {
		delete(s.known, id)
		return api.TaskResult{}, sidecar.ErrNotFound
	}
	return result, nil
}

func (s *strictSidecar) Submit(_ context.Context, task api.TaskRequest) (string, error) {
	return task.ID, s.fate.meets(func() error {
		old, found := s.known[task.ID]
		if !found || old.Status == api.TaskFailed {
			s.run(task, old.Run+1)
		}
		return nil
	})
}

func (s *strictSidecar) run(task api.TaskRequest, run int) {
	now := s.clock()
	result := api.TaskResult{ID: task.ID, Type: task.Type, Status: api.TaskRunning, Run: run, Params: task.Params, SubmittedAt: now}
	s.runs[task.ID]++
	if s.watch != nil {
		s.watch(task.Type)
	}
	switch {
	case s.broken[task.Type].Code != "":
		result.Status, result.Error, result.CompletedAt, result.ErrorDetail = api.TaskFailed, "broken", &now, new(s.broken[task.Type])
		s.partly = s.partly || task.Type == api.ResetData
	case s.works, s.stopAfter > 0 && len(s.known) >= s.stopAfter:
	case run <= s.fails:
		result.Status, result.Error, result.CompletedAt = api.TaskFailed, "connection refused", &now
		result.ErrorDetail = &api.ErrorDetail{Code: api.CodeUnavailable, Retryable: true}
	default:
		result.Status, result.CompletedAt = api.TaskCompleted, &now
		s.effect(task)
		result.Result = json.RawMessage(`{"txHash":"HASH","height":7,"inclusionStatus":"committed_ok"}`)
	}
	s.known[task.ID] = result
}

// effect is what a task that ends well does to the node.
func (s *strictSidecar) effect(task api.TaskRequest) {
	s.did = append(s.did, task.Type)
	switch task.Type {
	case api.MarkReady:
		s.heldBy, s.ready = "", true
		s.starts++
	case api.MarkNotReady:
		s.heldBy, s.ready = task.ID, false
	case api.ResetData:
		s.emptied, s.partly = true, false
	case api.RestartSeid:
		s.starts++
	}
}

func (s *strictSidecar) Delete(_ context.Context, id string) error {
	return s.fate.meets(func() error {
		s.deleted = append(s.deleted, id)
		if _, ok := s.known[id]; !ok {
			return sidecar.ErrNotFound
		}
		delete(s.known, id)
		if s.heldBy == id {
			s.heldBy = ""
		}
		return nil
	})
}

// newRig makes a task of a kind for a node that runs.
func newRig(t *testing.T, spec v1alpha1.SeiNodeTaskSpec) *rig {
	t.Helper()
	task := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "t", UID: "6f0d0a52-0000-4000-8000-000000000001", Generation: 1, CreationTimestamp: metav1.NewTime(controllertest.At),
	}, Spec: spec}
	task.Spec.Target.NodeRef.Name = "n"
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: "node", Generation: 1}}
	node.Spec = v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", Validator: &v1alpha1.ValidatorSpec{}}
	if spec.StateSync != nil {
		node.Spec.Validator, node.Spec.FullNode = nil, &v1alpha1.FullNodeSpec{}
	}
	node.Status = v1alpha1.SeiNodeStatus{Phase: v1alpha1.NodeRunning, ObservedGeneration: 1, CurrentImage: "seid:a"}
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: "sts", OwnerReferences: controlledBy("node")}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: render.PodName(node), UID: "pod", OwnerReferences: controlledBy("sts")}}
	pod.Status.PodIP = "10.0.0.1"
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: render.ContainerSidecar, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	r := &rig{}
	r.Cluster = controllertest.New(t, task, func(b *fake.ClientBuilder) {
		b.WithObjects(node, sts, pod).WithStatusSubresource(&v1alpha1.SeiNodeTask{}).WithIndex(&v1alpha1.SeiNodeTask{}, indexTarget, targetName)
	})
	r.sidecar = &strictSidecar{fate: &r.fate, known: map[string]api.TaskResult{}, runs: map[string]int{}, clock: r.Clock.Now, ready: true, starts: 3}
	return r
}

func controlledBy(uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: "Any", Name: "n", UID: uid, Controller: new(true)}}
}

// operator is an operator that has just started.
func (r *rig) operator(t *testing.T) *Reconciler {
	t.Helper()
	o := &Reconciler{Base: loop.Base{
		Client: mortal{r.Cluster, &r.fate}, Live: r.Client, Sidecars: dialer{r.sidecar}, Platform: controllertest.Platform(),
		Metrics: r.Metrics(t), Clock: r.Clock, Events: controllertest.Events(),
	}}
	o.init()
	return o
}

func (r *rig) stored(t *testing.T) *v1alpha1.SeiNodeTask {
	t.Helper()
	return controllertest.Stored(t, r.Cluster, key, &v1alpha1.SeiNodeTask{})
}

// update has the node's own controller bring up whatever image the node was given.
func (r *rig) update(t *testing.T) {
	t.Helper()
	node := controllertest.Stored(t, r.Cluster, client.ObjectKey{Namespace: "ns", Name: "n"}, &v1alpha1.SeiNode{})
	node.Status.CurrentImage, node.Status.ObservedGeneration = node.Spec.Image, node.Generation
	conditions.For(&node.Status.Conditions, node.Generation, r.Clock.Now()).True(v1alpha1.ConditionReady, v1alpha1.ReasonInSync, "")
	if err := r.Client.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
}

// live reconciles until the task has ended and released, with a new operator whenever one is killed.
func (r *rig) live(t *testing.T) *v1alpha1.SeiNodeTask {
	t.Helper()
	operator := r.operator(t)
	for range 50 {
		_, err := operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		if errors.Is(err, errCrash) {
			operator = r.operator(t)
		} else if err != nil {
			t.Fatal(err)
		}
		if task := r.stored(t); task.Status.CompletedAt != nil && len(task.Finalizers) == 0 {
			return task
		}
		r.update(t)
		r.Clock.SetTime(r.Clock.Now().Add(10 * time.Second))
	}
	t.Fatalf("the task does not end: %+v", r.stored(t).Status)
	return nil
}

var specs = map[string]v1alpha1.SeiNodeTaskSpec{
	"vote": {Kind: v1alpha1.TaskKindGovVote, GovVote: &v1alpha1.GovVote{
		GovTx: v1alpha1.GovTx{ChainID: "pacific-1", Fees: "1usei", Gas: 1}, ProposalID: 1, Option: "yes",
	}},
	"upgrade": {Kind: v1alpha1.TaskKindGovSoftwareUpgrade, GovSoftwareUpgrade: &v1alpha1.GovSoftwareUpgrade{
		GovTx: v1alpha1.GovTx{ChainID: "pacific-1", Fees: "1usei", Gas: 1}, Title: "t", Description: "d", UpgradeName: "u", UpgradeHeight: 9, InitialDeposit: "1usei",
	}},
	"change": {Kind: v1alpha1.TaskKindGovParamChange, GovParamChange: &v1alpha1.GovParamChange{
		GovTx: v1alpha1.GovTx{ChainID: "pacific-1", Fees: "1usei", Gas: 1}, Title: "t", Description: "d", InitialDeposit: "1usei",
	}},
	"await": {Kind: v1alpha1.TaskKindAwaitCondition, AwaitCondition: &v1alpha1.AwaitCondition{
		Height: &v1alpha1.HeightCondition{TargetHeight: 7}, Action: "SIGTERM_SEID",
	}},
	"height":  {Kind: v1alpha1.TaskKindAwaitNodesAtHeight, AwaitNodesAtHeight: &v1alpha1.AwaitNodesAtHeight{TargetHeight: 7}},
	"restart": {Kind: v1alpha1.TaskKindRestartSeid, RestartSeid: &v1alpha1.RestartSeid{}},
	"ready":   {Kind: v1alpha1.TaskKindMarkReady, MarkReady: &v1alpha1.MarkReady{}},
	"sync":    {Kind: v1alpha1.TaskKindStateSync, StateSync: &v1alpha1.StateSyncTask{RPCServers: []v1alpha1.HostPort{"a:26657", "b:26657"}}},
	"image":   {Kind: v1alpha1.TaskKindUpdateNodeImage, UpdateNodeImage: &v1alpha1.UpdateNodeImage{Image: "seid:b"}},
}

// An operator that is killed before or after any of its calls leaves a task that the next one takes
// to its end, and nothing is done twice: one id, and one execution unless the sidecar itself failed.
func TestCrash_AtEveryCall_TheTaskIsDoneOnceAndUnderOneID(t *testing.T) {
	for name, spec := range specs {
		for _, fails := range []int{0, 2} {
			calls := 0
			for at := 0; at <= calls; at++ {
				for _, after := range []bool{false, true} {
					r := newRig(t, spec)
					r.fate, r.sidecar.fails = fate{at: at, after: after}, fails
					task := r.live(t)
					if at == 0 {
						calls = r.fate.calls // of an operator that lives
					}
					what := fmt.Sprintf("%s, %d failures, killed at call %d of %d (after %t)", name, fails, at, calls, after)
					if task.Status.Phase != v1alpha1.NodeTaskComplete {
						t.Errorf("%s: %+v, want Phase %v", what, task.Status, v1alpha1.NodeTaskComplete)
					}
					r.requireOnce(t, what, task, fails)
				}
			}
			if calls < 3 {
				t.Errorf("%s makes only %d calls", name, calls)
			}
		}
	}
}

func (r *rig) requireOnce(t *testing.T, what string, task *v1alpha1.SeiNodeTask, fails int) {
	t.Helper()
	node := controllertest.Stored(t, r.Cluster, client.ObjectKey{Namespace: "ns", Name: "n"}, &v1alpha1.SeiNode{})
	if spec := task.Spec.UpdateNodeImage; spec != nil && node.Spec.Image != spec.Image {
		t.Errorf("%s: the node's image is %s", what, node.Spec.Image)
	}
	want := map[string]int{}
	if task.Spec.UpdateNodeImage == nil && task.Spec.MarkReady == nil { // the gate is open
		for _, step := range task.Status.Plan.Tasks {
			if step.Type != domain.StepAwaitSync { // which is only looked at
				want[step.ID] = 1 + fails
			}
		}
	}
	if diff := cmp.Diff(want, r.sidecar.runs); diff != "" || !r.sidecar.ready {
		t.Errorf("%s: the gate is open: %t; executions by id (-want +got):\n%s", what, r.sidecar.ready, diff)
	}
}

// Deleting a task that runs cancels it, whenever the operator is killed while it does.
func TestCrash_WhileADeletedTaskIsCancelled_ItIsCancelledAndGoes(t *testing.T) {
	for at := range 4 {
		for _, after := range []bool{false, true} {
			r := newRig(t, specs["await"])
			r.sidecar.works = true
			operator := r.operator(t)
			if _, err := operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			task := r.stored(t)
			if len(task.Finalizers) != 1 || len(r.sidecar.known) != 1 {
				t.Fatalf("finalizers %v, at the sidecar %v", task.Finalizers, r.sidecar.known)
			}
			if err := r.Delete(t.Context(), task); err != nil {
				t.Fatal(err)
			}
			r.fate = fate{at: at, after: after}
			gone := false
			for range 5 {
				_, _ = r.operator(t).Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
				gone = apierrors.IsNotFound(r.Client.Get(t.Context(), key, &v1alpha1.SeiNodeTask{}))
				if gone {
					break
				}
			}
			if !gone || len(r.sidecar.known) != 0 {
				t.Errorf("killed at %d: gone %t, left at the sidecar: %v", at, gone, r.sidecar.known)
			}
		}
	}
}

// A node that a task holds is released when the task is deleted: at once while its data is as it was,
// and when it has been set up again otherwise. No crash leaves it held.
func TestCrash_WhileATaskThatHoldsItsNodeIsDeleted_TheNodeIsLetGo(t *testing.T) {
	for steps := 1; steps <= 6; steps++ {
		for at := range 8 {
			for _, after := range []bool{false, true} {
				r := newRig(t, specs["sync"])
				r.untilStep(t, steps)
				touched := steps >= 2 // the sidecar has the third step, which empties the data
				if err := r.Delete(t.Context(), r.stored(t)); err != nil {
					t.Fatal(err)
				}
				r.fate = fate{at: at, after: after}
				gone := false
				for i := 0; i < 20 && !gone; i++ {
					_, _ = r.operator(t).Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
					gone = apierrors.IsNotFound(r.Client.Get(t.Context(), key, &v1alpha1.SeiNodeTask{}))
				}
				configured := slices.Contains(r.sidecar.did, api.ConfigureStateSync)
				if !gone || r.sidecar.heldBy != "" || configured != touched {
					t.Errorf("deleted after %d steps, killed at %d (after %t): gone %t, held %t, set up anew %t", steps, at, after, gone, r.sidecar.heldBy != "", configured)
				}
			}
		}
	}
}

// untilStep runs the task until some of its steps are complete and the sidecar works on the next,
// and has the sidecar end that one.
func (r *rig) untilStep(t *testing.T, steps int) {
	t.Helper()
	r.sidecar.stopAfter = steps
	if _, err := r.operator(t).Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	for id, task := range r.sidecar.known { // what was under way comes to its end
		if task.Status == api.TaskRunning {
			delete(r.sidecar.known, id)
			r.sidecar.stopAfter = 0
			r.sidecar.run(api.TaskRequest{ID: id, Type: task.Type}, 1)
		}
	}
	r.sidecar.stopAfter = 0
}

// A node that is gone, or whose pod does not run, does not keep its tasks from going for long.
func TestDeletion_WithoutASidecar_IsNotBlocked(t *testing.T) {
	for name, c := range map[string]struct {
		remove client.Object
		after  time.Duration
		gone   bool
	}{
		"the node is gone":               {&v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n"}}, 0, true},
		"the pod is gone":                {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n-0"}}, 29 * time.Second, false},
		"the pod has been gone for long": {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n-0"}}, 31 * time.Second, true},
	} {
		r := newRig(t, specs["await"])
		r.sidecar.works = true
		operator := r.operator(t)
		if _, err := operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		for _, obj := range []client.Object{c.remove, r.stored(t)} {
			if err := r.Delete(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
		}
		r.Clock.SetTime(r.stored(t).DeletionTimestamp.Add(c.after))
		result, err := operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		gone := apierrors.IsNotFound(r.Client.Get(t.Context(), key, &v1alpha1.SeiNodeTask{}))
		if err != nil || gone != c.gone || (result.RequeueAfter > 0) == c.gone {
			t.Errorf("%s: gone %t, %+v, %v", name, gone, result, err)
		}
	}
}
