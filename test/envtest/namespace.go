package envtest

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1alpha1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

var notForNames = regexp.MustCompile(`[^a-z0-9]+`)

// Namespace makes a namespace for one test, named after it, and removes it
// afterwards. If the test fails, what is in the namespace is written to disk.
func (e *Env) Namespace(tb testing.TB) string {
	tb.Helper()
	stem := notForNames.ReplaceAllString(strings.ToLower(strings.TrimPrefix(tb.Name(), "Test")), "-")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: strings.Trim(stem[:min(len(stem), 40)], "-") + "-"}}
	if err := e.Client.Create(tb.Context(), ns); err != nil {
		tb.Fatalf("making a namespace: %v", err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			e.dump(tb, ns.Name)
		}
		if !e.keepNamespaces {
			e.removeNamespace(tb, ns.Name)
		}
	})
	// Pods are refused before the namespace has its service account.
	WaitFor(tb, e, ns.Name, "default", func(sa *corev1.ServiceAccount) bool { return sa != nil })
	return ns.Name
}

// removeNamespace does not wait for the end: nothing else uses the name.
// Controllers under test have stopped by now, so their finalizers would hold
// the namespace forever.
func (e *Env) removeNamespace(tb testing.TB, name string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	// Whoever makes pods goes first: in a namespace that ends it would be refused, and would try
	// again and again and report it.
	for _, maker := range []client.Object{&appsv1.StatefulSet{}, &batchv1.Job{}} {
		_ = e.Client.DeleteAllOf(ctx, maker, client.InNamespace(name), client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	err := e.Client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if client.IgnoreNotFound(err) != nil { // a test may have deleted it
		tb.Errorf("removing namespace %s: %v", name, err)
		return
	}
	// No kubelet reports the end of a pod any more. A namespace that cannot go would be tried again
	// and again, beside the tests that follow.
	_ = e.Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(name), client.GracePeriodSeconds(0))
	for _, list := range []client.ObjectList{
		&seiv1alpha1.SeiNodeTaskList{}, &seiv1alpha1.SeiNodeDeploymentList{}, &seiv1alpha1.SeiNodeList{},
	} {
		if err := e.Client.List(ctx, list, client.InNamespace(name)); err != nil {
			continue // CRDs may be absent
		}
		for _, obj := range objects(list) {
			if len(obj.GetFinalizers()) > 0 {
				_ = e.Client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
			}
		}
	}
}
