package observability

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/sei-operator/sei-operator/internal/metrics"
)

// sampler looks at the registry that /metrics serves again and again, and remembers every
// series of ours it has seen: some are there only for a moment.
type sampler struct {
	t    *testing.T
	stop func()

	mu       sync.Mutex
	seen     map[string]map[string]bool
	problems map[string]bool
}

// startSampler samples until the test ends or stop is called.
func startSampler(t *testing.T) *sampler {
	t.Helper()
	s := &sampler{t: t, seen: map[string]map[string]bool{}, problems: map[string]bool{}}
	done, ended := make(chan struct{}), make(chan struct{})
	s.stop = sync.OnceFunc(func() {
		close(done)
		<-ended
	})
	t.Cleanup(s.stop)
	go func() {
		defer close(ended)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.sample()
			case <-done:
				return
			}
		}
	}()
	return s
}

// gather are the families of ours that are there now, by name.
func gather(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Errorf("gathering: %v", err)
	}
	found := map[string]*dto.MetricFamily{}
	for _, f := range families {
		found[f.GetName()] = f
	}
	ours := map[string]*dto.MetricFamily{}
	for _, d := range metrics.Declarations() {
		if f := found[d.Name]; f != nil {
			ours[d.Name] = f
		}
	}
	return ours
}

func labelsOf(m *dto.Metric) map[string]string {
	labels := map[string]string{}
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	return labels
}

func (s *sampler) sample() {
	families := gather(s.t)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range metrics.Declarations() {
		for _, m := range families[d.Name].GetMetric() {
			labels := labelsOf(m)
			s.judge(d, labels)
			if s.seen[d.Name] == nil {
				s.seen[d.Name] = map[string]bool{}
			}
			s.seen[d.Name][fmt.Sprint(labels, value(m))] = true
		}
	}
}

// value is a gauge's value, if it is 0 or 1; the others differ from run to run.
func value(m *dto.Metric) string {
	if v := m.GetGauge().GetValue(); m.GetGauge() != nil && (v == 0 || v == 1) {
		return fmt.Sprint(v)
	}
	return ""
}

// judge notes labels and values that are not declared.
func (s *sampler) judge(d metrics.Declaration, labels map[string]string) {
	if got := slices.Sorted(maps.Keys(labels)); !slices.Equal(got, slices.Sorted(slices.Values(d.Labels))) {
		s.problems[fmt.Sprintf("%s has labels %v, declared are %v", d.Name, got, d.Labels)] = true
	}
	for label, possible := range d.Values {
		if !slices.Contains(possible, labels[label]) || labels[label] == "Other" {
			s.problems[fmt.Sprintf("%s has %s=%q, which is not declared", d.Name, label, labels[label])] = true
		}
	}
}

// saw reports whether a series was seen whose text holds all words.
func (s *sampler) saw(metric string, words ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for series := range s.seen[metric] {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(series, w) }) {
			return true
		}
	}
	return false
}

// report names what is declared and was never touched, and what is not declared.
func (s *sampler) report() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range metrics.Declarations() {
		if len(s.seen[d.Name]) == 0 {
			s.t.Errorf("%s is declared and was never touched", d.Name)
		}
	}
	for problem := range s.problems {
		s.t.Error(problem)
	}
}
