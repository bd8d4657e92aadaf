package statuspatch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Result is the outcome of a status at the end of a reconcile.
type Result string

// The results. They are the values of the metric label of the same name.
const (
	// Noop: the status says what it said before; nothing was sent.
	Noop Result = "noop"
	// Changed: the new status was stored.
	Changed Result = "changed"
	// Conflict: someone else wrote the object first; nothing was stored.
	Conflict Result = "conflict"
	// Failed: the API server refused the write or could not be reached.
	Failed Result = "error"
)

// Results lists every Result.
func Results() []Result { return []Result{Noop, Changed, Conflict, Failed} }

// Snapshot is an object as it was when a reconcile started.
type Snapshot struct {
	writer *Writer
	before client.Object
}

// New takes the snapshot. The object may be changed freely afterwards.
func (w *Writer) New(obj client.Object) *Snapshot {
	return &Snapshot{writer: w, before: obj.DeepCopyObject().(client.Object)}
}

// Patch stores the status of obj if it differs from the snapshot's, and counts
// the result. Only the status travels: whatever else was changed in memory stays
// there. After Changed, obj and the snapshot carry the new resourceVersion, so
// that obj can be written again.
//
// The error of a Conflict satisfies apierrors.IsConflict.
func (s *Snapshot) Patch(ctx context.Context, c client.Client, obj client.Object) (Result, error) {
	result, err := s.patch(ctx, c, obj)
	s.writer.count(obj.GetNamespace(), obj.GetName(), result)
	if err != nil {
		return result, fmt.Errorf("patching the status of %T %s: %w", obj, client.ObjectKeyFromObject(obj), err)
	}
	return result, nil
}

func (s *Snapshot) patch(ctx context.Context, c client.Client, obj client.Object) (Result, error) {
	same, err := s.unchanged(obj)
	if err != nil {
		return Failed, err
	}
	if same {
		return Noop, nil
	}
	// The patch is computed between two copies that differ in status alone.
	after := s.before.DeepCopyObject().(client.Object)
	want, err := statusOf(obj.DeepCopyObject().(client.Object))
	if err != nil {
		return Failed, err
	}
	field, err := statusOf(after)
	if err != nil {
		return Failed, err
	}
	field.Set(want)

	lock := client.MergeFromWithOptions(s.before, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, after, lock); err != nil {
		if apierrors.IsConflict(err) {
			return Conflict, err
		}
		return Failed, err
	}
	s.writer.wrote(after)
	obj.SetResourceVersion(after.GetResourceVersion())
	s.before = after
	return Changed, nil
}

// unchanged compares by meaning (nil equals empty) and then by what would be
// sent: a time that differs below the second is stored as the same time.
func (s *Snapshot) unchanged(obj client.Object) (bool, error) {
	if reflect.TypeOf(obj) != reflect.TypeOf(s.before) {
		return false, fmt.Errorf("the snapshot is of a %T", s.before)
	}
	if obj.GetUID() != s.before.GetUID() || obj.GetName() != s.before.GetName() || obj.GetNamespace() != s.before.GetNamespace() {
		return false, fmt.Errorf("the snapshot is of %s, uid %s", client.ObjectKeyFromObject(s.before), s.before.GetUID())
	}
	was, err := statusOf(s.before)
	if err != nil {
		return false, err
	}
	is, err := statusOf(obj)
	if err != nil {
		return false, err
	}
	if equality.Semantic.DeepEqual(was.Interface(), is.Interface()) {
		return true, nil
	}
	wasJSON, err := json.Marshal(was.Interface())
	if err != nil {
		return false, fmt.Errorf("encoding the status before: %w", err)
	}
	isJSON, err := json.Marshal(is.Interface())
	if err != nil {
		return false, fmt.Errorf("encoding the status after: %w", err)
	}
	return bytes.Equal(wasJSON, isJSON), nil
}

// statusOf finds the field Status, whatever its type, so that every kind and
// every later field is covered.
func statusOf(obj client.Object) (reflect.Value, error) {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return reflect.Value{}, fmt.Errorf("a %T is no pointer to a struct", obj)
	}
	field := v.Elem().FieldByName("Status")
	if !field.IsValid() || !field.CanSet() {
		return reflect.Value{}, fmt.Errorf("a %T has no field Status", obj)
	}
	return field, nil
}
