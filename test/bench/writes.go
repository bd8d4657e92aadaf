package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/render/rendertest"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// writeCost is what one kind of write costs.
type writeCost struct {
	Object  string `json:"object"`
	Request string `json:"request"`
	// APIServer and Etcd are CPU time per write, in milliseconds.
	APIServer float64 `json:"apiServer"`
	Etcd      float64 `json:"etcd"`
}

// writes measures what single writes cost the API server: those that the operator sends, and those it
// could send instead. Nobody watches, but for the rows about watchers, and no controller answers them.
type writes struct {
	*envtest.Env

	count int
	out   io.Writer
	costs []writeCost
	nodes []*v1alpha1.SeiNode
}

func measureWrites(ctx context.Context, count int, out io.Writer) ([]writeCost, error) {
	env, err := envtest.Start(ctx, envtest.WithControllers("serviceaccount-controller"))
	if err != nil {
		return nil, err
	}
	defer env.Stop()
	w := &writes{Env: env, count: count, out: out}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: nodesNamespace}}
	if err := w.Client.Create(ctx, ns); err != nil {
		return nil, fmt.Errorf("making a namespace: %w", err)
	}
	for _, part := range []func(context.Context) error{w.createNodes, w.makeObjects, w.changeStatefulSets, w.changeNodes, w.watchers, w.withoutRules} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return w.costs, nil
}

// each makes count writes, a few at a time, and notes what one of them cost.
func (w *writes) each(object, request string, do func(i int) error) error {
	api, err := cpuTime(w.APIServer.PID)
	if err != nil {
		return err
	}
	etcd, err := cpuTime(w.Etcd.PID)
	if err != nil {
		return err
	}
	if err := parallel(w.count, do); err != nil {
		return fmt.Errorf("%s, %s: %w", object, request, err)
	}
	apiAfter, err := cpuTime(w.APIServer.PID)
	if err != nil {
		return err
	}
	etcdAfter, err := cpuTime(w.Etcd.PID)
	if err != nil {
		return err
	}
	per := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(w.count) }
	cost := writeCost{Object: object, Request: request, APIServer: per(apiAfter - api), Etcd: per(etcdAfter - etcd)}
	w.costs = append(w.costs, cost)
	_, _ = fmt.Fprintf(w.out, "%-28s %-40s %.2f ms, etcd %.2f ms\n", object, request, cost.APIServer, cost.Etcd)
	return nil
}

// parallel does something for all numbers below count, a few at a time.
func parallel(count int, do func(i int) error) error {
	queue := make(chan int)
	var failed error
	var once sync.Once
	var workers sync.WaitGroup
	for range hands {
		workers.Go(func() {
			for i := range queue {
				if err := do(i); err != nil {
					once.Do(func() { failed = err })
				}
			}
		})
	}
	for i := range count {
		queue <- i
	}
	close(queue)
	workers.Wait()
	return failed
}

// createNodes makes the nodes that everything else belongs to.
func (w *writes) createNodes(ctx context.Context) error {
	for i := range w.count {
		w.nodes = append(w.nodes, &v1alpha1.SeiNode{
			ObjectMeta: metav1.ObjectMeta{Namespace: nodesNamespace, Name: fmt.Sprintf("node-%04d", i)},
			Spec:       v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: imageFirst, FullNode: &v1alpha1.FullNodeSpec{}},
		})
	}
	return w.each("SeiNode", "create", func(i int) error { return w.Client.Create(ctx, w.nodes[i]) })
}

// made is one kind of object that the operator makes for a node: as apply configuration, and as the
// object itself under another name.
type made struct {
	kind   string
	apply  func(render.Input) (runtime.ApplyConfiguration, error)
	object func(render.Input) (client.Object, error)
}

func converted[T any, P interface {
	*T
	client.Object
}](from func(render.Input) (runtime.ApplyConfiguration, error)) func(render.Input) (client.Object, error) {
	return func(in render.Input) (client.Object, error) {
		want, err := from(in)
		if err != nil {
			return nil, err
		}
		object, err := render.Convert[T](want)
		if err != nil {
			return nil, err
		}
		P(object).SetName(P(object).GetName() + "-created")
		return P(object), nil
	}
}

func kinds() []made {
	sts := func(in render.Input) (runtime.ApplyConfiguration, error) { return render.StatefulSet(in) }
	svc := func(in render.Input) (runtime.ApplyConfiguration, error) { return render.Service(in), nil }
	pvc := func(in render.Input) (runtime.ApplyConfiguration, error) { return render.DataClaim(in), nil }
	policy := func(in render.Input) (runtime.ApplyConfiguration, error) { return render.NetworkPolicy(in), nil }
	return []made{
		{"StatefulSet", sts, converted[appsv1.StatefulSet](sts)},
		{"Service", svc, converted[corev1.Service](svc)},
		{"PersistentVolumeClaim", pvc, converted[corev1.PersistentVolumeClaim](pvc)},
		{"NetworkPolicy", policy, converted[networkingv1.NetworkPolicy](policy)},
	}
}

// makeObjects makes the objects of a node, by apply and by create.
func (w *writes) makeObjects(ctx context.Context) error {
	for _, kind := range kinds() {
		if err := w.each(kind.kind, "create", func(i int) error {
			object, err := kind.object(rendertest.Input(w.nodes[i]))
			if err != nil {
				return err
			}
			return w.Client.Create(ctx, object, client.FieldOwner(v1alpha1.FieldOwnerSeiNode))
		}); err != nil {
			return err
		}
		if err := w.each(kind.kind, "apply, nothing there", func(i int) error { return w.apply(ctx, kind, i) }); err != nil {
			return err
		}
		if err := w.each(kind.kind, "apply, nothing changed", func(i int) error { return w.apply(ctx, kind, i) }); err != nil {
			return err
		}
	}
	secret := render.Issued{Certificate: make([]byte, 1200), Key: make([]byte, 250), NotBefore: time.Now(), NotAfter: time.Now(), Issuer: "bench"}
	if err := w.each("Secret", "create", func(i int) error {
		s := render.Certificate(w.nodes[i], secret)
		s.Type = corev1.SecretTypeOpaque // what is in it is no certificate
		return w.Client.Create(ctx, s, client.FieldOwner(v1alpha1.FieldOwnerSeiNode))
	}); err != nil {
		return err
	}
	return w.each("Event", "create", func(i int) error {
		return w.Client.Create(ctx, &eventsv1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: nodesNamespace, Name: w.nodes[i].Name}, EventTime: metav1.NowMicro(),
			ReportingController: "bench", ReportingInstance: "bench", Action: "Measure", Reason: "Measured", Type: corev1.EventTypeNormal,
			Regarding: corev1.ObjectReference{Kind: v1alpha1.KindSeiNode, Namespace: nodesNamespace, Name: w.nodes[i].Name},
		})
	})
}

func (w *writes) apply(ctx context.Context, kind made, i int) error {
	want, err := kind.apply(rendertest.Input(w.nodes[i]))
	if err != nil {
		return err
	}
	return w.Client.Apply(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNode), client.ForceOwnership)
}

// changeStatefulSets changes the image of StatefulSets, in all ways there are.
func (w *writes) changeStatefulSets(ctx context.Context) error {
	sts := kinds()[0]
	input := func(i int, image string) render.Input {
		in := rendertest.Input(w.nodes[i])
		in.Image = image
		return in
	}
	created := func(i int) *appsv1.StatefulSet {
		return &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: nodesNamespace, Name: w.nodes[i].Name + "-created"}}
	}
	rendered := func(i int, image string) (*appsv1.StatefulSet, error) {
		object, err := sts.object(input(i, image))
		if err != nil {
			return nil, err
		}
		return object.(*appsv1.StatefulSet), nil
	}
	if err := w.each("StatefulSet", "apply of another image", func(i int) error {
		want, err := sts.apply(input(i, imageUpdate))
		if err != nil {
			return err
		}
		return w.Client.Apply(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNode), client.ForceOwnership)
	}); err != nil {
		return err
	}
	if err := w.each("StatefulSet", "JSON patch of the template", func(i int) error {
		want, err := rendered(i, imageUpdate)
		if err != nil {
			return err
		}
		patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec/template", "value": want.Spec.Template}})
		if err != nil {
			return err
		}
		return w.Client.Patch(ctx, created(i), client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(v1alpha1.FieldOwnerSeiNode))
	}); err != nil {
		return err
	}
	if err := w.each("StatefulSet", "merge patch of the containers", func(i int) error {
		want, err := rendered(i, imageHang)
		if err != nil {
			return err
		}
		patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{
			"metadata": want.Spec.Template.ObjectMeta,
			"spec":     map[string]any{"containers": want.Spec.Template.Spec.Containers, "initContainers": want.Spec.Template.Spec.InitContainers},
		}}})
		if err != nil {
			return err
		}
		return w.Client.Patch(ctx, created(i), client.RawPatch(types.MergePatchType, patch), client.FieldOwner(v1alpha1.FieldOwnerSeiNode))
	}); err != nil {
		return err
	}
	return w.each("StatefulSet", "update (PUT) with another image", func(i int) error {
		want, err := rendered(i, imageRestart)
		if err != nil {
			return err
		}
		return w.Client.Update(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNode))
	})
}

// changeNodes writes to SeiNodes what the operator writes.
func (w *writes) changeNodes(ctx context.Context) error {
	if err := w.each("SeiNode", "merge patch of the finalizer", func(i int) error {
		before := w.nodes[i].DeepCopy()
		w.nodes[i].Finalizers = []string{v1alpha1.FinalizerSeiNode}
		return w.Client.Patch(ctx, w.nodes[i], client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	}); err != nil {
		return err
	}
	if err := w.status(ctx, "first status, with a plan", planned); err != nil {
		return err
	}
	if err := w.status(ctx, "status, plan ended", ended); err != nil {
		return err
	}
	if err := w.status(ctx, "status, one condition", flipped); err != nil {
		return err
	}
	return w.each("SeiNode", "merge patch of the image", func(i int) error {
		before := w.nodes[i].DeepCopy()
		w.nodes[i].Spec.Image = imageUpdate
		return w.Client.Patch(ctx, w.nodes[i], client.MergeFrom(before))
	})
}

// status patches the status of every node as the operator does.
func (w *writes) status(ctx context.Context, request string, change func(*v1alpha1.SeiNodeStatus)) error {
	return w.each("SeiNode", request, func(i int) error {
		before := w.nodes[i].DeepCopy()
		change(&w.nodes[i].Status)
		return w.Client.Status().Patch(ctx, w.nodes[i], client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
}

// planned is the first status of a node.
func planned(s *v1alpha1.SeiNodeStatus) {
	now := metav1.Now()
	s.Phase, s.ObservedGeneration = v1alpha1.NodeInitializing, 1
	s.Plan = &v1alpha1.TaskPlan{
		ID: "3d0c2a54-0d2c-4c52-9a0e-6a6a7f6a2f0f", Phase: v1alpha1.PlanActive, Reason: "NewNode", Message: "the node is new", StartedAt: &now,
	}
	for _, step := range []string{
		"ensure-data-pvc", "apply-statefulset", "apply-service", "configure-genesis", "config-apply", "config-validate", "mark-ready", "observe-image",
	} {
		s.Plan.Tasks = append(s.Plan.Tasks, v1alpha1.PlannedTask{Type: step, ID: "9b5ad71c-59d4-5d0f-8ed2-0d5e7a0c2a10", Status: v1alpha1.TaskPending})
	}
	for _, c := range []string{
		v1alpha1.ConditionImportPVCReady, v1alpha1.ConditionInSync, v1alpha1.ConditionNodeKeyReady, v1alpha1.ConditionNodeUpdateInProgress,
		v1alpha1.ConditionOperatorKeyringReady, v1alpha1.ConditionPaused, v1alpha1.ConditionPlanInProgress, v1alpha1.ConditionReady,
		v1alpha1.ConditionReconciling, v1alpha1.ConditionResultsMatch, v1alpha1.ConditionSidecarReady, v1alpha1.ConditionSigningKeyReady,
		v1alpha1.ConditionSnapshotsPublished, v1alpha1.ConditionSpecValid, v1alpha1.ConditionStalled, v1alpha1.ConditionUpgradeFailed,
		v1alpha1.ConditionUpgradeImageMissing, v1alpha1.ConditionUpgradeScheduled, v1alpha1.ConditionUpgradeSnapshotTaken,
	} {
		s.Conditions = append(s.Conditions, metav1.Condition{
			Type: c, Status: metav1.ConditionFalse, ObservedGeneration: 1, LastTransitionTime: now, Reason: "NotApplicable",
		})
	}
}

// ended is the status of a node whose first plan has ended.
func ended(s *v1alpha1.SeiNodeStatus) {
	s.Phase, s.CurrentImage, s.NodeID = v1alpha1.NodeRunning, imageFirst, strings.Repeat("a", 40)
	s.Plan = nil
	for i := range s.Conditions {
		if i%4 == 0 {
			s.Conditions[i].Reason, s.Conditions[i].Message = "PlanComplete", "the plan has completed"
		}
	}
}

// flipped is the status of a node that has come into sync, or has lost it.
func flipped(s *v1alpha1.SeiNodeStatus) {
	c := &s.Conditions[1]
	if c.Status == metav1.ConditionTrue {
		c.Status, c.Reason = metav1.ConditionFalse, "NotInSync"
	} else {
		c.Status, c.Reason = metav1.ConditionTrue, "InSync"
	}
}

// watchers repeats a status patch while more and more clients watch.
func (w *writes) watchers(ctx context.Context) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	have := 0
	for _, count := range []int{1, 4, 16} {
		for ; have < count; have++ {
			events, err := w.Client.Watch(watching, &v1alpha1.SeiNodeList{}, client.InNamespace(nodesNamespace))
			if err != nil {
				return fmt.Errorf("watching: %w", err)
			}
			go func() {
				for range events.ResultChan() { // read and dropped
				}
			}()
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		if err := w.status(ctx, fmt.Sprintf("status, one condition, %d watchers", count), flipped); err != nil {
			return err
		}
	}
	return nil
}

// withoutRules repeats a status patch on a definition without CEL rules.
func (w *writes) withoutRules(ctx context.Context) error {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "seinodes.sei.io"}}
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
		return fmt.Errorf("reading the CRD: %w", err)
	}
	for i := range crd.Spec.Versions {
		dropRules(crd.Spec.Versions[i].Schema.OpenAPIV3Schema)
	}
	if err := w.Client.Update(ctx, crd); err != nil {
		return fmt.Errorf("taking the rules out of the CRD: %w", err)
	}
	if err := pause(ctx, 5*time.Second); err != nil {
		return err
	}
	for i := range w.nodes {
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(w.nodes[i]), w.nodes[i]); err != nil {
			return fmt.Errorf("reading a node: %w", err)
		}
	}
	return w.status(ctx, "status, one condition, no CEL rules", flipped)
}

func dropRules(schema *apiextensionsv1.JSONSchemaProps) {
	if schema == nil {
		return
	}
	schema.XValidations = nil
	for name, property := range schema.Properties {
		dropRules(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		dropRules(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil {
		dropRules(schema.AdditionalProperties.Schema)
	}
}
