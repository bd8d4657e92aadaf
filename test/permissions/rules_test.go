package permissions

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// notOurs are roles of the manifests that are for others.
var notOurs = []string{"sei-operator-metrics-reader"}

// granted is what the manifests allow the operator to do.
func granted(t *testing.T) []envtest.Use {
	t.Helper()
	var uses []envtest.Use
	for _, file := range []string{"role.yaml", "leader_election.yaml", "metrics.yaml"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", file))
		if err != nil {
			t.Fatal(err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
		for {
			role := &rbacv1.ClusterRole{} // a Role has the same rules
			if err := decoder.Decode(role); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if !slices.Contains(notOurs, role.Name) {
				uses = append(uses, usesOf(role.Rules)...)
			}
		}
	}
	return sorted(uses)
}

func usesOf(rules []rbacv1.PolicyRule) []envtest.Use {
	var uses []envtest.Use
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					uses = append(uses, envtest.Use{Group: group, Resource: resource, Verb: verb})
				}
			}
		}
	}
	return uses
}

// row is one of the table in docs/reference/permissions.md.
type row struct {
	uses []envtest.Use
	who  []string
}

// table reads it. Its first four columns are the API group, resources, verbs and who needs them.
func table(t *testing.T) (rows []row) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "permissions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n| API group | resources | verbs | who | for what |\n")
	if !found {
		t.Fatal("docs/reference/permissions.md has no table of permissions")
	}
	section, _, _ = strings.Cut(section, "\n\n")
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.ReplaceAll(line, "`", ""), "|")
		if len(cells) < 6 || strings.HasPrefix(cells[1], "---") {
			continue
		}
		group := strings.TrimSpace(cells[1])
		if group == "core" {
			group = ""
		}
		r := row{who: words(cells[4])}
		for _, resource := range words(cells[2]) {
			for _, verb := range words(cells[3]) {
				r.uses = append(r.uses, envtest.Use{Group: group, Resource: resource, Verb: verb})
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// words are what a cell lists.
func words(cell string) []string {
	list := strings.Split(cell, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// documented is what the table says as a whole.
func documented(t *testing.T) []envtest.Use {
	t.Helper()
	var uses []envtest.Use
	for _, r := range table(t) {
		uses = append(uses, r.uses...)
	}
	return sorted(uses)
}

func sorted(uses []envtest.Use) []envtest.Use {
	slices.SortFunc(uses, func(a, b envtest.Use) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(uses)
}

func TestRoles_EveryRuleIsDocumentedAndNoOther(t *testing.T) {
	if diff := cmp.Diff(granted(t), documented(t)); diff != "" {
		t.Errorf("the roles in config/rbac and the table in docs/reference/permissions.md (-roles +table):\n%s", diff)
	}
}
