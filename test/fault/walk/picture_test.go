package walk

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/test/envtest/world"
	"github.com/sei-operator/sei-operator/test/fault/internal/describe"
)

// facts is what there is: the lines that describe each object and each node.
type facts map[string][]string

// picture is what there is in the walk's world.
func (w *walk) picture() facts { return pictureOf(w.World) }

func pictureOf(w *world.World) facts {
	w.T.Helper()
	// A StatefulSet that was made again after somebody had deleted it was applied by no plan.
	found, names := facts{}, describe.NewNames(w.NS, annotationForced, render.AnnotationPlan)
	for _, kind := range describe.Kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		list.SetKind(kind.Kind + "List")
		if err := w.Client.List(w.T.Context(), list, client.InNamespace(w.NS)); err != nil {
			w.T.Fatal(err)
		}
		for _, item := range list.Items {
			if strings.HasPrefix(item.GetName(), "kube-") {
				continue
			}
			dropHistory(&item)
			found[kind.Kind+" "+names.Name(&item)] = names.Describe(&item)
			if kind.Kind == v1alpha1.KindSeiNode {
				found["what runs of "+item.GetName()] = runsOf(w, item.GetName())
			}
		}
	}
	return found
}

// dropHistory takes out how things came about: the end of a walk has another past than a new object.
func dropHistory(obj *unstructured.Unstructured) {
	if obj.GetKind() != v1alpha1.KindSeiNode && obj.GetKind() != v1alpha1.KindSeiNodeDeployment {
		return
	}
	unstructured.RemoveNestedField(obj.Object, "status", "lastPlan")
	conditions, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "status", "conditions")
	list, _ := conditions.([]any)
	for _, c := range list {
		fields, _ := c.(map[string]any)
		switch fields["type"] {
		case v1alpha1.ConditionPlanInProgress: // names the last plan
			delete(fields, "message")
		case v1alpha1.ConditionRolloutInProgress: // tells whether there ever was a rollout
			if fields["reason"] == v1alpha1.ReasonRolloutComplete {
				fields["reason"], fields["message"] = v1alpha1.ReasonRolloutNotStarted, ""
			}
		case v1alpha1.ConditionNodeUpdateInProgress: // tells whether there ever was an update
			if fields["reason"] == v1alpha1.ReasonUpdateComplete {
				fields["reason"] = v1alpha1.ReasonUpToDate
			}
		}
	}
}

// runsOf is what is on a node's volume and runs. How often seid was started and whether the first state
// came by state sync is the past.
func runsOf(w *world.World, name string) []string {
	key := w.Key(name)
	home, process, disk := w.Sidecars.Home(key), w.Sidecars.Process(key), w.Sidecars.Disk(key)
	return []string{
		fmt.Sprint("stage ", home.Stage), fmt.Sprint("seid ", process.State, " ", process.Version), fmt.Sprint("gate open ", w.Sidecars.Ready(key)),
		fmt.Sprint("mode ", disk.Mode), fmt.Sprint("overrides ", disk.Overrides), fmt.Sprint("restart due ", process.RestartDue),
		fmt.Sprint("runs what is on disk ", process.ConfigHash == home.ConfigHash), fmt.Sprint("signs with ", process.ConsensusAddress),
	}
}

// difference shows the lines that only one has.
func difference(want, is facts) string {
	var b strings.Builder
	show := func(sign string, of, without facts) {
		for name, lines := range of {
			other, there := without[name]
			if !there {
				fmt.Fprintf(&b, "%s %s\n", sign, name)
				continue
			}
			for _, line := range lines {
				if !slices.Contains(other, line) {
					fmt.Fprintf(&b, "%s %s %s\n", sign, name, line)
				}
			}
		}
	}
	show("-", want, is)
	show("+", is, want)
	lines := strings.SplitAfter(b.String(), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}
