package envtest

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WaitForList watches a list, for example the pods of a label, until the
// condition holds for all its items together. After every change the list is
// read again: the condition always sees one consistent state.
func WaitForList[L client.ObjectList](tb testing.TB, e *Env, list L, condition func(L) bool, opts ...client.ListOption) L {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), WaitTimeout)
	defer cancel()
	for {
		done, err := awaitList(ctx, e.Client, list, condition, opts)
		if done {
			return list
		}
		if ctx.Err() != nil || (err != nil && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err)) {
			tb.Fatalf("waiting for %T: %v %v; there are %d: %v", list, err, ctx.Err(), len(objects(list)), names(list))
		}
	}
}

func awaitList[L client.ObjectList](ctx context.Context, c client.WithWatch, list L, condition func(L) bool, opts []client.ListOption) (bool, error) {
	if err := c.List(ctx, list, opts...); err != nil {
		return false, fmt.Errorf("listing: %w", err)
	}
	if condition(list) {
		return true, nil
	}
	all := (&client.ListOptions{}).ApplyOptions(opts)
	all.Raw = listFrom(list)
	w, err := c.Watch(ctx, list, all)
	if err != nil {
		return false, fmt.Errorf("watching: %w", err)
	}
	defer w.Stop()
	for range w.ResultChan() {
		if err := c.List(ctx, list, opts...); err != nil {
			return false, fmt.Errorf("listing: %w", err)
		}
		if condition(list) {
			return true, nil
		}
	}
	return false, nil
}

// listFrom makes a watch begin where a list ended.
func listFrom(list client.ObjectList) *metav1.ListOptions {
	return &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}
}

func names(list client.ObjectList) []string {
	all := objects(list)
	found := make([]string, 0, len(all))
	for _, obj := range all {
		found = append(found, obj.GetName())
	}
	return found
}
