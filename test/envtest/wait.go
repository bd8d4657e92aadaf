package envtest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"
)

// WaitTimeout is how long WaitFor waits: ENVTEST_WAIT, or else a minute. It is
// generous because only tests that fail use it up.
var WaitTimeout = waitTimeout()

func waitTimeout() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("ENVTEST_WAIT")); err == nil {
		return d
	}
	return time.Minute
}

// WaitFor watches one object until the condition holds and returns it. The
// condition sees nil while the object does not exist. When time runs out the
// test fails and shows the object as it was seen last.
func WaitFor[T any, P objectOf[T]](tb testing.TB, e *Env, namespace, name string, condition func(P) bool) P {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), WaitTimeout)
	defer cancel()
	var last P
	err := await(ctx, e.Client, client.ObjectKey{Namespace: namespace, Name: name}, func(obj P) bool {
		last = obj
		return condition(obj)
	})
	if err != nil {
		tb.Fatalf("waiting for %T %s/%s: %v; it is\n%s", last, namespace, name, err, show(last))
	}
	return last
}

// WaitGone watches one object until it does not exist.
func WaitGone[T any, P objectOf[T]](tb testing.TB, e *Env, namespace, name string) {
	tb.Helper()
	WaitFor(tb, e, namespace, name, func(obj P) bool { return obj == nil })
}

// WaitReplaced watches one object until another has taken its name.
func WaitReplaced[T any, P objectOf[T]](tb testing.TB, e *Env, old P, condition func(P) bool) P {
	tb.Helper()
	return WaitFor(tb, e, old.GetNamespace(), old.GetName(), func(obj P) bool {
		return obj != nil && obj.GetUID() != old.GetUID() && condition(obj)
	})
}

// objectOf lets callers name the plain type and work with its pointer.
type objectOf[T any] interface {
	*T
	client.Object
}

func show[T any, P objectOf[T]](obj P) string {
	if obj == nil {
		return "absent"
	}
	shown, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Sprintf("%v", obj)
	}
	shown.SetManagedFields(nil)
	text, err := yaml.Marshal(shown)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// await reads an object and then watches it from that very version on, so that
// no change in between is missed. Watches end now and then; it starts over.
func await[T any, P objectOf[T]](ctx context.Context, c client.WithWatch, key client.ObjectKey, condition func(P) bool) error {
	for {
		done, err := awaitOnce(ctx, c, key, condition)
		if done {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the condition did not come true: %w", ctx.Err())
		}
		if err != nil && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			return err
		}
	}
}

func awaitOnce[T any, P objectOf[T]](ctx context.Context, c client.WithWatch, key client.ObjectKey, condition func(P) bool) (bool, error) {
	list, err := newListFor(c, P(new(T)))
	if err != nil {
		return false, err
	}
	opts := &client.ListOptions{Namespace: key.Namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", key.Name)}
	if err := c.List(ctx, list, opts); err != nil {
		return false, fmt.Errorf("reading: %w", err)
	}
	var current P
	for _, item := range objects(list) {
		current, _ = item.(P)
	}
	if condition(current) {
		return true, nil
	}
	opts.Raw = listFrom(list)
	w, err := c.Watch(ctx, list, opts)
	if err != nil {
		return false, fmt.Errorf("watching: %w", err)
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		switch event.Type {
		case watch.Error:
			return false, apierrors.FromObject(event.Object)
		case watch.Deleted:
			current = nil
		default:
			current, _ = event.Object.(P)
		}
		if condition(current) {
			return true, nil
		}
	}
	return false, nil
}

func newListFor(c client.Client, obj client.Object) (client.ObjectList, error) {
	gvk, err := apiutil.GVKForObject(obj, c.Scheme())
	if err != nil {
		return nil, fmt.Errorf("finding the kind of %T: %w", obj, err)
	}
	gvk.Kind += "List"
	list, err := c.Scheme().New(gvk)
	if err != nil {
		return nil, fmt.Errorf("finding the list of %T: %w", obj, err)
	}
	typed, ok := list.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("finding the list of %T: %T is none", obj, list)
	}
	return typed, nil
}
