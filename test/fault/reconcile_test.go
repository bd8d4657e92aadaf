package fault

import (
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// object is one that the operator reconciles.
type object struct{ kind, name string }

func node(name string) object  { return object{v1alpha1.KindSeiNode, name} }
func fleet(name string) object { return object{v1alpha1.KindSeiNodeDeployment, name} }
func task(name string) object  { return object{v1alpha1.KindSeiNodeTask, name} }

// traits are how objects of a kind are reported: the metric that counts their reconciles, their name
// in a URL, and an empty one.
func (o object) traits() (metric, resource string, empty client.Object) {
	switch o.kind {
	case v1alpha1.KindSeiNodeDeployment:
		return metrics.NameDeploymentStatusPatches, "seinodedeployments", &v1alpha1.SeiNodeDeployment{}
	case v1alpha1.KindSeiNodeTask:
		return metrics.NameNodeTaskStatusPatches, "seinodetasks", &v1alpha1.SeiNodeTask{}
	default:
		return metrics.NameNodeStatusPatches, "seinodes", &v1alpha1.SeiNode{}
	}
}

// reconciles counts how often the operators of this world have looked at an object.
func (r *run) reconciles(o object) float64 {
	r.T.Helper()
	metric, _, _ := o.traits()
	return r.Patches(metric, o.name, statuspatch.Noop) + r.Patches(metric, o.name, statuspatch.Changed)
}

// annotationForced makes the operator look at an object.
const annotationForced = "fault/forced"

// reconcile makes the operator look at every object so many times, by a write.
func (r *run) reconcile(times int) {
	r.T.Helper()
	for _, o := range r.scenario.objects {
		for range times {
			r.forced(o, r.touch)
		}
	}
}

// wake makes the operator look at every object so many times more, without a write: its watch reports a
// change of an annotation that was not made. What it looks at is what it has in its cache.
func (r *run) wake(times int) {
	r.T.Helper()
	for _, o := range r.scenario.objects {
		_, _, newest := o.traits()
		r.Get(o.name, newest)
		r.Eventually("a cache with the newest "+o.name, func() bool { return r.cached(o).GetResourceVersion() == newest.GetResourceVersion() })
		for range times {
			r.forced(o, r.tell)
		}
	}
}

// forced has something make the operator look at an object, and waits until it has.
func (r *run) forced(o object, by func(object, string)) {
	r.T.Helper()
	seen := r.reconciles(o)
	by(o, fmt.Sprint(seen, time.Now().UnixNano()))
	r.Eventually("another reconcile of "+o.name, func() bool { return r.reconciles(o) > seen })
}

// touch changes an annotation of an object.
func (r *run) touch(o object, value string) {
	r.T.Helper()
	_, _, obj := o.traits()
	obj.SetNamespace(r.NS)
	obj.SetName(o.name)
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, annotationForced, value)
	if err := r.Client.Patch(r.T.Context(), obj, client.RawPatch(types.MergePatchType, patch)); err != nil {
		r.T.Fatal(err)
	}
}

// tell has the operator hear that an annotation of an object has changed.
func (r *run) tell(o object, value string) {
	r.T.Helper()
	_, resource, _ := o.traits()
	obj := r.cached(o)
	obj.GetObjectKind().SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(o.kind))
	annotations := maps.Clone(obj.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotationForced] = value
	obj.SetAnnotations(annotations)
	if err := r.Watches.Tell(resource, watch.Modified, obj); err != nil {
		r.T.Fatal(err)
	}
}

// cached is an object as the operator knows it.
func (r *run) cached(o object) client.Object {
	r.T.Helper()
	_, _, obj := o.traits()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.operator.Cache.Get(r.T.Context(), client.ObjectKey{Namespace: r.NS, Name: o.name}, obj); client.IgnoreNotFound(err) != nil {
		r.T.Fatal(err)
	}
	return obj
}
