package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// perObject names the gauges that have series per object of a kind.
var perObject = map[string][]string{
	seiv1.KindSeiNode: {NameNodePhase, NameNodeReady, NameSidecarReady, NameKeyReserved, NameResultsDiverged, NameSnapshotsPublished,
		NameUpgradeHeight, NameUpgradeEstimated, NameUpgradeHalted, NameUpgradeImageMissing, NameUpgradeFailed},
	seiv1.KindSeiNodeDeployment: {NameFleetPhase, NameFleetNodes, NameFleetUpgradeNodes, NameFleetStalled, NameFleetRolloutFailed},
	seiv1.KindSeiNodeTask:       {NameNodeTaskPhase},
}

// census knows which namespaces still hold objects. Counters by namespace outlive
// single objects, but not the last one: namespaces come and go too.
type census struct {
	mu      sync.Mutex
	objects map[string]map[objectKey]struct{}
}

// add reports whether the object is new.
func (c *census) add(key objectKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.objects == nil {
		c.objects = map[string]map[objectKey]struct{}{}
	}
	if c.objects[key.namespace] == nil {
		c.objects[key.namespace] = map[objectKey]struct{}{}
	}
	_, known := c.objects[key.namespace][key]
	c.objects[key.namespace][key] = struct{}{}
	return !known
}

// remove calls emptied if the object was the last of its namespace, before another
// can be added.
func (c *census) remove(key objectKey, emptied func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	here, known := c.objects[key.namespace]
	if !known {
		return
	}
	delete(here, key)
	if len(here) == 0 {
		delete(c.objects, key.namespace)
		emptied()
	}
}

// meet gives the counters of an object that is seen for the first time their zeros: a
// rate cannot tell the first of something from a series that was not there before.
func (m *Metrics) meet(key objectKey) {
	if !m.census.add(key) {
		return
	}
	for _, result := range resultValues {
		m.counters[statusPatches[key.kind]].WithLabelValues(key.namespace, key.name, result)
	}
}

// Forget removes every series of a deleted object, and with the last object of a
// namespace those of the namespace.
func (m *Metrics) Forget(kind, namespace, name string) {
	key := objectKey{kind, namespace, name}
	labels := prometheus.Labels{labelNamespace: namespace, labelName: name}
	if counter, ok := m.counters[statusPatches[kind]]; ok {
		counter.DeletePartialMatch(labels)
	}
	for _, gauge := range perObject[kind] {
		m.gauges[gauge].DeletePartialMatch(labels)
	}
	m.planFailed(key, "")
	for _, a := range m.ages {
		a.unset(key)
	}
	m.census.remove(key, func() { m.forgetNamespace(namespace) })
}

func (m *Metrics) forgetNamespace(namespace string) {
	labels := prometheus.Labels{labelNamespace: namespace}
	for _, d := range Declarations() {
		switch {
		case !d.Namespaced() || d.PerObject():
		case d.Type == Counter:
			m.counters[d.Name].DeletePartialMatch(labels)
		case d.Type == Histogram:
			m.histograms[d.Name].DeletePartialMatch(labels)
		}
	}
}
