package loop_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/sei-operator/sei-operator/internal/controller/loop"
)

func TestAskedForChange_LetsThroughWhatPeopleDo(t *testing.T) {
	old := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Generation: 1, Finalizers: []string{"f"}}}
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"a status write":    {func(p *corev1.Pod) { p.Status.Phase, p.ResourceVersion = corev1.PodRunning, "2" }, false},
		"a finalizer":       {func(p *corev1.Pod) { p.Finalizers = nil }, false},
		"a changed spec":    {func(p *corev1.Pod) { p.Generation = 2 }, true},
		"an annotation":     {func(p *corev1.Pod) { p.Annotations = map[string]string{"sei.io/retry": "1"} }, true},
		"a deletion begins": {func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }, true},
	} {
		changed := old.DeepCopy()
		c.change(changed)
		if got := loop.AskedForChange().Update(event.UpdateEvent{ObjectOld: &old, ObjectNew: changed}); got != c.want {
			t.Errorf("%s wakes: %v", name, got)
		}
	}
	if !loop.AskedForChange().Create(event.CreateEvent{Object: &old}) || !loop.AskedForChange().Delete(event.DeleteEvent{Object: &old}) {
		t.Error("a new or a deleted object does not wake")
	}
}

func TestNamespaceEnds_OneSuchAnswerWillDo(t *testing.T) {
	resource, broken := schema.GroupResource{Resource: "statefulsets"}, errors.New("broken")
	forbidden := apierrors.NewForbidden(resource, "n", broken)
	ends := apierrors.NewForbidden(resource, "n", broken)
	ends.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	missing := apierrors.NewNotFound(resource, "n")
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no error":                  {nil, false},
		"the answer":                {ends, true},
		"wrapped":                   {fmt.Errorf("applying: %w", ends), true},
		"after another answer":      {errors.Join(nil, missing, fmt.Errorf("applying: %w", ends)), true},
		"among others, and wrapped": {fmt.Errorf("acting: %w", errors.Join(broken, errors.Join(missing, ends))), true},
		"forbidden by somebody":     {forbidden, false},
		"others":                    {errors.Join(broken, missing, forbidden), false},
	} {
		if got := loop.NamespaceEnds(c.err); got != c.want {
			t.Errorf("%s: %t, want %v", name, got, c.want)
		}
	}
}

func TestAwaitDeletion_SaysNothingAloudAndComesBackOnlyWhenWoken(t *testing.T) {
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: 0})
	result, err := loop.AwaitDeletion(log.IntoContext(t.Context(), logger), errors.New("refused"))
	if err != nil || !result.IsZero() || len(lines) > 0 {
		t.Errorf("the pass ends with %+v, %v and %q", result, err, lines)
	}
}

func TestConflictIsRetry_OnlyRealErrorsAreErrors(t *testing.T) {
	resource, broken := schema.GroupResource{Resource: "seinodes"}, errors.New("broken")
	for _, c := range []struct {
		err, want error
		again     time.Duration
	}{
		{err: apierrors.NewConflict(resource, "n", broken), again: loop.StaleInterval},
		{err: apierrors.NewNotFound(resource, "n")},
		{err: broken, want: broken},
		{},
	} {
		result, err := loop.ConflictIsRetry(c.err)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || result.RequeueAfter != c.again {
			t.Errorf("%v ends with %+v, %v", c.err, result, err)
		}
	}
}
