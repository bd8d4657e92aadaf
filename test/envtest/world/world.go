// Package world is one test's namespace with kubelets, sidecars and, once started, an
// operator in it. What a test does with nodes or fleets there stays with the test.
package world

import (
	"context"
	"slices"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// World is a namespace of its own in the shared control plane. Its methods fail the test.
type World struct {
	*envtest.Env

	T        *testing.T
	NS       string
	Pods     *podsim.Simulator
	Sidecars *sidecarsim.Sidecars
	// Config and Recorder are the operator's access to the API and what it did with it.
	Config   *rest.Config
	Recorder *envtest.Recorder
	// Watches can make the operator's caches late, and Cache is what they hold; nil before it runs.
	Watches  *envtest.Watches
	Cache    client.Reader
	Platform *platform.Config
	// Watched are namespaces that the operator looks at beside the world's own.
	Watched []string
	// MetricsAddress is where the operator serves metrics; "0" for nowhere.
	MetricsAddress string
	// AccountNamespace is where the operator's account is. By default that is not the world's own:
	// tokens are not counted among what is done for nodes.
	AccountNamespace string
	// RefuseShared has the operator call no sidecar that accepts the token of all nodes.
	RefuseShared bool
	// RefusePlaintext has the operator call no sidecar that speaks plain HTTP.
	RefusePlaintext bool
	// Stop ends the operator, if one runs.
	Stop func()
}

// New makes a world without an operator.
func New(t *testing.T) *World {
	t.Helper()
	env := envtest.Shared(t)
	w := &World{Env: env, T: t, NS: env.Namespace(t), MetricsAddress: "0", AccountNamespace: metav1.NamespaceDefault, Stop: func() {}}
	keys, err := sidecarsim.KeysOf(env.Config, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.Sidecars = sidecarsim.Start(t, sidecarsim.Options{Keys: keys})
	w.Pods = podsim.Start(t, env.Config, podsim.Options{Namespace: w.NS, Runtime: w.Sidecars, CrashBackOff: 200 * time.Millisecond})
	w.Config, w.Recorder = env.Recorded()
	w.Watches = envtest.NewWatches()
	w.Config.Wrap(w.Watches.Wrap)
	w.Platform = platform.Default()
	w.Platform.Images.Sidecar = "sidecar:1"
	w.Platform.Storage.Default.Size = new(resource.MustParse("1Gi"))
	t.Cleanup(func() { w.Stop() })
	return w
}

// Operated makes a world whose operator runs.
func Operated(t *testing.T) *World {
	t.Helper()
	w := New(t)
	w.StartOperator()
	return w
}

// Create stores an object in the world's namespace.
func (w *World) Create(obj client.Object) {
	w.T.Helper()
	obj.SetNamespace(w.NS)
	if err := w.Client.Create(w.T.Context(), obj); err != nil {
		w.T.Fatal(err)
	}
}

// Get reads an object of the world's namespace.
func (w *World) Get(name string, into client.Object) {
	w.T.Helper()
	if err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.NS, Name: name}, into); err != nil {
		w.T.Fatal(err)
	}
}

// Edit changes an object as a user would.
func Edit[T client.Object](w *World, name string, obj T, change func(T)) T {
	w.T.Helper()
	w.Get(name, obj)
	before := obj.DeepCopyObject().(client.Object)
	change(obj)
	if err := w.Client.Patch(w.T.Context(), obj, client.MergeFrom(before)); err != nil {
		w.T.Fatal(err)
	}
	return obj
}

// Delete deletes an object.
func (w *World) Delete(obj client.Object) {
	w.T.Helper()
	if err := w.Client.Delete(w.T.Context(), obj); err != nil {
		w.T.Fatal(err)
	}
}

// Key is how the simulated sidecars call a node.
func (w *World) Key(name string) string { return w.NS + "/" + name }

// AwaitEvent waits until the operator reported something about an object; an empty name
// means any.
func (w *World) AwaitEvent(name string, reason events.Reason) {
	w.T.Helper()
	envtest.WaitForList(w.T, w.Env, &eventsv1.EventList{}, func(list *eventsv1.EventList) bool {
		return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool {
			return e.Reason == string(reason) && (name == "" || e.Regarding.Name == name)
		})
	}, client.InNamespace(w.NS))
}

// Eventually waits for something that no watch reports.
func (w *World) Eventually(what string, condition func() bool) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), envtest.WaitTimeout)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			w.T.Fatalf("waiting for %s: %v", what, ctx.Err())
		case <-tick.C:
		}
	}
}
