package monitoring_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers the metrics of controllers
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/sidecar/look"
	"github.com/sei-operator/sei-operator/test/monitoring/promql"
)

// exported is a metric that an expression may name: its labels, and all values of
// those whose values are known.
type exported struct {
	labels []string
	values map[string][]string
}

// vocabulary is every metric there is, by name.
type vocabulary map[string]exported

// fromElsewhere are metrics that others export. Prometheus itself has up; the rest is
// of kube-state-metrics, whose label_ labels are those of the objects.
var fromElsewhere = vocabulary{
	"up": {},
	"kube_statefulset_status_current_revision": {labels: []string{"namespace", "statefulset", "revision", "cluster"}},
	"kube_statefulset_status_update_revision":  {labels: []string{"namespace", "statefulset", "revision", "cluster"}},
	"kube_statefulset_replicas":                {labels: []string{"namespace", "statefulset", "cluster"}},
	"kube_statefulset_status_replicas_updated": {labels: []string{"namespace", "statefulset", "cluster"}},
	"kube_statefulset_labels":                  {labels: []string{"namespace", "statefulset", "cluster", nodeLabel}},
}

// nodeLabel is how kube-state-metrics calls the label that all objects of a SeiNode have.
var nodeLabel = "label_" + regexp.MustCompile(`[^a-z0-9]`).ReplaceAllString(v1alpha1.LabelNode, "_")

var descriptor = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)

// known are the metrics of the registry that the manager serves, as their collectors
// describe them, and those of others.
func known(t *testing.T) vocabulary {
	t.Helper()
	metrics.Default()
	descriptions := make(chan *prometheus.Desc)
	go func() {
		ctrlmetrics.Registry.(prometheus.Collector).Describe(descriptions)
		close(descriptions)
	}()
	all := maps.Clone(fromElsewhere)
	for d := range descriptions {
		match := descriptor.FindStringSubmatch(d.String())
		if match == nil {
			t.Fatalf("the description %s cannot be read", d)
		}
		all[match[1]] = exported{labels: strings.Split(match[2], ",")}
	}
	leading := all["leader_election_master_status"]
	leading.values = map[string][]string{"name": {lease(t)}}
	all["leader_election_master_status"] = leading
	for _, d := range metrics.Declarations() {
		e, ok := all[d.Name]
		if !ok {
			t.Fatalf("%s is declared and not in the registry", d.Name)
		}
		all[d.Name] = exported{labels: e.labels, values: d.Values}
		if d.Type == metrics.Histogram {
			all.histogram(d.Name)
		}
	}
	maps.Copy(all, ofNodes())
	// A description does not tell the type.
	all.histogram("workqueue_work_duration_seconds")
	return all
}

// ofTarget are the labels that config/monitoring/pod-monitor.yaml gives to all series of a node.
var ofTarget = []string{"namespace", "name", "chain", "role", "fleet"}

// ofNodes are the metrics of sidecars.
func ofNodes() vocabulary {
	all := vocabulary{}
	for _, name := range look.MetricNames() {
		all[name] = exported{labels: ofTarget}
	}
	states := make([]string, 0, len(look.States()))
	for _, s := range look.States() {
		states = append(states, string(s))
	}
	all[look.MetricSyncState] = exported{labels: append(slices.Clone(ofTarget), "state"), values: map[string][]string{"state": states}}
	return all
}

// histogram adds the series that a histogram is made of.
func (v vocabulary) histogram(name string) {
	e := v[name]
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		v[name+suffix] = exported{labels: append(slices.Clone(e.labels), "le"), values: e.values}
	}
}

// lease is the name under which the manager's replicas choose their leader.
func lease(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, "internal/manager/config.go"))
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`leaderElectionID\s+= "([^"]+)"`).FindSubmatch(source)
	if match == nil {
		t.Fatal("internal/manager/config.go names no leaderElectionID")
	}
	return string(match[1])
}

// record adds what a recording rule makes: the labels it groups by or makes, and its own.
func (v vocabulary) record(r rule, names promql.Names) {
	e := v[r.Record]
	if e.values == nil {
		e.values = map[string][]string{}
	}
	e.labels = append(append(e.labels, names.Labels...), names.Made...)
	for label, value := range r.Labels {
		e.labels = append(e.labels, label)
		e.values[label] = append(e.values[label], value)
	}
	v[r.Record] = e
}

// problems are the things that an expression names and nobody exports.
func (v vocabulary) problems(names promql.Names) []string {
	var found []string
	// Prometheus adds the job to what it scrapes.
	anywhere := append([]string{"job"}, names.Made...)
	for _, s := range names.Selectors {
		metric, ok := v[s.Metric]
		if !ok {
			found = append(found, "there is no metric "+s.Metric)
			continue
		}
		anywhere = append(anywhere, metric.labels...)
		for _, m := range s.Matchers {
			found = append(found, metric.mismatches(s.Metric, m)...)
		}
	}
	for _, label := range names.Labels {
		if !slices.Contains(anywhere, label) {
			found = append(found, "no metric of the expression has a label "+label)
		}
	}
	return found
}

func (e exported) mismatches(metric string, m promql.Matcher) []string {
	if m.Label == "job" {
		return nil
	}
	if !slices.Contains(e.labels, m.Label) {
		return []string{fmt.Sprintf("%s has no label %s", metric, m.Label)}
	}
	all, bounded := e.values[m.Label]
	if !bounded {
		return nil
	}
	wanted, readable := m.Values()
	if !readable {
		return []string{fmt.Sprintf("%s: the pattern %s is more than words with | between them", metric, m.Value)}
	}
	var found []string
	for _, value := range wanted {
		if !slices.Contains(all, value) {
			found = append(found, fmt.Sprintf("%s: the label %s is never %q; it is one of %s", metric, m.Label, value, strings.Join(all, ", ")))
		}
	}
	return found
}

func TestRules_SpeakOnlyOfWhatIsExported(t *testing.T) {
	words := known(t)
	for _, r := range shipped(t).all() {
		names, err := promql.Read(r.Expr)
		if err != nil {
			t.Errorf("%s: %v", r.key(), err)
			continue
		}
		for _, problem := range words.problems(names) {
			t.Errorf("%s: %s", r.key(), problem)
		}
		if r.Record != "" {
			words.record(r, names)
		}
	}
}

// The series of the cases are made by hand, and a case with a wrong name proves nothing.
func TestCases_SpeakOnlyOfWhatIsExported(t *testing.T) {
	words := known(t)
	// Prometheus adds the pod to what it scrapes.
	added := map[string]bool{"pod": true}
	for _, c := range allCases(t) {
		for _, test := range c.Tests {
			for _, s := range test.Series {
				names, err := promql.Read(s.Series)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				selector := &names.Selectors[0]
				selector.Matchers = slices.DeleteFunc(selector.Matchers, func(m promql.Matcher) bool { return added[m.Label] })
				for _, problem := range words.problems(names) {
					t.Errorf("%s, %s: %s", c.name, test.Name, problem)
				}
			}
		}
	}
}

func TestProblems_WhatNobodyExports_IsNamed(t *testing.T) {
	words := known(t)
	for expression, want := range map[string]string{
		`seinode_phases`:                                       "there is no metric seinode_phases",
		`seinode_phase{state="x"}`:                             "seinode_phase has no label state",
		`seinode_phase{phase="Stuck"}`:                         `the label phase is never "Stuck"`,
		`seinodedeployment_nodes{state=~"ready|red"}`:          `the label state is never "red"`,
		`seinodedeployment_phase{phase=~"Ini.*"}`:              "more than words",
		`sei_plan_last_failed{kind="Pod"}`:                     `the label kind is never "Pod"`,
		`max by (chain) (seinode_ready)`:                       "no metric of the expression has a label chain",
		`up * on (job, chain) group_left seinode_ready`:        "no metric of the expression has a label chain",
		`controller_runtime_reconcile_errors_total{result=""}`: "has no label result",
	} {
		names, err := promql.Read(expression)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(words.problems(names), "; "); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", expression, got, want)
		}
	}
}
