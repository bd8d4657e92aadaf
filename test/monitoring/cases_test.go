package monitoring_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"
)

// recordCases is the file with the cases of all recording rules. Those of an alert are
// in the file of its name.
const recordCases = "records"

// testCases is a file of promtool tests, less what is the same in all of them: where
// the rules are, and those annotations that say nothing of the object.
type testCases struct {
	name  string
	Tests []testCase `json:"tests"`
}

type testCase struct {
	Name     string       `json:"name"`
	Interval string       `json:"interval"`
	Series   []series     `json:"input_series"`
	Alerts   []alertTest  `json:"alert_rule_test,omitempty"`
	Records  []recordTest `json:"promql_expr_test,omitempty"`
}

type series struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

type alertTest struct {
	At    string     `json:"eval_time"`
	Alert string     `json:"alertname"`
	Want  []expected `json:"exp_alerts"`
}

type expected struct {
	Labels      map[string]string `json:"exp_labels"`
	Annotations map[string]string `json:"exp_annotations"`
}

type recordTest struct {
	Expr string   `json:"expr"`
	At   string   `json:"eval_time"`
	Want []sample `json:"exp_samples"`
}

type sample struct {
	Labels string  `json:"labels"`
	Value  float64 `json:"value"`
}

// fires reports whether the rule is to fire at some time of the case.
func (c testCase) fires(r rule) bool {
	return slices.ContainsFunc(c.Alerts, func(a alertTest) bool {
		return a.Alert == r.Alert && slices.ContainsFunc(a.Want, func(e expected) bool { return covers(e.Labels, r.Labels) })
	})
}

// quiet reports whether the alert is looked at and never to fire.
func (c testCase) quiet(alert string) bool {
	of := func(a alertTest) bool { return a.Alert == alert }
	return slices.ContainsFunc(c.Alerts, of) &&
		!slices.ContainsFunc(c.Alerts, func(a alertTest) bool { return of(a) && len(a.Want) > 0 })
}

func covers(labels, some map[string]string) bool {
	for k, v := range some {
		if labels[k] != v {
			return false
		}
	}
	return true
}

func allCases(t *testing.T) []testCases {
	t.Helper()
	paths, err := filepath.Glob("cases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := make([]testCases, 0, len(paths))
	for _, path := range paths {
		all = append(all, readCases(t, strings.TrimSuffix(filepath.Base(path), ".yaml")))
	}
	return all
}

func readCases(t *testing.T, name string) testCases {
	t.Helper()
	path := filepath.Join("cases", name+".yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := testCases{name: name}
	if err := yaml.UnmarshalStrict(content, &c); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return c
}

// casesOf are the cases in which the rule has something to say.
func casesOf(t *testing.T, r rule) testCases {
	t.Helper()
	c := readCases(t, r.file())
	if r.Alert != "" {
		c.Tests = slices.DeleteFunc(c.Tests, func(c testCase) bool { return !c.fires(r) })
	}
	return c
}

// run lets promtool run the cases with these rules.
func (c testCases) run(t *testing.T, r rules) (string, error) {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "rules.yaml"), r)
	order := make([]string, 0, len(r.Groups))
	for _, g := range r.Groups {
		order = append(order, g.Name)
	}
	write(t, filepath.Join(folder, "test.yaml"), map[string]any{
		"rule_files": []string{"rules.yaml"}, "evaluation_interval": "1m", "group_eval_order": order, "tests": c.complete(r),
	})
	return promtool(t, folder, "test", "rules", "test.yaml")
}

// complete adds the annotations that are the rule's own words.
func (c testCases) complete(r rules) []testCase {
	tests := slices.Clone(c.Tests)
	for i := range tests {
		tests[i].Alerts = slices.Clone(tests[i].Alerts)
		for j := range tests[i].Alerts {
			a := &tests[i].Alerts[j]
			a.Want = slices.Clone(a.Want)
			for k := range a.Want {
				a.Want[k].Annotations = a.annotations(a.Want[k], r)
			}
		}
	}
	return tests
}

func (a alertTest) annotations(e expected, r rules) map[string]string {
	all := maps.Clone(e.Annotations)
	for _, rule := range r.alerts() {
		if rule.Alert == a.Alert && covers(e.Labels, rule.Labels) {
			all["summary"], all["runbook_url"] = rule.Annotations["summary"], rule.Annotations["runbook_url"]
		}
	}
	return all
}

// tools is the folder of the Prometheus tools.
var tools = sync.OnceValues(func() (string, error) {
	out, err := exec.Command(filepath.Join(root, "hack/prometheus.sh")).Output()
	return strings.TrimSpace(string(out)), err
})

// promtool runs the tool in a folder and returns what it says.
func promtool(t *testing.T, folder string, args ...string) (string, error) {
	t.Helper()
	bin, err := tools()
	if err != nil {
		t.Fatalf("getting promtool with hack/prometheus.sh: %v", err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(bin, "promtool"), args...)
	command.Dir = folder
	out, err := command.CombinedOutput()
	return string(out), err
}
