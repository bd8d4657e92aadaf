package loop_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// newCacheCheck is a check after a status write, and the pod as it was before that write. answer
// is what the API server says when it is asked; asked counts how often it was.
func newCacheCheck(t *testing.T, answer func(stored, before, into *corev1.Pod) error) (check *loop.CacheCheck, before *corev1.Pod, asked *int) {
	t.Helper()
	asked = new(int)
	before = written("a", "")
	server := fake.NewClientBuilder().WithObjects(before).WithStatusSubresource(before).Build()
	if err := server.Get(t.Context(), writtenName, before); err != nil {
		t.Fatal(err)
	}
	writer := statuspatch.NewWriter(nil)
	after := before.DeepCopy()
	snapshot := writer.New(after)
	after.Status.Reason = "changed"
	if _, err := snapshot.Patch(t.Context(), server, after); err != nil {
		t.Fatal(err)
	}
	live := interceptor.NewClient(server, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			*asked++
			return answer(after, before, into.(*corev1.Pod))
		},
	})
	return &loop.CacheCheck{Status: writer, Live: live, Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0))}, before, asked
}

// A cache that is late stays late however long it lasts, and the API server is asked every ten
// seconds, not at every look.
func TestStale_LateCache_IsNotBelieved(t *testing.T) {
	check, before, asked := newCacheCheck(t, func(stored, _, into *corev1.Pod) error {
		stored.DeepCopyInto(into)
		return nil
	})
	for range int(50 * time.Second / loop.StaleInterval) {
		if stale, err := check.Stale(t.Context(), before, &corev1.Pod{}); !stale || err != nil {
			t.Fatalf("stale %t, %v", stale, err)
		}
		check.Clock.(*clocktesting.FakePassiveClock).SetTime(check.Clock.Now().Add(loop.StaleInterval))
	}
	if *asked != 4 {
		t.Errorf("the API server was asked %d times in fifty seconds", *asked)
	}
}

// N17: a version that the API server has too is right, and the lost write is forgotten.
func TestStale_RestoredStorage_IsBelieved(t *testing.T) {
	check, before, asked := newCacheCheck(t, func(_, before, into *corev1.Pod) error {
		before.DeepCopyInto(into)
		return nil
	})
	for _, want := range []bool{true, false, false} {
		if stale, err := check.Stale(t.Context(), before, &corev1.Pod{}); stale != want || err != nil {
			t.Fatalf("stale %t, %v", stale, err)
		}
		check.Clock.(*clocktesting.FakePassiveClock).SetTime(check.Clock.Now().Add(10 * time.Second))
	}
	if *asked != 1 {
		t.Errorf("the API server was asked %d times", *asked)
	}
}

func TestStale_NoAnswer_DecidesNothing(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct{ answer, want error }{
		"gone":      {apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "n"), nil},
		"no answer": {broken, broken},
	} {
		check, before, _ := newCacheCheck(t, func(_, _, _ *corev1.Pod) error { return c.answer })
		_, _ = check.Stale(t.Context(), before, &corev1.Pod{})
		check.Clock.(*clocktesting.FakePassiveClock).SetTime(time.Unix(10, 0))
		if stale, err := check.Stale(t.Context(), before, &corev1.Pod{}); !stale || !errors.Is(err, c.want) {
			t.Errorf("%s: stale %t, %v", name, stale, err)
		}
	}
}

func TestCacheCheck_Forget_DropsTheWrite(t *testing.T) {
	check, before, _ := newCacheCheck(t, nil)
	check.Forget(writtenName)
	if stale, err := check.Stale(t.Context(), before, &corev1.Pod{}); stale || err != nil {
		t.Errorf("stale %t, %v", stale, err)
	}
}
