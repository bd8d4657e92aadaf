package metrics

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/definitions"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// Metrics is where the operator reports to. All methods may be called
// concurrently.
type Metrics struct {
	counters   map[string]*prometheus.CounterVec
	gauges     map[string]*prometheus.GaugeVec
	histograms map[string]*prometheus.HistogramVec
	ages       map[string]*ages
	census     census
}

// Default is the process's Metrics, in the registry that the manager serves.
var Default = sync.OnceValue(func() *Metrics {
	m, err := New(ctrlmetrics.Registry, time.Now)
	if err != nil {
		panic(err) //nolint:forbidigo // a name is declared twice: every test of this package fails too
	}
	return m
})

// New registers all metrics. now is the clock of ages.
func New(registry prometheus.Registerer, now func() time.Time) (*Metrics, error) {
	m := &Metrics{
		counters:   map[string]*prometheus.CounterVec{},
		gauges:     map[string]*prometheus.GaugeVec{},
		histograms: map[string]*prometheus.HistogramVec{},
		ages:       map[string]*ages{},
	}
	for _, d := range Declarations() {
		if err := registry.Register(m.collector(d, now)); err != nil {
			return nil, fmt.Errorf("registering metric %s: %w", d.Name, err)
		}
	}
	return m, nil
}

func (m *Metrics) collector(d Declaration, now func() time.Time) prometheus.Collector {
	switch {
	case d.Age:
		m.ages[d.Name] = newAges(d, now)
		return m.ages[d.Name]
	case d.Type == Counter:
		m.counters[d.Name] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
		return m.counters[d.Name]
	case d.Type == Gauge:
		m.gauges[d.Name] = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.Name, Help: d.Help}, d.Labels)
		return m.gauges[d.Name]
	default:
		m.histograms[d.Name] = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: d.Buckets}, d.Labels)
		return m.histograms[d.Name]
	}
}

// statusPatches names the counter of each kind.
var statusPatches = map[string]string{
	seiv1.KindSeiNode:           NameNodeStatusPatches,
	seiv1.KindSeiNodeDeployment: NameDeploymentStatusPatches,
	seiv1.KindSeiNodeTask:       NameNodeTaskStatusPatches,
}

// StatusPatches returns the function that counts status patches of a kind, for
// statuspatch.NewWriter. It panics on a kind that is not ours, at start-up.
func (m *Metrics) StatusPatches(kind string) statuspatch.CountFunc {
	name, ok := statusPatches[kind]
	if !ok {
		panic("metrics: no status patches are counted for kind " + kind) //nolint:forbidigo // a mistake in the wiring
	}
	counter := m.counters[name]
	return func(namespace, name string, result statuspatch.Result) {
		counter.WithLabelValues(namespace, name, string(result)).Inc()
	}
}

// ProbeOutcome is what a sidecar's health probe found.
type ProbeOutcome string

// The outcomes of a health probe.
const (
	ProbeReady       ProbeOutcome = "ready"
	ProbeNotReady    ProbeOutcome = "not_ready"
	ProbeUnreachable ProbeOutcome = "unreachable"
)

// SidecarProbed counts a health probe.
func (m *Metrics) SidecarProbed(namespace string, outcome ProbeOutcome) {
	m.counters[NameSidecarProbes].WithLabelValues(namespace, string(outcome)).Inc()
}

// TokenResult is the outcome of a request for a token.
type TokenResult string

// The results of a request for a token.
const (
	TokenGranted TokenResult = "granted"
	TokenFailed  TokenResult = "failed"
)

// TokenRequested counts a request to the API server for a sidecar's token.
func (m *Metrics) TokenRequested(result TokenResult) {
	m.counters[NameTokenRequests].WithLabelValues(string(result)).Inc()
}

const (
	fieldMissing = "missing"
	fieldUnknown = "unknown"
)

// DefinitionsCompared says how the cluster's CRDs differ from those of this operator.
func (m *Metrics) DefinitionsCompared(skews []definitions.Skew) {
	for _, s := range skews {
		m.gauges[NameDefinitionFields].WithLabelValues(s.Kind, fieldMissing).Set(float64(len(s.Missing)))
		m.gauges[NameDefinitionFields].WithLabelValues(s.Kind, fieldUnknown).Set(float64(len(s.Unknown)))
	}
}

// SetBuildInfo says what is running.
func (m *Metrics) SetBuildInfo(version, commit string) {
	gauge := m.gauges[NameBuildInfo]
	gauge.Reset()
	gauge.WithLabelValues(version, commit, runtime.Version()).Set(1)
}
