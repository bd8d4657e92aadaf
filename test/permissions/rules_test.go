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
	slices.SortFunc(uses, func(a, b envtest.Use) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(uses)
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

// documented is what the table in docs/security.md says. Its first three columns are the API group,
// resources, and verbs.
func documented(t *testing.T) []envtest.Use {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Permissions\n")
	if !found {
		t.Fatal("docs/security.md has no section Permissions")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var uses []envtest.Use
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.ReplaceAll(line, "`", ""), "|")
		if len(cells) < 5 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "API group" {
			continue
		}
		group := strings.TrimSpace(cells[1])
		if group == "core" {
			group = ""
		}
		for resource := range strings.SplitSeq(cells[2], ",") {
			for verb := range strings.SplitSeq(cells[3], ",") {
				uses = append(uses, envtest.Use{Group: group, Resource: strings.TrimSpace(resource), Verb: strings.TrimSpace(verb)})
			}
		}
	}
	slices.SortFunc(uses, func(a, b envtest.Use) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(uses)
}

func TestRoles_EveryRuleIsDocumentedAndNoOther(t *testing.T) {
	if diff := cmp.Diff(granted(t), documented(t)); diff != "" {
		t.Errorf("the roles in config/rbac and the table in docs/security.md (-roles +table):\n%s", diff)
	}
}
