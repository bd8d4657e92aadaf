package fault

import (
	"context"
	"maps"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// kinds are what the operator, and the controllers it relies on, make.
var kinds = []schema.GroupVersionKind{
	v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNode),
	v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNodeDeployment),
	v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNodeTask),
	{Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Version: "v1", Kind: "Pod"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Service"},
}

// census counts the objects of a namespace that are made and deleted, by kind and name.
type census struct {
	mu         sync.Mutex
	made, gone map[string]int
	known      map[types.UID]bool
}

// takeCensus counts from now on until the test ends.
func (r *run) takeCensus() *census {
	r.T.Helper()
	c := &census{made: map[string]int{}, gone: map[string]int{}, known: map[types.UID]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	r.T.Cleanup(func() { cancel(); watching.Wait() })
	for _, kind := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		list.Kind += "List"
		if err := r.Client.List(ctx, list, client.InNamespace(r.NS)); err != nil {
			r.T.Fatal(err)
		}
		for _, item := range list.Items {
			c.known[item.UID] = true
		}
		from := &client.ListOptions{Namespace: r.NS, Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}}
		events, err := r.Client.Watch(ctx, list, from)
		if err != nil {
			r.T.Fatal(err)
		}
		watching.Go(func() {
			for event := range events.ResultChan() {
				c.count(kind.Kind, event)
			}
			if ctx.Err() == nil {
				r.T.Errorf("the watch of %s ended", kind.Kind)
			}
		})
	}
	return c
}

func (c *census) count(kind string, event watch.Event) {
	obj, ok := event.Object.(client.Object)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := kind + " " + newRenamed(obj.GetNamespace()).name(obj)
	if !c.known[obj.GetUID()] {
		c.known[obj.GetUID()] = true
		c.made[name]++
	}
	if event.Type == watch.Deleted {
		c.gone[name]++
	}
}

// counts are the numbers so far, of what is not Kubernetes' own.
func (c *census) counts() (made, gone map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	made, gone = maps.Clone(c.made), maps.Clone(c.gone)
	foreign := func(name string, _ int) bool { return strings.HasPrefix(name, "ConfigMap kube-") }
	maps.DeleteFunc(made, foreign)
	maps.DeleteFunc(gone, foreign)
	return made, gone
}
