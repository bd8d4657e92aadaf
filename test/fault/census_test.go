package fault

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/test/fault/internal/describe"
)

// census counts the objects of a namespace that are made and deleted, by kind and name.
type census struct {
	mu         sync.Mutex
	made, gone map[string]int
	known      map[types.UID]bool
	// versions are those of all that happened, and of the beginning.
	versions []uint64
}

// takeCensus counts from now on until the test ends.
func (r *run) takeCensus() *census {
	r.T.Helper()
	c := &census{made: map[string]int{}, gone: map[string]int{}, known: map[types.UID]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	r.T.Cleanup(func() { cancel(); watching.Wait() })
	for _, kind := range describe.Kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		list.Kind += "List"
		if err := r.Client.List(ctx, list, client.InNamespace(r.NS)); err != nil {
			r.T.Fatal(err)
		}
		for _, item := range list.Items {
			c.known[item.UID] = true
		}
		c.at(list.ResourceVersion)
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
	c.at(obj.GetResourceVersion())
	c.mu.Lock()
	defer c.mu.Unlock()
	name := kind + " " + newNames(obj.GetNamespace()).Name(obj)
	if !c.known[obj.GetUID()] {
		c.known[obj.GetUID()] = true
		c.made[name]++
	}
	if event.Type == watch.Deleted {
		c.gone[name]++
	}
}

// at notes a version.
func (c *census) at(version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if number, err := strconv.ParseUint(version, 10, 64); err == nil {
		c.versions = append(c.versions, number)
	}
}

// behind is the version before the last so many changes.
func (c *census) behind(changes int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.versions)
	c.versions = slices.Compact(c.versions)
	return strconv.FormatUint(c.versions[max(0, len(c.versions)-1-changes)], 10)
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
