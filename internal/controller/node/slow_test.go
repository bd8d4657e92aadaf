package node

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	k8sevents "k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

// slowCluster is a cluster whose pods and sidecars need several passes for everything, and which
// counts what the operator writes.
type slowCluster struct {
	cluster
	r       *Reconciler
	events  *k8sevents.FakeRecorder
	sidecar *slowSidecar
	writes  map[string]int
}

func newSlowCluster(t *testing.T) *slowCluster {
	t.Helper()
	node := newFullNode()
	node.Finalizers, node.Spec.Paused, node.Labels = nil, false, map[string]string{"chain": "x"}
	byPeers := func(b *fake.ClientBuilder) {
		b.WithIndex(&v1alpha1.SeiNode{}, indexLabelPeers, func(o client.Object) []string { return hasLabelPeers(o.(*v1alpha1.SeiNode)) })
	}
	c := &slowCluster{
		cluster: cluster{controllertest.New(t, node, byPeers, tasksByTarget)}, events: k8sevents.NewFakeRecorder(100),
		sidecar: &slowSidecar{tasks: map[string]*slowTask{}}, writes: map[string]int{},
	}
	c.sidecar.restarted()
	c.startOperator(t)
	return c
}

// startOperator puts an operator that knows nothing in the place of the one before.
func (c *slowCluster) startOperator(t *testing.T) {
	t.Helper()
	c.r = c.operator(t)
	c.r.Client, c.r.Sidecars, c.r.Events = countingClient{c.cluster, c.writes}, c.sidecar, events.NewRecorder(c.events)
	c.r.looks.patience = time.Minute // its sidecar answers every question, also on a busy machine
}

// countRest counts the writes that do not go through the client.
func (c *slowCluster) countRest() {
	for ; len(c.events.Events) > 0; <-c.events.Events {
		c.writes["create event"]++
	}
	c.writes["patch status"] = c.StatusWrites
}

func (c *slowCluster) setImage(t *testing.T, image string) {
	t.Helper()
	node := c.stored(t)
	node.Spec.Image, node.Generation = image, node.Generation+1
	if err := c.Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
}

// moveOn does the next thing that the StatefulSet controller, the kubelet or the sidecar would do.
func (c *slowCluster) moveOn(t *testing.T) {
	t.Helper()
	sts, pod := &appsv1.StatefulSet{}, &corev1.Pod{}
	if err := c.Client.Get(t.Context(), key, sts); err != nil {
		t.Fatal(err)
	}
	revision := render.TemplateHash(sts.Spec.Template.Annotations)
	err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: key.Name + "-0"}, pod)
	switch {
	case sts.Status.UpdateRevision != revision:
		sts.Status.UpdateRevision, sts.Status.ObservedGeneration = revision, sts.Generation
		err = c.Client.Status().Update(t.Context(), sts)
	case apierrors.IsNotFound(err):
		c.sidecar.restarted()
		err = c.Create(t.Context(), newPodOf(sts, revision))
	case err == nil && pod.Status.PodIP == "":
		pod.Status.PodIP, pod.Status.Phase = "10.0.0.1", corev1.PodRunning
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name: render.ContainerSidecar, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(c.Clock.Now())}},
		}}
		err = c.Client.Status().Update(t.Context(), pod)
	case err == nil && c.sidecar.open():
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		err = c.Client.Status().Update(t.Context(), pod)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func newPodOf(sts *appsv1.StatefulSet, revision string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *sts.Spec.Template.ObjectMeta.DeepCopy(), Spec: *sts.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = sts.Namespace, sts.Name+"-0"
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = revision
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	pod.Status.Phase = corev1.PodPending
	return pod
}

// countingClient counts writes by kind.
type countingClient struct {
	cluster
	writes map[string]int
}

func (c countingClient) count(verb string, obj any) {
	kind := fmt.Sprintf("%T", obj)
	kind = strings.TrimSuffix(kind[strings.LastIndex(kind, ".")+1:], "ApplyConfiguration")
	c.writes[verb+" "+kind]++
}

// Apply implements client.Writer. A StatefulSet that is applied gets another generation.
func (c countingClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, o ...client.ApplyOption) error {
	c.count("apply", obj)
	if err := c.cluster.Apply(ctx, obj, o...); err != nil {
		return err
	}
	applied, ok := obj.(*appsv1ac.StatefulSetApplyConfiguration)
	if !ok {
		return nil
	}
	sts := &appsv1.StatefulSet{}
	if err := c.Client.Get(ctx, key, sts); err != nil {
		return err
	}
	sts.Generation++
	err := c.Update(ctx, sts)
	applied.WithGeneration(sts.Generation).WithResourceVersion(sts.ResourceVersion)
	return err
}

// Create implements client.Writer.
func (c countingClient) Create(ctx context.Context, obj client.Object, o ...client.CreateOption) error {
	c.count("create", obj)
	return c.cluster.Create(ctx, obj, o...)
}

// Patch implements client.Writer.
func (c countingClient) Patch(ctx context.Context, obj client.Object, p client.Patch, o ...client.PatchOption) error {
	c.count("patch", obj)
	return c.cluster.Patch(ctx, obj, p, o...)
}

// Delete implements client.Writer.
func (c countingClient) Delete(ctx context.Context, obj client.Object, o ...client.DeleteOption) error {
	c.count("delete", obj)
	return c.cluster.Delete(ctx, obj, o...)
}

// slowSidecar is a sidecar whose tasks are never done in the pass that submits them.
type slowSidecar struct {
	remote
	tasks map[string]*slowTask
	// stuck: no task ends any more.
	stuck bool

	mu       sync.Mutex
	document api.Node
}

// remote are the calls that nobody makes here.
type remote struct{ sidecar.Sidecar }

type slowTask struct {
	api.TaskResult
	asked int
}

// Sidecar implements sidecar.Dialer.
func (s *slowSidecar) Sidecar(sidecar.Target) sidecar.Sidecar { return s }

// restarted is a new process on the same volume.
func (s *slowSidecar) restarted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.document.APILevel, s.document.Gate.State, s.document.Seid.State = api.LevelNode, api.GateClosed, api.SeidWaiting
	s.document.Home.Validation = nil
	if s.document.Home.Stage == "" {
		s.document.Home.Stage = api.HomeEmpty
	}
}

// Node implements sidecar.Sidecar.
func (s *slowSidecar) Node(context.Context) (api.Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.document, nil
}

// Submit implements sidecar.Sidecar.
func (s *slowSidecar) Submit(_ context.Context, task api.TaskRequest) (string, error) {
	if s.tasks[task.ID] != nil {
		return "", sidecar.ErrConflict
	}
	s.tasks[task.ID] = &slowTask{TaskResult: api.TaskResult{ID: task.ID, Type: task.Type, Params: task.Params, Status: api.TaskRunning}}
	return task.ID, nil
}

// Get implements sidecar.Sidecar. The first look at a task, in the pass that submits it, comes too early.
func (s *slowSidecar) Get(_ context.Context, id string, _ time.Duration) (api.TaskResult, error) {
	task, known := s.tasks[id]
	if !known {
		return api.TaskResult{}, sidecar.ErrNotFound
	}
	if task.asked++; task.asked >= 2 && task.Status == api.TaskRunning && !s.stuck {
		task.Status = api.TaskCompleted
		return task.TaskResult, s.done(task)
	}
	return task.TaskResult, nil
}

// done is what a task leaves behind.
func (s *slowSidecar) done(task *slowTask) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &s.document
	switch task.Type {
	case api.ConfigureGenesis:
		d.Home.Stage, d.Home.NodeID = api.HomePrepared, strings.Repeat("a", 40)
	case api.ConfigApply:
		var params wire.ConfigApply
		if err := json.Unmarshal(task.Params, &params); err != nil {
			return err
		}
		d.Home.ConfigHash = params.ConfigHash
	case api.ConfigValidate:
		d.Home.Validation = &api.Validation{Valid: true}
	case api.MarkReady:
		d.Gate.State, d.Seid.State, d.Sync.State = api.GateOpen, api.SeidRunning, api.SyncInSync
	}
	return nil
}

// open reports whether the gate is open.
func (s *slowSidecar) open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.document.Gate.State == api.GateOpen
}

// submitted is how many tasks of a type there are, and asked how often somebody looked at them.
func (s *slowSidecar) submitted(taskType string) (n int) {
	for _, task := range s.tasks {
		if string(task.Type) == taskType {
			n++
		}
	}
	return n
}

func (s *slowSidecar) asked(taskType string) (n int) {
	for _, task := range s.tasks {
		if string(task.Type) == taskType {
			n += task.asked
		}
	}
	return n
}
