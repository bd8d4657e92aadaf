package envtest_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// lateCache is a cache of ConfigMaps whose watches can be held up, and the values of one of them
// in the order in which the cache heard of them.
func lateCache(t *testing.T, env *envtest.Env, ns string) (*envtest.Watches, <-chan string) {
	t.Helper()
	watches := envtest.NewWatches()
	_, heard := newCache(t, env, ns, watches)
	return watches, heard
}

func newCache(t *testing.T, env *envtest.Env, ns string, watches *envtest.Watches) (cache.Cache, <-chan string) {
	t.Helper()
	config := rest.CopyConfig(env.Config)
	config.Wrap(watches.Wrap)
	late, err := cache.New(config, cache.Options{Scheme: env.Scheme, DefaultNamespaces: map[string]cache.Config{ns: {}}})
	if err != nil {
		t.Fatal(err)
	}
	informer, err := late.GetInformer(t.Context(), &corev1.ConfigMap{})
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 100)
	hear := func(obj any) {
		if cm, ok := obj.(*corev1.ConfigMap); ok && cm.Name == "a" {
			heard <- cm.Data["v"]
		}
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: hear, UpdateFunc: func(_, now any) { hear(now) }}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- late.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if !late.WaitForCacheSync(ctx) {
		t.Fatal("the cache did not fill")
	}
	return late, heard
}

func TestWatches_HeldCutAndExpired_TheCacheIsLateAndCatchesUp(t *testing.T) {
	env := envtest.Shared(t)
	ns := env.Namespace(t)
	watches, heard := lateCache(t, env, ns)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}}
	write := func(values ...string) {
		t.Helper()
		for _, v := range values {
			cm.Data = map[string]string{"v": v}
			var err error
			if cm.UID == "" {
				err = env.Client.Create(t.Context(), cm)
			} else {
				err = env.Client.Update(t.Context(), cm)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	hears := func(values ...string) {
		t.Helper()
		for _, want := range values {
			select {
			case got := <-heard:
				if got != want {
					t.Fatalf("the cache heard of %q, want %q", got, want)
				}
			case <-t.Context().Done():
				t.Fatal("the test ended")
			}
		}
	}
	write("1")
	hears("1")

	watches.Hold("configmaps")
	write("2", "3")
	// Another client is not held up, and by now it has seen both.
	envtest.WaitFor(t, env, ns, "a", func(c *corev1.ConfigMap) bool { return c != nil && c.Data["v"] == "3" })
	if len(heard) > 0 {
		t.Fatalf("the cache heard of %q while it was held", <-heard)
	}
	watches.Release("configmaps")
	hears("2", "3")

	watches.Cut("configmaps")
	write("4")
	hears("4")

	watches.Hold("configmaps")
	write("5", "6")
	watches.Expire("configmaps")
	hears("6")
	if err := env.Client.Delete(t.Context(), cm, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
}

// What a watch is told reaches its reader between two events that happened, and only readers of that
// resource.
func TestWatches_Told_TheCacheHearsOfWhatDidNotHappen(t *testing.T) {
	env := envtest.Shared(t)
	ns := env.Namespace(t)
	watches := envtest.NewWatches()
	config := rest.CopyConfig(env.Config)
	config.Wrap(watches.Wrap)
	told, err := client.NewWithWatch(config, client.Options{Scheme: env.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := told.Watch(t.Context(), &v1alpha1.SeiNodeList{}, client.InNamespace(ns))
	if err != nil {
		t.Fatal(err)
	}
	defer nodes.Stop()
	node := &v1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"},
		Spec:       v1alpha1.SeiNodeSpec{ChainID: "c", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}},
	}
	if err := env.Client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	if event := <-nodes.ResultChan(); event.Type != watch.Added {
		t.Fatalf("%+v, want Type %v", event, watch.Added)
	}
	invented := node.DeepCopy()
	invented.Annotations = map[string]string{"did": "not happen"}
	invented.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNode))
	for _, resource := range []string{"pods", "seinodes"} {
		if err := watches.Tell(resource, watch.Modified, invented); err != nil {
			t.Fatal(err)
		}
	}
	if event := <-nodes.ResultChan(); event.Type != watch.Modified || event.Object.(*v1alpha1.SeiNode).Annotations["did"] != "not happen" {
		t.Errorf("%+v, want Type %v and Annotations %q", event, watch.Modified, "not happen")
	}
	if err := env.Client.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	if event := <-nodes.ResultChan(); event.Type != watch.Deleted || len(event.Object.(*v1alpha1.SeiNode).Annotations) > 0 {
		t.Errorf("%+v, want Type %v and no Annotations", event, watch.Deleted)
	}
}

// A cache that is filled from the past shows what was there then, until it is told the rest.
func TestWatches_Rewound_ANewCacheBeginsInThePast(t *testing.T) {
	env := envtest.Shared(t)
	ns := env.Namespace(t)
	watches, heard := lateCache(t, env, ns)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}, Data: map[string]string{"v": "1"}}
	if err := env.Client.Create(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	past := cm.ResourceVersion
	for _, v := range []string{"2", "3"} {
		cm.Data["v"] = v
		if err := env.Client.Update(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		<-heard
	}
	watches.Rewind(past)
	again, later := newCache(t, env, ns, watches)
	read := func() string {
		found := &corev1.ConfigMap{}
		if err := again.Get(t.Context(), client.ObjectKeyFromObject(cm), found); err != nil {
			t.Fatal(err)
		}
		return found.Data["v"]
	}
	if first, has := <-later, read(); first != "1" || has != "1" {
		t.Errorf("the cache began with %s and has %s", first, has)
	}
	watches.Forward()
	if second, third := <-later, <-later; second != "2" || third != "3" {
		t.Errorf("the cache heard of %s and %s", second, third)
	}
}
