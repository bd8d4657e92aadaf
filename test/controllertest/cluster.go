// Package controllertest is for tests that drive a reconciler by hand: an API server in memory, with
// a cache before it that can be late, and with reads that can fail. What needs a real API server
// belongs to test/envtest.
package controllertest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	k8sevents "k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
)

// Cluster is the client of a reconciler: it reads from the cache and writes to the API server.
type Cluster struct {
	// Client is the API server.
	client.Client
	// Late is what the cache shows of an object instead of what is stored; nil for what is.
	Late client.Object
	// OnGet is notified of every read before it is made, and fails it with an error; may be nil.
	OnGet func(client.Object) error
	// StatusWrites counts the status writes that were stored.
	StatusWrites int
	Clock        *clocktesting.FakePassiveClock
	// Registry holds the metrics of the operator that was started last.
	Registry *prometheus.Registry
}

// At is when a Cluster's clock begins.
var At = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// New makes a Cluster that holds an object with a status. Configure may add to it.
func New(t *testing.T, obj client.Object, configure ...func(*fake.ClientBuilder)) *Cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, coordinationv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
		v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := &Cluster{Clock: clocktesting.NewFakePassiveClock(At)}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithObjects(obj).
		WithStatusSubresource(&v1alpha1.SeiNode{}, &v1alpha1.SeiNodeDeployment{}).
		WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: c.patchStatus, Apply: apply, Delete: remove})
	for _, f := range configure {
		f(builder)
	}
	c.Client = builder.Build()
	return c
}

func (c *Cluster) patchStatus(
	ctx context.Context, under client.Client, sub string, obj client.Object, p client.Patch, o ...client.SubResourcePatchOption,
) error {
	err := under.SubResource(sub).Patch(ctx, obj, p, o...)
	if err == nil {
		c.StatusWrites++
	}
	return err
}

// apply stores NetworkPolicies as they are sent: the fake API server cannot merge them, and the
// operator applies them whole.
func apply(ctx context.Context, under client.WithWatch, obj runtime.ApplyConfiguration, o ...client.ApplyOption) error {
	sent, ok := obj.(*networkingv1ac.NetworkPolicyApplyConfiguration)
	if !ok {
		return under.Apply(ctx, obj, o...)
	}
	policy, err := render.Convert[networkingv1.NetworkPolicy](sent)
	if err != nil {
		return err
	}
	live := &networkingv1.NetworkPolicy{}
	switch err := under.Get(ctx, client.ObjectKeyFromObject(policy), live); {
	case apierrors.IsNotFound(err):
		err = under.Create(ctx, policy)
		sent.WithResourceVersion(policy.ResourceVersion)
		return err
	case err != nil:
		return err
	}
	policy.ResourceVersion = live.ResourceVersion
	err = under.Update(ctx, policy)
	sent.WithResourceVersion(policy.ResourceVersion)
	return err
}

// remove deletes, as the API server does and the one in memory does not, no object of another UID than
// the one that is asked for.
func remove(ctx context.Context, under client.WithWatch, obj client.Object, o ...client.DeleteOption) error {
	live := obj.DeepCopyObject().(client.Object)
	if err := under.Get(ctx, client.ObjectKeyFromObject(obj), live); err != nil {
		return err
	}
	asked := (&client.DeleteOptions{}).ApplyOptions(o).Preconditions
	if asked != nil && asked.UID != nil && *asked.UID != live.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{}, obj.GetName(), errors.New("the UID in the precondition differs"))
	}
	return under.Delete(ctx, obj, o...)
}

// Get implements client.Reader.
func (c *Cluster) Get(ctx context.Context, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
	if c.OnGet != nil {
		if err := c.OnGet(obj); err != nil {
			return err
		}
	}
	if c.Late != nil && reflect.TypeOf(c.Late) == reflect.TypeOf(obj) && client.ObjectKeyFromObject(c.Late) == key {
		reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(c.Late.DeepCopyObject()).Elem())
		return nil
	}
	return c.Client.Get(ctx, key, obj, o...)
}

// Stored reads an object as the API server has it.
func Stored[T client.Object](t *testing.T, c *Cluster, key client.ObjectKey, into T) T {
	t.Helper()
	if err := c.Client.Get(t.Context(), key, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// Metrics are those of an operator that has just started.
func (c *Cluster) Metrics(t *testing.T) *metrics.Metrics {
	t.Helper()
	c.Registry = prometheus.NewRegistry()
	m, err := metrics.New(c.Registry, c.Clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Platform is the default configuration with images.
func Platform() *platform.Config {
	config := platform.Default()
	config.Images.Sidecar = "sidecar:1"
	return config
}

// Events takes events and keeps none.
func Events() *events.Recorder { return events.NewRecorder(k8sevents.NewFakeRecorder(100)) }
