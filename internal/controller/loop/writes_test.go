package loop_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
			if got := writes.Behind(&corev1.Pod{}, writtenName, c.seen); got != c.want {
				t.Errorf("%s%s: behind %t, want %t", name, again, got, c.want)
			}
		}
	}
}

func TestBehind_OnceSeen_OlderViewsAreNotDoubted(t *testing.T) {
	writes := &loop.Writes{Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0))}
	writes.Wrote(written("a", "10"))
	if writes.Behind(&corev1.Pod{}, writtenName, written("a", "10")) || writes.Behind(&corev1.Pod{}, writtenName, nil) {
		t.Error("a pod that was deleted by somebody after it was seen counts as not there yet")
	}
}

// N17: versions that go back are believed in the end.
func TestBehind_WriteThatNeverShows_IsGivenUp(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	writes := &loop.Writes{Clock: clock}
	for name, seen := range map[string]client.Object{"older": written("a", "3"), "absent": nil} {
		writes.Wrote(written("a", "10"))
		clock.SetTime(clock.Now().Add(10*time.Second - time.Nanosecond))
		if !writes.Behind(&corev1.Pod{}, writtenName, seen) {
			t.Errorf("%s: given up too early", name)
		}
		clock.SetTime(clock.Now().Add(time.Nanosecond))
		if writes.Behind(&corev1.Pod{}, writtenName, seen) {
			t.Errorf("%s: still waited for after ten seconds", name)
		}
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
	if writes.Behind(&corev1.Pod{}, writtenName, nil) || writes.Behind(&corev1.Service{}, writtenName, nil) {
		t.Error("a name that was forgotten is waited for")
	}
	if !writes.Behind(&corev1.Pod{}, types.NamespacedName{Namespace: "ns", Name: "other"}, nil) {
		t.Error("another name was forgotten too")
	}
}
