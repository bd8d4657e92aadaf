// Package monitoring_test holds the alerts against what they are for: every rule has
// cases in which it fires and in which it stays quiet, speaks only of what the operator
// exports, and has a runbook. The rules are those of config/monitoring as they are
// applied; nothing here repeats them.
package monitoring_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"sigs.k8s.io/yaml"
)

const root = "../.."

// ruleFiles are the PrometheusRules that ship.
var ruleFiles = []string{"config/monitoring/rules.yaml", "config/monitoring/chain-rules.yaml", "config/monitoring/statefulset-rollout/rules.yaml"}

// rule is an alert or a recording rule. The tags are those of a rules file, which a
// PrometheusRule shares.
type rule struct {
	Alert         string            `json:"alert,omitempty"`
	Record        string            `json:"record,omitempty"`
	Expr          string            `json:"expr"`
	For           string            `json:"for,omitempty"`
	KeepFiringFor string            `json:"keep_firing_for,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

// key tells rules of one name apart by their labels.
func (r rule) key() string {
	key := r.Alert + r.Record
	for _, label := range slices.Sorted(maps.Keys(r.Labels)) {
		key += " " + r.Labels[label]
	}
	return key
}

// file is the name of the file with the rule's cases.
func (r rule) file() string {
	if r.Record != "" {
		return recordCases
	}
	return r.Alert
}

type group struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

// rules is what promtool reads, and what a PrometheusRule has as its spec.
type rules struct {
	Groups []group `json:"groups"`
}

func (r rules) all() []rule {
	var all []rule
	for _, g := range r.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

func (r rules) alerts() []rule {
	return slices.DeleteFunc(r.all(), func(r rule) bool { return r.Alert == "" })
}

// shipped are the rules of all PrometheusRules.
func shipped(t *testing.T) rules {
	t.Helper()
	var all rules
	for _, path := range ruleFiles {
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(content, &monitoringv1.PrometheusRule{}); err != nil {
			t.Fatalf("%s is no PrometheusRule: %v", path, err)
		}
		var object struct {
			Kind string `json:"kind"`
			Spec rules  `json:"spec"`
		}
		if err := yaml.Unmarshal(content, &object); err != nil || object.Kind != monitoringv1.PrometheusRuleKind || len(object.Spec.Groups) == 0 {
			t.Fatalf("%s holds no PrometheusRule with groups: %v", path, err)
		}
		all.Groups = append(all.Groups, object.Spec.Groups...)
	}
	return all
}

func TestRules_AreValid(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "rules.yaml"), shipped(t))
	if out, err := promtool(t, folder, "check", "rules", "--lint=all", "--lint-fatal", "rules.yaml"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// B6, C7: a gate that stays closed, and an update that is stuck, are among them.
func TestRules_DoAsTheirCasesSay(t *testing.T) {
	all := shipped(t)
	for _, c := range allCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if out, err := c.run(t, all); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestCases_NoticeWhenARuleIsBroken takes rules apart: cases that stay green then test
// nothing. Those in which the alert fires have to notice.
func TestCases_NoticeWhenARuleIsBroken(t *testing.T) {
	all := shipped(t)
	for _, r := range all.all() {
		cases := casesOf(t, r)
		for name, broken := range mutants(r) {
			t.Run(fmt.Sprintf("%s without %s", r.key(), name), func(t *testing.T) {
				t.Parallel()
				if out, err := cases.run(t, all.with(r, broken)); err == nil {
					t.Errorf("the cases still pass:\n%s", out)
				}
			})
		}
	}
}

// mutants are a rule without one of its parts, by the part.
func mutants(r rule) map[string]rule {
	never := r
	never.Expr = "vector(0) > 1"
	found := map[string]rule{"its expression": never}
	if r.For != "" {
		hasty := r
		hasty.For = ""
		found["its patience"] = hasty
	}
	if r.KeepFiringFor != "" {
		nervous := r
		nervous.KeepFiringFor = ""
		found["its memory"] = nervous
	}
	return found
}

// TestCases_NoticeWhenARuleLosesAGuard takes away what narrows a rule down: a line of
// its expression that begins with and, or with unless.
func TestCases_NoticeWhenARuleLosesAGuard(t *testing.T) {
	all, found := shipped(t), 0
	for _, r := range all.all() {
		lines := strings.Split(r.Expr, "\n")
		for i, line := range lines {
			if guard := strings.TrimSpace(line); strings.HasPrefix(guard, "and on") || strings.HasPrefix(guard, "unless on") {
				found++
				broken := r
				broken.Expr = strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\n")
				t.Run(r.key()+" without "+guard, func(t *testing.T) {
					t.Parallel()
					if out, err := readCases(t, r.file()).run(t, all.with(r, broken)); err == nil {
						t.Errorf("the cases still pass:\n%s", out)
					}
				})
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d guards were found", found)
	}
}

// with is a copy of the rules in which one is replaced.
func (r rules) with(old, replacement rule) rules {
	var out rules
	for _, g := range r.Groups {
		g.Rules = slices.Clone(g.Rules)
		for i := range g.Rules {
			if g.Rules[i].key() == old.key() && g.Rules[i].Expr == old.Expr {
				g.Rules[i] = replacement
			}
		}
		out.Groups = append(out.Groups, g)
	}
	return out
}

func write(t *testing.T, path string, content any) {
	t.Helper()
	text, err := yaml.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
