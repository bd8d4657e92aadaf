package loop_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/internal/controller/loop"
)

var writtenName = types.NamespacedName{Namespace: "ns", Name: "n"}

func written(uid types.UID, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: uid, ResourceVersion: version}}
}

func leaving(uid types.UID, version string) *corev1.Pod {
	pod := written(uid, version)
	pod.DeletionTimestamp = new(metav1.Now())
	return pod
}

// behind asks about the pod, which the cache has as seen.
func behind(t *testing.T, w *loop.Writes, seen client.Object) bool {
	t.Helper()
	behind, err := w.Behind(t.Context(), &corev1.Pod{}, writtenName, seen)
	if err != nil {
		t.Fatal(err)
	}
	return behind
}

func TestBehind_UntilTheCacheShowsOurLastWrite(t *testing.T) {
	wrote := func(w *loop.Writes) { w.Wrote(written("a", "10")) }
	deleted := func(w *loop.Writes) { w.Deleted(written("a", "10")) }
	for name, c := range map[string]struct {
		did  func(*loop.Writes)
		seen client.Object
		want bool
	}{
		"nothing was written, nothing is there":      {func(*loop.Writes) {}, nil, false},
		"nothing was written":                        {func(*loop.Writes) {}, written("a", "1"), false},
		"written and not there yet":                  {wrote, nil, true},
		"written, an older version is there":         {wrote, written("a", "9"), true},
		"written, the version itself is there":       {wrote, written("a", "10"), false},
		"written, a newer version is there":          {wrote, written("a", "11"), false},
		"written, the one it took the place of":      {wrote, written("z", "9"), true},
		"written, a later one of the name":           {wrote, written("b", "11"), false},
		"written, a version that cannot be compared": {wrote, written("a", "opaque"), false},
		"deleted and gone":                           {deleted, nil, false},
		"deleted and still there":                    {deleted, written("a", "10"), true},
		"deleted and on its way out":                 {deleted, leaving("a", "11"), false},
		"deleted, and another one has the name":      {deleted, written("b", "11"), false},
		"deleted after it was written":               {func(w *loop.Writes) { wrote(w); deleted(w) }, nil, false},
		"made again after it was deleted":            {func(w *loop.Writes) { deleted(w); w.Wrote(written("b", "12")) }, nil, true},
		"another kind was written":                   {func(w *loop.Writes) { w.Wrote(&corev1.Service{ObjectMeta: written("a", "10").ObjectMeta}) }, nil, false},
	} {
		writes := &loop.Writes{Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0))}
		c.did(writes)
		for _, again := range []string{"", ", asked again"} {
			if got := behind(t, writes, c.seen); got != c.want {
				t.Errorf("%s%s: behind %t, want %t", name, again, got, c.want)
			}
		}
	}
}

func TestBehind_OnceSeen_OlderViewsAreNotDoubted(t *testing.T) {
	writes := &loop.Writes{Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0))}
	writes.Wrote(written("a", "10"))
	if behind(t, writes, written("a", "10")) || behind(t, writes, nil) {
		t.Error("a pod that was deleted by somebody after it was seen counts as not there yet")
	}
}

// server is an API server that has one pod, or none; asked counts how often it was asked.
type server struct {
	client.Reader
	has   *corev1.Pod
	err   error
	asked int
}

func (s *server) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.asked++
	if s.err != nil {
		return s.err
	}
	if s.has == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "n")
	}
	s.has.DeepCopyInto(into.(*corev1.Pod))
	return nil
}

// N15, N17: a cache that is behind for long is believed if the API server says the same, and is not
// if the write is there: a watch may be late by minutes.
func TestBehind_WriteThatDoesNotShow_TheAPIServerIsAsked(t *testing.T) {
	wrote := func(w *loop.Writes) { w.Wrote(written("a", "10")) }
	deleted := func(w *loop.Writes) { w.Deleted(written("a", "10")) }
	for name, c := range map[string]struct {
		did    func(*loop.Writes)
		seen   client.Object
		stored *corev1.Pod
		want   bool
	}{
		"written, the watch is late":                       {wrote, written("a", "3"), written("a", "10"), true},
		"written, the watch is late, others wrote too":     {wrote, written("a", "3"), written("a", "12"), true},
		"made, the watch is late":                          {wrote, nil, written("a", "10"), true},
		"written, the storage was restored":                {wrote, written("a", "3"), written("a", "3"), false},
		"made, the storage was restored":                   {wrote, nil, nil, false},
		"made and deleted by somebody before it was shown": {wrote, nil, nil, false},
		"deleted, the watch is late":                       {deleted, written("a", "10"), nil, true},
		"deleted and on its way out, the watch is late":    {deleted, written("a", "10"), leaving("a", "11"), true},
		"deleted, the storage was restored":                {deleted, written("a", "3"), written("a", "3"), false},
	} {
		clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
		live := &server{has: c.stored}
		writes := &loop.Writes{Clock: clock, Live: live}
		c.did(writes)
		clock.SetTime(time.Unix(2, -1))
		if !behind(t, writes, c.seen) || live.asked != 0 {
			t.Errorf("%s: given up or asked about too early", name)
		}
		for second := range 60 {
			clock.SetTime(time.Unix(int64(2+second), 0))
			if got := behind(t, writes, c.seen); got != c.want {
				t.Fatalf("%s: behind %t after %d s", name, got, 2+second)
			}
		}
		if asked := map[bool]int{true: 30, false: 1}[c.want]; live.asked != asked {
			t.Errorf("%s: the API server was asked %d times in a minute, want %d", name, live.asked, asked)
		}
	}
}

func TestBehind_NoAnswer_DecidesNothing(t *testing.T) {
	clock, broken := clocktesting.NewFakePassiveClock(time.Unix(0, 0)), errors.New("broken")
	live := &server{err: broken}
	writes := &loop.Writes{Clock: clock, Live: live}
	writes.Wrote(written("a", "10"))
	clock.SetTime(time.Unix(2, 0))
	if got, err := writes.Behind(t.Context(), &corev1.Pod{}, writtenName, nil); !got || !errors.Is(err, broken) {
		t.Errorf("behind %t, %v", got, err)
	}
	live.err, live.has = nil, written("a", "10")
	if !behind(t, writes, nil) {
		t.Error("the write was forgotten when nobody answered")
	}
}

func TestForget_WhateverTheKind(t *testing.T) {
	writes := &loop.Writes{Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0))}
	writes.Wrote(written("a", "10"))
	writes.Wrote(&corev1.Service{ObjectMeta: written("b", "10").ObjectMeta})
	other := written("c", "10")
	other.Name = "other"
	writes.Wrote(other)
	writes.Forget(func(name types.NamespacedName) bool { return name == writtenName })
	for _, c := range []struct {
		kind client.Object
		name string
		want bool
	}{{&corev1.Pod{}, "n", false}, {&corev1.Service{}, "n", false}, {&corev1.Pod{}, "other", true}} {
		if got, err := writes.Behind(t.Context(), c.kind, types.NamespacedName{Namespace: "ns", Name: c.name}, nil); got != c.want || err != nil {
			t.Errorf("%T %s is waited for: %t, %v", c.kind, c.name, got, err)
		}
	}
}
