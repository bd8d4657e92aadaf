package fleet

import (
	"context"
	"fmt"
	"time"

	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// patches reads the counter of status patches from the registry that /metrics serves.
func (w *world) patches(name string, result statuspatch.Result) float64 {
	w.t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != metrics.NameDeploymentStatusPatches {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["namespace"] == w.ns && labels["name"] == name && labels["result"] == string(result) {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// forceReconcile makes the operator look at a fleet by an annotation that means
// nothing, and returns when the look is over.
func (w *world) forceReconcile(name string, i int) {
	w.t.Helper()
	seen := w.patches(name, statuspatch.Noop)
	w.edit(name, func(s *v1alpha1.SeiNodeDeployment) { s.Annotations = map[string]string{"forced": fmt.Sprint(i)} })
	w.eventually("another reconcile", func() bool { return w.patches(name, statuspatch.Noop) > seen })
}

// eventually waits for something that no watch tells of.
func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), envtest.WaitTimeout)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			w.t.Fatalf("waiting for %s: %v", what, ctx.Err())
		case <-tick.C:
		}
	}
}

// forceWrite makes the operator look at a fleet once, whatever comes of it.
func (w *world) forceWrite(name string) {
	w.t.Helper()
	count := func() float64 { return w.patches(name, statuspatch.Noop) + w.patches(name, statuspatch.Changed) }
	seen := count()
	w.edit(name, func(s *v1alpha1.SeiNodeDeployment) { s.Annotations = map[string]string{"look": time.Now().String()} })
	w.eventually("another reconcile", func() bool { return count() > seen })
}
