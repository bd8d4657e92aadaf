package loop_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/metrics"
)

func TestReconcile_EachObjectGetsWhatIsDue(t *testing.T) {
	bare, ours, going := written("a", ""), written("a", ""), leaving("a", "")
	ours.Finalizers, going.Finalizers = []string{"ours"}, []string{"ours"}
	for name, c := range map[string]struct {
		stored     *corev1.Pod
		finalizer  string
		want       string
		finalizers []string
	}{
		"gone":                      {want: "forget"},
		"new":                       {stored: bare, finalizer: "ours", want: "run", finalizers: []string{"ours"}},
		"new, with no finalizer":    {stored: bare, want: "run"},
		"taken up before":           {stored: ours, finalizer: "ours", want: "run", finalizers: []string{"ours"}},
		"being deleted":             {stored: going, finalizer: "ours", want: "finalize"},
		"being deleted, of others'": {stored: going, finalizer: "another", want: "finalize"},
	} {
		builder := fake.NewClientBuilder()
		if c.stored != nil {
			builder.WithObjects(c.stored)
		}
		var did string
		var seen []string
		base := &loop.Base{Client: builder.Build(), Metrics: metrics.Default()}
		base.Init(v1alpha1.KindSeiNode)
		do := func(what string) func(context.Context, *corev1.Pod) (ctrl.Result, error) {
			return func(_ context.Context, pod *corev1.Pod) (ctrl.Result, error) {
				did += what
				seen = pod.Finalizers
				return ctrl.Result{RequeueAfter: 1}, nil
			}
		}
		result, err := loop.Reconcile(t.Context(), base, ctrl.Request{NamespacedName: writtenName}, &corev1.Pod{}, loop.Actions[*corev1.Pod]{
			Finalizer: c.finalizer, Run: do("run"), Finalize: do("finalize"), Forget: func(types.NamespacedName) { did += "forget" },
		})
		if did != c.want || err != nil || (result.RequeueAfter == 1) != (c.stored != nil) {
			t.Errorf("%s: did %q, %+v, %v", name, did, result, err)
		}
		if c.want == "run" && !slices.Equal(seen, c.finalizers) {
			t.Errorf("%s: the object that is run has finalizers %v", name, seen)
		}
	}
}

// What was decided on an object as it was before our own write is wrong.
func TestReconcile_CacheBehindOurOwnStatus_NothingIsDone(t *testing.T) {
	pod := written("a", "")
	server := fake.NewClientBuilder().WithObjects(pod).WithStatusSubresource(pod).Build()
	cached := &corev1.Pod{}
	if err := server.Get(t.Context(), writtenName, cached); err != nil {
		t.Fatal(err)
	}
	base := &loop.Base{Live: server, Metrics: metrics.Default(), Client: interceptor.NewClient(server, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			cached.DeepCopyInto(into.(*corev1.Pod))
			return nil
		},
	})}
	base.Init(v1alpha1.KindSeiNode)
	runs := 0
	run := func(ctx context.Context, pod *corev1.Pod) (ctrl.Result, error) {
		runs++
		snapshot := base.Status.New(pod)
		pod.Status.Reason = "changed"
		_, err := snapshot.Patch(ctx, server, pod)
		return ctrl.Result{}, err
	}
	for range 2 {
		result, err := loop.Reconcile(t.Context(), base, ctrl.Request{NamespacedName: writtenName}, &corev1.Pod{}, loop.Actions[*corev1.Pod]{Run: run, Finalize: run})
		if err != nil {
			t.Fatalf("%+v, %v", result, err)
		}
	}
	if runs != 1 {
		t.Errorf("it was acted on %d times, want once: the cache does not show what the first one wrote", runs)
	}
}

func TestFind_AbsentIsNil(t *testing.T) {
	server := fake.NewClientBuilder().WithObjects(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n"}}).Build()
	if pod, err := loop.Find(t.Context(), server, "ns", "n", &corev1.Pod{}); err != nil || pod == nil || pod.Name != "n" {
		t.Errorf("%+v, %v, want no error, not nil and Name %q", pod, err, "n")
	}
	if pod, err := loop.Find(t.Context(), server, "ns", "other", &corev1.Pod{}); err != nil || pod != nil {
		t.Errorf("%+v, %v, want no error and nil", pod, err)
	}
}
