package observability

import (
	"maps"
	"slices"
	"strings"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// checkEvents holds the events of the run, as the API server has them, against the
// catalogue: type and action, and the related object where there is one.
func checkEvents(w *world.World) {
	w.T.Helper()
	catalogue := map[string]events.Entry{}
	for _, e := range events.Catalogue() {
		catalogue[string(e.Reason)] = e
	}
	expected := []events.Reason{
		events.PhaseChanged, events.PlanFailed, events.UpdateStarted, events.UpdateComplete, events.ImagePullFailed,
		events.RolloutStarted, events.RolloutStalled, events.RolloutSuperseded, events.RolloutComplete,
	}
	told := map[string]bool{}
	envtest.WaitForList(w.T, w.Env, &eventsv1.EventList{}, func(list *eventsv1.EventList) bool {
		for i := range list.Items {
			told[list.Items[i].Reason] = true
		}
		return !slices.ContainsFunc(expected, func(r events.Reason) bool { return !told[string(r)] })
	}, client.InNamespace(w.NS))

	list := &eventsv1.EventList{}
	if err := w.Client.List(w.T.Context(), list, client.InNamespace(w.NS)); err != nil {
		w.T.Fatal(err)
	}
	for i := range list.Items {
		e := &list.Items[i]
		if e.ReportingController != "sei-operator" {
			continue // the StatefulSet controller reports its own work
		}
		entry, known := catalogue[e.Reason]
		if !known || e.Action != entry.Action || e.Type != entry.Type || e.Note == "" {
			w.T.Errorf("event %s: type %s, action %q, note %q; the catalogue has %+v", e.Reason, e.Type, e.Action, e.Note, entry)
		}
		related := ""
		if e.Related != nil {
			related = e.Related.Kind
		}
		if !slices.Contains(strings.Split(entry.Related, " or "), related) {
			w.T.Errorf("event %s of %s %s is related to a %q, the catalogue says %q", e.Reason, e.Regarding.Kind, e.Regarding.Name, related, entry.Related)
		}
		if e.Regarding.Name == "val" && e.Reason != string(events.PhaseChanged) {
			w.T.Errorf("nothing is wrong with the validator, but it is told: %s %s", e.Reason, e.Note)
		}
		if e.Series != nil {
			w.T.Errorf("event %s of %s was told %d times; transitions are told once: %s", e.Reason, e.Regarding.Name, e.Series.Count, e.Note)
		}
	}
	w.T.Logf("events: %v", slices.Sorted(maps.Keys(told)))
}
