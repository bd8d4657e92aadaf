package schema

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
	"github.com/sei-operator/sei-operator/test/fault/internal/describe"
)

// stage is a world with an object of a base.
type stage struct {
	*world.World

	base base
	// arranged are the objects that were there before, by kind and name.
	arranged map[string][]string
}

func newStage(t *testing.T, b base) *stage {
	t.Helper()
	s := &stage{World: world.New(t), base: b}
	s.Platform.Peers.Label.Namespaces = peerNamespaces
	s.StartOperator()
	arrange(s.World)
	t.Cleanup(s.forget)
	s.arranged = s.objects()
	return s
}

// forget takes the world's series out of the metrics, which all worlds share.
func (s *stage) forget() {
	metrics.Default().Forget(s.base.kind, s.NS, s.base.objectName())
}

func (s *stage) empty() *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(s.base.kind))
	obj.SetName(s.base.objectName())
	obj.SetNamespace(s.NS)
	return obj
}

// make creates the object with a spec.
func (s *stage) make(spec map[string]any) {
	s.T.Helper()
	obj := s.empty()
	obj.Object["spec"] = runtime.DeepCopyJSON(spec)
	s.Create(obj)
}

// change gives the object another spec, or only asks what would become of that.
func (s *stage) change(spec map[string]any, try bool) error {
	opts := &client.UpdateOptions{Raw: &metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict}}
	if try {
		opts.DryRun = []string{metav1.DryRunAll}
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		obj := s.empty()
		if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
		obj.Object["spec"] = runtime.DeepCopyJSON(spec)
		return s.Client.Update(s.T.Context(), obj, opts)
	})
}

// settle waits until the object runs its spec, or, if that is enough, until its conditions name one of
// some words.
func (s *stage) settle(orName ...string) (reported string) {
	s.T.Helper()
	began := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		is, err := look(s.T.Context(), s.World, s.base)
		if err != nil {
			s.T.Fatal(err)
		}
		if is.settled {
			return ""
		}
		for _, problem := range is.problems {
			if slices.ContainsFunc(orName, func(word string) bool { return strings.Contains(problem, word) }) {
				return problem
			}
		}
		if time.Since(began) > envtest.WaitTimeout {
			s.T.Fatalf("the spec is neither in force nor is a problem with %q reported:\n%s", orName, strings.Join(is.problems, "\n"))
		}
	}
}

// clear removes the object and all that came of it.
func (s *stage) clear() {
	s.T.Helper()
	s.Delete(s.empty())
	s.Eventually("the object to go", func() bool {
		obj := s.empty()
		return client.IgnoreNotFound(s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(obj), obj)) == nil && obj.GetUID() == ""
	})
	s.Eventually("what came of it to go", func() bool {
		left := s.leftovers()
		for _, obj := range left {
			if err := client.IgnoreNotFound(s.Client.Delete(s.T.Context(), obj)); err != nil {
				s.T.Fatal(err)
			}
		}
		return len(left) == 0
	})
}

func (s *stage) leftovers() []client.Object {
	s.T.Helper()
	var left []client.Object
	for _, kind := range describe.Kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		list.Kind += "List"
		if err := s.Client.List(s.T.Context(), list, client.InNamespace(s.NS)); err != nil {
			s.T.Fatal(err)
		}
		for _, item := range list.Items {
			if _, known := s.arranged[kind.Kind+" "+item.Name]; !known && !strings.HasPrefix(item.Name, "kube-") {
				item.SetGroupVersionKind(kind)
				left = append(left, &item)
			}
		}
	}
	return left
}
