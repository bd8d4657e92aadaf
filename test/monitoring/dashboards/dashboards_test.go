package dashboards_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/look"
	"github.com/sei-operator/sei-operator/test/monitoring/dashboards"
	"github.com/sei-operator/sei-operator/test/monitoring/promql"
)

const folder = "../../../config/monitoring/dashboards"

func load(t *testing.T) []dashboards.Dashboard {
	t.Helper()
	all, err := dashboards.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// libraries are the metrics of the libraries in the operator's process, with their labels.
// The end-to-end test shows that they are there.
var libraries = map[string][]string{
	"up":                                               {},
	"leader_election_master_status":                    {"name"},
	"controller_runtime_reconcile_total":               {"controller", "result"},
	"controller_runtime_active_workers":                {"controller"},
	"rest_client_requests_total":                       {"code", "method", "host"},
	"process_cpu_seconds_total":                        {},
	"process_resident_memory_bytes":                    {},
	"go_goroutines":                                    {},
	"workqueue_depth":                                  {"name", "controller", "priority"},
	"controller_runtime_reconcile_errors_total":        {"controller"},
	"controller_runtime_reconcile_time_seconds_bucket": {"controller", "le"},
	"controller_runtime_max_concurrent_reconciles":     {"controller"},
	"workqueue_queue_duration_seconds_bucket":          {"name", "controller", "le"},
}

// ofSeid are metrics of the chain binary. test/sidecar shows that a real one has them.
var ofSeid = map[string][]string{seid.MetricMempool: {"chain_id"}}

// ofPods are the labels that config/monitoring/pod-monitor.yaml gives to the series of a node.
var ofPods = []string{"namespace", "name", "chain", "role", "fleet"}

// Labels that a scrape gives to every series.
var ofTheTarget = []string{"job", "pod", "instance"}

// exported are all series names with their labels and, where they are bounded, values.
func exported() (labels map[string][]string, values map[string]map[string][]string) {
	labels, values = map[string][]string{}, map[string]map[string][]string{}
	for name, list := range libraries {
		labels[name] = slices.Concat(list, ofTheTarget)
	}
	for name, list := range ofSeid {
		labels[name] = slices.Concat(list, ofPods, ofTheTarget)
	}
	for _, name := range look.MetricNames() {
		labels[name] = slices.Concat(ofPods, ofTheTarget)
	}
	for _, d := range metrics.Declarations() {
		names := []string{d.Name}
		if d.Type == metrics.Histogram {
			names = []string{d.Name + "_sum", d.Name + "_count", d.Name + "_bucket"}
		}
		for _, name := range names {
			labels[name], values[name] = slices.Concat(d.Labels, ofTheTarget), d.Values
		}
		if d.Type == metrics.Histogram {
			labels[d.Name+"_bucket"] = append(labels[d.Name+"_bucket"], "le")
		}
	}
	return labels, values
}

// problems are what an expression says that is not so.
func problems(expr string) []string {
	names, err := promql.Read(expr)
	if err != nil {
		return []string{err.Error()}
	}
	var found, known []string
	labels, values := exported()
	for _, s := range names.Selectors {
		if labels[s.Metric] == nil {
			found = append(found, "nobody exports "+s.Metric)
			continue
		}
		known = append(known, labels[s.Metric]...)
		for _, m := range s.Matchers {
			if !slices.Contains(labels[s.Metric], m.Label) {
				found = append(found, fmt.Sprintf("%s has no label %s", s.Metric, m.Label))
			}
			possible, words := values[s.Metric][m.Label], []string{}
			if possible != nil {
				words, _ = m.Values()
			}
			for _, w := range words {
				if !slices.Contains(possible, w) {
					found = append(found, fmt.Sprintf("%s of %s is never %q", m.Label, s.Metric, w))
				}
			}
		}
	}
	for _, label := range names.Labels {
		if !slices.Contains(known, label) {
			found = append(found, "no metric of the query has the label "+label)
		}
	}
	return found
}

func TestPanels_EveryQuery_NamesWhatIsExported(t *testing.T) {
	queries := 0
	for _, d := range load(t) {
		given := map[string]string{"__rate_interval": "1m"}
		for _, v := range d.Templating.List {
			given[v.Name] = "x"
			if expr := v.Expression(); expr != "" {
				inner := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`).FindStringSubmatch(expr)
				if inner == nil {
					t.Errorf("%s: variable %s: %s is not label_values(metric, label)", d.File, v.Name, expr)
					continue
				}
				for _, p := range problems(strings.ReplaceAll("count by ("+inner[2]+") ("+inner[1]+")", "$namespace", "x")) {
					t.Errorf("%s: variable %s: %s", d.File, v.Name, p)
				}
			}
		}
		for _, panel := range d.Panels {
			for _, q := range panel.Targets {
				queries++
				expr, err := q.With(given)
				if err != nil {
					t.Errorf("%s: %s: %v", d.File, panel.Title, err)
					continue
				}
				for _, p := range problems(expr) {
					t.Errorf("%s: %s: %s", d.File, panel.Title, p)
				}
				for _, used := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(q.Legend, -1) {
					if !regexp.MustCompile(`by \([^)]*\b` + used[1] + `\b`).MatchString(expr) {
						t.Errorf("%s: %s: the legend names %s, which the query leaves out", d.File, panel.Title, used[1])
					}
				}
			}
		}
	}
	if queries < 40 {
		t.Errorf("only %d queries were found", queries)
	}
}

func TestWith_NamesThatBeginAlike_AreToldApart(t *testing.T) {
	q := dashboards.Query{Expr: `a{namespace="$namespace",name="$name"}[$__rate_interval]`, Legend: "{{name}} {{phase}}"}
	for range 20 { // the order of a map is another each time
		got, err := q.With(map[string]string{"namespace": "sei", "name": "rpc", "__rate_interval": "1m"})
		if want := `a{namespace="sei",name="rpc"}[1m]`; err != nil || got != want {
			t.Fatalf("%s, %v; want %s", got, err, want)
		}
	}
	if _, err := q.With(map[string]string{"name": "rpc"}); err == nil {
		t.Error("a variable without a value was let through")
	}
	if got := q.Name(map[string]string{"name": "rpc"}); got != "rpc" {
		t.Errorf("the legend is %q", got)
	}
}

func TestProblems_WhatIsNotExported_IsNoticed(t *testing.T) {
	for expr, want := range map[string]string{
		`seinode_fase`:                                          "nobody exports seinode_fase",
		`seinode_phase{fleet="x"}`:                              "seinode_phase has no label fleet",
		`seinode_phase{phase="Broken"}`:                         `phase of seinode_phase is never "Broken"`,
		`sum by (task) (seinode_phase)`:                         "no metric of the query has the label task",
		`sei_plan_duration_seconds{kind="SeiNode"}`:             "nobody exports sei_plan_duration_seconds",
		`sum by (phase, le) (sei_plan_duration_seconds_bucket)`: "no metric of the query has the label phase",
		`seinode_phase{phase=~"Failed|Lost"}`:                   `phase of seinode_phase is never "Lost"`,
	} {
		if diff := cmp.Diff([]string{want}, problems(expr)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expr, diff)
		}
	}
}

func TestDashboards_AreWellFormed(t *testing.T) {
	uids := map[string]bool{}
	for _, d := range load(t) {
		if d.UID == "" || d.Title == "" || d.Description == "" || uids[d.UID] {
			t.Errorf("%s needs a uid of its own, a title and a description", d.File)
		}
		uids[d.UID] = true
		ids, cells := map[int]bool{}, map[[2]int]string{}
		for _, p := range d.Panels {
			if ids[p.ID] || p.Title == "" {
				t.Errorf("%s: panel %d %q needs an id of its own and a title", d.File, p.ID, p.Title)
			}
			ids[p.ID] = true
			if p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
				t.Errorf("%s: %s says nothing", d.File, p.Title)
			}
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					if there := cells[[2]int{x, y}]; there != "" || x >= 24 {
						t.Fatalf("%s: %s lies on %q or beyond the edge", d.File, p.Title, there)
					}
					cells[[2]int{x, y}] = p.Title
				}
			}
		}
	}
}

// Every dashboard is shipped, in a ConfigMap that Grafana's sidecar finds.
func TestKustomization_ShipsEveryDashboard(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(folder, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var k struct {
		GeneratorOptions struct {
			Labels map[string]string `json:"labels"`
		} `json:"generatorOptions"`
		ConfigMapGenerator []struct {
			Files []string `json:"files"`
		} `json:"configMapGenerator"`
	}
	if err := yaml.Unmarshal(content, &k); err != nil {
		t.Fatal(err)
	}
	if k.GeneratorOptions.Labels["grafana_dashboard"] != "1" {
		t.Error("the label grafana_dashboard is missing")
	}
	var shipped []string
	for _, g := range k.ConfigMapGenerator {
		shipped = append(shipped, g.Files...)
	}
	all := load(t)
	there := make([]string, 0, len(all))
	for _, d := range all {
		there = append(there, d.File)
	}
	slices.Sort(shipped)
	if diff := cmp.Diff(there, shipped); diff != "" {
		t.Errorf("dashboards (-there +shipped):\n%s", diff)
	}
}
