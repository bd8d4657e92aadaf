package monitoring_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the table of docs/reference/alerts.md")

const runbooks = "https://github.com/sei-operator/sei-operator/blob/main/docs/runbooks/"

func TestAlerts_SayWhatTheirReaderNeeds(t *testing.T) {
	for _, r := range shipped(t).alerts() {
		if severity := r.Labels["severity"]; severity != "critical" && severity != "warning" {
			t.Errorf("%s: severity is %q", r.key(), severity)
		}
		if r.For == "" {
			t.Errorf("%s: it fires at once, so a moment is enough", r.key())
		}
		if want := runbooks + r.Alert + ".md"; r.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url is %q, want %q", r.key(), r.Annotations["runbook_url"], want)
		}
		if summary := r.Annotations["summary"]; !strings.HasSuffix(summary, ".") || strings.Contains(summary, "{{") {
			t.Errorf("%s: the summary %q is no sentence that holds for every object", r.key(), summary)
		}
	}
}

// What an alert says is in its cases, word by word.
func TestAlerts_NameTheirObject(t *testing.T) {
	for _, c := range allCases(t) {
		for _, test := range c.Tests {
			for _, a := range test.Alerts {
				for _, e := range a.Want {
					for _, label := range []string{"kind", "namespace", "name", "statefulset", "controller", "reason", "task", "chain"} {
						if value, ok := e.Labels[label]; ok && !strings.Contains(e.Annotations["description"], value) {
							t.Errorf("%s, %s: the description does not name the %s: %s", c.name, test.Name, label, e.Annotations["description"])
						}
					}
				}
			}
		}
	}
}

func TestAlerts_HaveCasesInWhichTheyFireAndStayQuiet(t *testing.T) {
	files := map[string]bool{recordCases: true}
	for _, r := range shipped(t).alerts() {
		files[r.Alert] = true
		tests := readCases(t, r.Alert).Tests
		if !slices.ContainsFunc(tests, func(c testCase) bool { return c.fires(r) }) {
			t.Errorf("%s: there is no case in which it fires", r.key())
		}
		occasions := []string{"", "operator restart"}
		if ofSidecars(r) {
			occasions[1] = "pod restart"
		}
		if strings.Contains(r.Expr, "namespace") {
			occasions = append(occasions, "deleted")
		}
		for _, occasion := range occasions {
			if !slices.ContainsFunc(tests, func(c testCase) bool { return c.quiet(r.Alert) && strings.Contains(c.Name, occasion) }) {
				t.Errorf("%s: there is no case %q in which it stays quiet", r.key(), occasion)
			}
		}
	}
	for _, c := range allCases(t) {
		if !files[c.name] {
			t.Errorf("cases/%s.yaml is of no alert", c.name)
		}
		for _, test := range c.Tests {
			for _, a := range test.Alerts {
				if a.Alert != c.name {
					t.Errorf("cases/%s.yaml tests %s", c.name, a.Alert)
				}
			}
		}
	}
}

// ofSidecars reports whether a rule rests on what sidecars export: no restart of the operator changes that.
func ofSidecars(r rule) bool {
	return strings.Contains(r.Expr, "sei_node_") || strings.Contains(r.Expr, "sei:seinode_app_hash") ||
		strings.Contains(r.Expr, "sei:seinode_disk") || strings.Contains(r.Expr, "sei:seinode_missed")
}

func TestRecords_HaveCases(t *testing.T) {
	var tested []string
	for _, test := range readCases(t, recordCases).Tests {
		for _, r := range test.Records {
			if len(r.Want) > 0 {
				tested = append(tested, r.Expr)
			}
		}
	}
	for _, r := range shipped(t).all() {
		if r.Record != "" && !slices.Contains(tested, r.Record) {
			t.Errorf("%s has no case", r.Record)
		}
	}
}

var sections = []string{"## What it means", "## How to see it", "## How to fix it"}

func TestRunbooks_AreThereForEveryAlertAndForNoOther(t *testing.T) {
	wanted := map[string]bool{}
	for _, r := range shipped(t).alerts() {
		wanted[r.Alert] = true
		content, err := os.ReadFile(filepath.Join(root, "docs/runbooks", r.Alert+".md"))
		if err != nil {
			t.Errorf("%s has no runbook: %v", r.Alert, err)
			continue
		}
		page := string(content)
		if !strings.HasPrefix(page, "# "+r.Alert+"\n") {
			t.Errorf("the runbook of %s is not headed by its name", r.Alert)
		}
		if !strings.Contains(page, r.Labels["severity"]) || !strings.Contains(page, r.Labels["cause"]) {
			t.Errorf("the runbook of %s does not speak of %s", r.Alert, r.key())
		}
		if got := regexp.MustCompile(`(?m)^## .*$`).FindAllString(page, -1); !slices.Equal(got, sections) {
			t.Errorf("the runbook of %s has the sections %q, want %q", r.Alert, got, sections)
		}
		if !strings.Contains(page, "kubectl") {
			t.Errorf("the runbook of %s shows nothing with kubectl", r.Alert)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "docs/runbooks/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if alert := strings.TrimSuffix(filepath.Base(file), ".md"); !wanted[alert] {
			t.Errorf("docs/runbooks/%s.md is of no alert", alert)
		}
	}
}

const (
	tableBegins = "<!-- Made by: go test ./test/monitoring -run Docs -update. Change config/monitoring and test/monitoring/cases instead. -->\n"
	tableEnds   = "<!-- End of what is made. -->\n"
)

func TestDocs_ListTheAlerts(t *testing.T) {
	path := filepath.Join(root, "docs/reference/alerts.md")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(content), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatalf("docs/reference/alerts.md has no place for its table between\n%s%s", tableBegins, tableEnds)
	}
	want := before + tableBegins + "\n" + table(t) + "\n" + tableEnds + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(content)); diff != "" {
		t.Errorf("docs/reference/alerts.md is out of date; run: go test ./test/monitoring -run Docs -update\n(-want +got):\n%s", diff)
	}
}

// table lists the alerts with the first case that makes each fire.
func table(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| alert | severity | fires when | the case that makes it fire |\n|---|---|---|---|\n")
	for _, r := range shipped(t).alerts() {
		tests := readCases(t, r.Alert).Tests
		i := slices.IndexFunc(tests, func(c testCase) bool { return c.fires(r) })
		if i < 0 {
			t.Fatalf("%s: there is no case in which it fires", r.key())
		}
		severity := r.Labels["severity"]
		if cause := r.Labels["cause"]; cause != "" {
			severity += ", `cause: " + cause + "`"
		}
		fmt.Fprintf(&b, "| [%s](../runbooks/%s.md) | %s | %s For %s. | `test/monitoring/cases/%s.yaml`: %s |\n",
			r.Alert, r.Alert, severity, r.Annotations["summary"], r.For, r.Alert, tests[i].Name)
	}
	return b.String()
}
