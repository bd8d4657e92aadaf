package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type objectKey struct{ kind, namespace, name string }

// ages is a collector: an age that were set at reconciles would not grow
// between them, which is just when it matters.
type ages struct {
	desc *prometheus.Desc
	now  func() time.Time

	mu      sync.Mutex
	objects map[objectKey]aged
}

type aged struct {
	since  time.Time
	labels []string
}

func newAges(d Declaration, now func() time.Time) *ages {
	return &ages{desc: prometheus.NewDesc(d.Name, d.Help, d.Labels, nil), now: now, objects: map[objectKey]aged{}}
}

// since gives an object its one series; without a moment it has none.
func (a *ages) since(key objectKey, moment *metav1.Time, labels ...string) {
	if moment == nil {
		a.unset(key)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.objects[key] = aged{since: moment.Time, labels: labels}
}

func (a *ages) unset(key objectKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.objects, key)
}

// Describe implements prometheus.Collector.
func (a *ages) Describe(ch chan<- *prometheus.Desc) { ch <- a.desc }

// Collect implements prometheus.Collector.
func (a *ages) Collect(ch chan<- prometheus.Metric) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	for _, object := range a.objects {
		age := max(now.Sub(object.since), 0).Seconds()
		ch <- prometheus.MustNewConstMetric(a.desc, prometheus.GaugeValue, age, object.labels...)
	}
}
