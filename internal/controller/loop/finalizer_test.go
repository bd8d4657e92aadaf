package loop_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/internal/controller/loop"
)

// Finalizers are a list that is written whole: one that somebody else has added since is not lost.
func TestEnsureFinalizer_ObjectHasChangedSince_IsNotWritten(t *testing.T) {
	stored := written("a", "")
	c := fake.NewClientBuilder().WithObjects(stored).Build()
	seen := &corev1.Pod{}
	if err := c.Get(t.Context(), writtenName, seen); err != nil {
		t.Fatal(err)
	}
	moved := seen.DeepCopy()
	moved.Finalizers = []string{"them/theirs"}
	if err := c.Update(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	if err := loop.EnsureFinalizer(t.Context(), c, seen, "us/ours"); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a conflict", err)
	}
	now := &corev1.Pod{}
	if err := c.Get(t.Context(), writtenName, now); err != nil || len(now.Finalizers) != 1 || now.Finalizers[0] != "them/theirs" {
		t.Errorf("finalizers %v, %v", now.Finalizers, err)
	}
}
