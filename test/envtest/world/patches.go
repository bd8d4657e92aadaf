package world

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// ForceReconcile makes the operator look at an object by an annotation that means nothing, and returns after a
// look that found nothing to write. One look can cover this edit and an earlier one that does need a write, so the
// object is touched again after each write.
func (w *World) ForceReconcile(metric, name string, obj client.Object) {
	w.T.Helper()
	touch := func() {
		Edit(w, name, obj, func(obj client.Object) {
			annotations := obj.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations["forced"] = strconv.FormatInt(time.Now().UnixNano(), 10)
			obj.SetAnnotations(annotations)
		})
	}
	idle, written := w.Patches(metric, name, statuspatch.Noop), w.Patches(metric, name, statuspatch.Changed)
	touch()
	w.Eventually("another reconcile", func() bool {
		if w.Patches(metric, name, statuspatch.Noop) > idle {
			return true
		}
		if now := w.Patches(metric, name, statuspatch.Changed); now > written {
			written = now
			touch()
		}
		return false
	})
}

// Patches reads a counter of status patches from the registry that /metrics serves.
func (w *World) Patches(metric, name string, result statuspatch.Result) float64 {
	w.T.Helper()
	counter, err := registered(metric)
	if err != nil {
		w.T.Fatal(err)
	}
	series := make(chan prometheus.Metric)
	go func() {
		defer close(series)
		counter.Collect(series)
	}()
	found := 0.0
	for s := range series {
		var value dto.Metric
		if err := s.Write(&value); err != nil {
			w.T.Errorf("reading %s: %v", metric, err)
			continue
		}
		labels := map[string]string{}
		for _, l := range value.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if labels["namespace"] == w.NS && labels["name"] == name && labels["result"] == string(result) {
			found = value.GetCounter().GetValue()
		}
	}
	return found
}

// counters are those that were looked up.
var counters sync.Map

// registered is a counter of the operator's by its name. Gathering all there is to find one takes a
// hundred times as long, and is done often.
func registered(name string) (prometheus.Collector, error) {
	if known, found := counters.Load(name); found {
		return known.(prometheus.Collector), nil
	}
	metrics.Default()
	all := metrics.Declarations()
	i := slices.IndexFunc(all, func(d metrics.Declaration) bool { return d.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no metric %s", name)
	}
	same := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: all[i].Help}, all[i].Labels)
	err := ctrlmetrics.Registry.Register(same)
	if is, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		counters.Store(name, is.ExistingCollector)
		return is.ExistingCollector, nil
	}
	return nil, fmt.Errorf("looking up metric %s: it is not registered: %w", name, err)
}
