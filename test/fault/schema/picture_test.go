package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/fault/internal/describe"
)

// objects is a picture of the world.
func (s *stage) objects() map[string][]string {
	s.T.Helper()
	names, found := describe.NewNames(s.NS, annotationForced), map[string][]string{}
	for _, kind := range describe.Kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		list.SetKind(kind.Kind + "List")
		if err := s.Client.List(s.T.Context(), list, client.InNamespace(s.NS)); err != nil {
			s.T.Fatal(err)
		}
		for _, item := range list.Items {
			if strings.HasPrefix(item.GetName(), "kube-") {
				continue
			}
			name := kind.Kind + " " + names.Name(&item)
			withoutHistory(&item)
			found[name] = names.Describe(&item)
			if kind.Kind == v1alpha1.KindSeiNode {
				found[name] = append(found[name], s.volume(item.GetName())...)
			}
		}
	}
	return found
}

// difference shows the lines in which two pictures differ. Of an object that only one has, the name
// will do.
func difference(wanted, is map[string][]string) string {
	var text strings.Builder
	show := func(sign string, of, without map[string][]string) {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			other, there := without[name]
			if !there {
				fmt.Fprintf(&text, "%s %s\n", sign, name)
				continue
			}
			for _, line := range of[name] {
				if !slices.Contains(other, line) {
					fmt.Fprintf(&text, "%s %s %s\n", sign, name, line)
				}
			}
		}
	}
	show("-", wanted, is)
	show("+", is, wanted)
	return text.String()
}

// volume is what no object reports a node.
func (s *stage) volume(node string) []string {
	key := s.Key(node)
	home, process, disk := s.Sidecars.Home(key), s.Sidecars.Process(key), s.Sidecars.Disk(key)
	return []string{
		fmt.Sprintf("volume: stage %s, mode %s, state sync %t, overrides %v", home.Stage, disk.Mode, disk.StateSync, disk.Overrides),
		fmt.Sprintf("process: %s, gate open %t, restart due for %v", process.State, s.Sidecars.Ready(key), process.RestartDue),
	}
}

// withoutHistory takes out of an object how it came to its state.
func withoutHistory(obj *unstructured.Unstructured) {
	unstructured.RemoveNestedField(obj.Object, "status", "lastPlan")
	list, found, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	if !found {
		return
	}
	for _, item := range list {
		c, _ := item.(map[string]any)
		switch c["type"] {
		case v1alpha1.ConditionPlanInProgress, v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ConditionRolloutInProgress:
			// They report the last plan, unless it has failed.
			if reason, _ := c["reason"].(string); !strings.HasSuffix(reason, "Failed") && reason != v1alpha1.ReasonPendingRestart {
				delete(c, "reason")
				delete(c, "message")
			}
		}
	}
	_ = unstructured.SetNestedSlice(obj.Object, list, "status", "conditions")
}

// steady is a picture that does not change any more.
func (s *stage) steady() map[string][]string {
	s.T.Helper()
	last := s.objects()
	s.Eventually("a state that lasts", func() bool {
		before := last
		s.reconcile(1)
		last = s.objects()
		return cmp.Equal(before, last)
	})
	return last
}

// becomes wants the world to be as in a picture, sooner or later.
func (s *stage) becomes(what string, want map[string][]string) {
	s.T.Helper()
	began := time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		is := s.objects()
		if cmp.Equal(want, is) {
			return
		}
		if time.Since(began) > envtest.WaitTimeout {
			s.T.Fatalf("%s (- wanted, + is):\n%s", what, difference(want, is))
		}
	}
}
