package operation

import (
	"context"
	"errors"
	"fmt"
	"path"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

// Create is a call at which an operator may die, too.
func (m mortal) Create(ctx context.Context, obj client.Object, o ...client.CreateOption) error {
	return m.fate.meets(func() error {
		obj.SetUID(types.UID("uid-" + obj.GetName())) // as the API server does
		return m.Client.Create(ctx, obj, o...)
	})
}

// groupRig is a task for a fleet of two, with a sidecar per node.
type groupRig struct {
	*rig
	parent   client.ObjectKey
	sidecars map[string]*strictSidecar
}

// podDialer finds the sidecar of a node.
type podDialer map[string]*strictSidecar

func (d podDialer) Sidecar(to sidecar.Target) sidecar.Sidecar { return d[path.Base(to.Node)] }

func newGroupRig(t *testing.T, spec v1alpha1.SeiNodeTaskSpec) *groupRig {
	t.Helper()
	parent := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "p", UID: "6f0d0a52-0000-4000-8000-000000000002", Generation: 1, CreationTimestamp: metav1.NewTime(controllertest.At),
	}, Spec: spec}
	parent.Spec.Target.FleetRef.Name = "f"
	snd := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "f", UID: "fleet", Generation: 1}}
	snd.Spec.Replicas, snd.Status.ObservedGeneration = 2, 1
	snd.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MinReadySeconds: new(int32)}}
	objects := make([]client.Object, 0, 7)
	objects = append(objects, snd)
	r := &groupRig{rig: &rig{}, parent: client.ObjectKeyFromObject(parent), sidecars: map[string]*strictSidecar{}}
	for _, name := range fleet.Names(snd) {
		objects = append(objects, fleetNode(snd, name, spec.GovVote != nil)...)
	}
	r.Cluster = controllertest.New(t, parent, func(b *fake.ClientBuilder) {
		b.WithObjects(objects...).WithStatusSubresource(&v1alpha1.SeiNodeTask{}).WithIndex(&v1alpha1.SeiNodeTask{}, indexTarget, targetName)
	})
	for _, name := range fleet.Names(snd) {
		r.sidecars[name] = &strictSidecar{fate: &r.fate, known: map[string]api.TaskResult{}, runs: map[string]int{}, clock: r.Clock.Now, ready: true, starts: 3}
	}
	return r
}

// fleetNode is a node of a fleet that is in sync, with its pod.
func fleetNode(snd *v1alpha1.SeiNodeDeployment, name string, validator bool) []client.Object {
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("node-" + name), Generation: 1}}
	node.OwnerReferences = []metav1.OwnerReference{*fleet.OwnerReference(snd)}
	node.Spec = v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}}
	if validator {
		node.Spec.FullNode, node.Spec.Validator = nil, &v1alpha1.ValidatorSpec{}
	}
	node.Status = v1alpha1.SeiNodeStatus{Phase: v1alpha1.NodeRunning, ObservedGeneration: 1, CurrentImage: "seid:a"}
	set := conditions.For(&node.Status.Conditions, 1, controllertest.At.Add(-time.Hour))
	set.True(v1alpha1.ConditionInSync, v1alpha1.ReasonInSync, "")
	set.True(v1alpha1.ConditionReady, v1alpha1.ReasonInSync, "")
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("sts-" + name), OwnerReferences: controlledBy(node.UID)}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: render.PodName(node), UID: types.UID("pod-" + name), OwnerReferences: controlledBy(sts.UID)}}
	pod.Status.PodIP = "10.0.0.1"
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: render.ContainerSidecar, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	return []client.Object{node, sts, pod}
}

func (r *groupRig) start(t *testing.T) *Reconciler {
	t.Helper()
	o := &Reconciler{Base: loop.Base{
		Client: mortal{r.Cluster, &r.fate}, Live: r.Client, Sidecars: podDialer(r.sidecars), Platform: controllertest.Platform(),
		Metrics: r.Metrics(t), Clock: r.Clock, Events: controllertest.Events(),
	}}
	o.init()
	return o
}

// live reconciles all tasks in turn until the parent is over, with a new operator whenever one is
// killed. Hook is called before every round.
func (r *groupRig) live(t *testing.T, hook func()) *v1alpha1.SeiNodeTask {
	t.Helper()
	operator := r.start(t)
	for range 80 {
		hook()
		list := &v1alpha1.SeiNodeTaskList{}
		if err := r.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			_, err := operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
			if errors.Is(err, errCrash) {
				operator = r.start(t)
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if p := controllertest.Stored(t, r.Cluster, r.parent, &v1alpha1.SeiNodeTask{}); p.Status.CompletedAt != nil {
			return p
		}
		r.Clock.SetTime(r.Clock.Now().Add(10 * time.Second))
	}
	t.Fatal("the task does not end")
	return nil
}

// An operator that is killed before or after any of its calls leaves a task for a fleet that the
// next one takes to its end: every node has one child, and every sidecar runs each of its steps once.
func TestCrash_TaskForAFleet_EachNodeIsDoneOnce(t *testing.T) {
	for _, name := range []string{"vote", "await", "restart"} {
		calls := 0
		for at := 0; at <= calls; at++ {
			for _, after := range []bool{false, true} {
				r := newGroupRig(t, specs[name])
				r.fate = fate{at: at, after: after}
				parent := r.live(t, func() {})
				if at == 0 {
					calls = r.fate.calls
				}
				what := fmt.Sprintf("%s, killed at call %d of %d (after %t)", name, at, calls, after)
				if n := parent.Status.Nodes; parent.Status.Phase != v1alpha1.NodeTaskComplete || n.Total != 2 || n.Complete != 2 {
					t.Errorf("%s: %+v, want Phase %v, Total 2 and Complete 2", what, parent.Status, v1alpha1.NodeTaskComplete)
				}
				r.requireOneChildEach(t, what)
			}
		}
		if calls < 8 {
			t.Errorf("%s makes only %d calls", name, calls)
		}
	}
}

func (r *groupRig) requireOneChildEach(t *testing.T, what string) {
	t.Helper()
	list := &v1alpha1.SeiNodeTaskList{}
	if err := r.List(t.Context(), list); err != nil || len(list.Items) != 3 {
		t.Errorf("%s: %d tasks, %v", what, len(list.Items), err)
	}
	for i := range list.Items {
		child := &list.Items[i]
		if domain.ForSeveral(&child.Spec) {
			continue
		}
		want := map[string]int{}
		for _, step := range child.Status.Plan.Tasks {
			if step.Type != domain.StepAwaitSync { // which is only looked at
				want[step.ID] = 1
			}
		}
		if diff := cmp.Diff(want, r.sidecars[child.Spec.Target.NodeRef.Name].runs); diff != "" {
			t.Errorf("%s on %s: executions by id (-want +got):\n%s", what, child.Spec.Target.NodeRef.Name, diff)
		}
	}
}

// A child that is deleted at any moment after it has begun is not made again, whenever the operator
// is killed: its node would vote twice.
func TestCrash_ChildDeletedByHand_IsNeverMadeAgain(t *testing.T) {
	for at := range 16 {
		for _, after := range []bool{false, true} {
			r := newGroupRig(t, specs["vote"])
			r.fate = fate{at: at, after: after}
			parent := controllertest.Stored(t, r.Cluster, r.parent, &v1alpha1.SeiNodeTask{})
			key := client.ObjectKey{Namespace: "ns", Name: domain.ChildName(parent, "f-0")}
			deleted := false
			over := r.live(t, func() {
				child := &v1alpha1.SeiNodeTask{}
				if err := r.Client.Get(t.Context(), key, child); err != nil || deleted || !domain.Begun(&child.Status) {
					return
				}
				deleted = true
				if err := r.Delete(t.Context(), child); err != nil {
					t.Fatal(err)
				}
			})
			what := fmt.Sprintf("killed at call %d (after %t)", at, after)
			if runs := len(r.sidecars["f-0"].runs); runs > 1 {
				t.Errorf("%s: %d transactions of one node", what, runs)
			}
			if err := r.Client.Get(t.Context(), key, &v1alpha1.SeiNodeTask{}); deleted && !apierrors.IsNotFound(err) {
				t.Errorf("%s: the child is there again: %v; %+v", what, err, over.Status)
			}
		}
	}
}

// A cache that does not show a child yet does not make the operator think that it was deleted.
func TestChildren_CacheIsLate_TheAPIServerIsAsked(t *testing.T) {
	r := newGroupRig(t, specs["vote"])
	operator := r.start(t)
	if _, err := operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: r.parent}); err != nil {
		t.Fatal(err)
	}
	parent := controllertest.Stored(t, r.Cluster, r.parent, &v1alpha1.SeiNodeTask{})
	if parent.Status.Nodes == nil || parent.Status.Nodes.Members[0].Task == "" {
		t.Fatalf("no child is on record: %+v", parent.Status.Nodes)
	}
	blind := &blindToChildren{Cluster: r.Cluster, parent: r.parent}
	another := r.start(t)
	another.Client = blind
	if _, err := another.Reconcile(t.Context(), ctrl.Request{NamespacedName: r.parent}); err != nil {
		t.Fatal(err)
	}
	if after := controllertest.Stored(t, r.Cluster, r.parent, &v1alpha1.SeiNodeTask{}); after.Status.Nodes.Failed != 0 || blind.asked == 0 {
		t.Errorf("asked the cache %d times: %+v", blind.asked, after.Status.Nodes)
	}
}

// blindToChildren is a cache that shows no task but the parent.
type blindToChildren struct {
	*controllertest.Cluster
	parent client.ObjectKey
	asked  int
}

func (b *blindToChildren) Get(ctx context.Context, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
	if _, task := obj.(*v1alpha1.SeiNodeTask); task && key != b.parent {
		b.asked++
		return apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("seinodetasks").GroupResource(), key.Name)
	}
	return b.Cluster.Get(ctx, key, obj, o...)
}
