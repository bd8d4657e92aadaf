package permissions

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// Files beside what the runs have used.
const (
	// checkedFile has the rights that the envtests were held against last.
	checkedFile = "checked.txt"
	// reportFile says where each right is used, and begins with a line for the end of the stage.
	reportFile = "report.txt"
)

// e2e is the run of the end-to-end tests.
var e2e = strings.TrimSuffix(E2EFile, ".json")

// runs are what was used, by the package of the tests.
type runs map[string]Uses

func runsOf(t *testing.T, folder string) runs {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := runs{}
	for _, file := range files {
		if all[strings.TrimSuffix(filepath.Base(file), ".json")], err = readUses(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// usedBy are the runs that have used a right. A watch begins with what there is; older API servers cannot do
// that, and are asked for a list first.
func (r runs) usedBy(right envtest.Use) (names []string) {
	watch := envtest.Use{Group: right.Group, Resource: right.Resource, Verb: "watch"}
	for name, used := range r {
		if used[right] || right.Verb == "list" && used[watch] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// unused are the rights that no run has used, but for those that are exempt.
func (r runs) unused(rights []envtest.Use, exempt ...map[envtest.Use]string) (found []envtest.Use) {
	for _, right := range rights {
		isExempt := slices.ContainsFunc(exempt, func(reasons map[envtest.Use]string) bool { return reasons[right] != "" })
		if !isExempt && len(r.usedBy(right)) == 0 {
			found = append(found, right)
		}
	}
	return found
}

// leftOut says why nothing follows from a right that no run has used; empty if something does. checked are the
// rights that the envtests were held against last: they may be of another day.
func (r runs) leftOut(rights []envtest.Use, checked string) string {
	_, onPodsToo := r[e2e]
	switch {
	case !onPodsToo:
		return "the end-to-end tests have not recorded what the operator used"
	case len(r) == 1 || checked == "":
		return "what the envtests use is not known: run make test-envtest before"
	case checked != lines(rights):
		return "the roles have changed since the envtests were held against them: run make test-envtest again"
	}
	return ""
}

// report sums up where rights are used in its first line, and says it of each in the others.
func (r runs) report(rights []envtest.Use) string {
	var without, with, alone, none int
	var list strings.Builder
	for _, right := range rights {
		by := r.usedBy(right)
		onPodsToo := slices.Contains(by, e2e)
		switch {
		case len(by) == 0:
			none++
		case onPodsToo && len(by) == 1:
			alone++
		default:
			without++
		}
		if onPodsToo {
			with++
		}
		fmt.Fprintf(&list, "%s: %s\n", right, strings.Join(by, ", "))
	}
	return fmt.Sprintf("rights of the operator: %d; used by envtests: %d, by end-to-end tests: %d, by those alone: %d, in no request: %d\n%s",
		len(rights), without, with, alone, none, list.String())
}

func lines(rights []envtest.Use) string {
	var text strings.Builder
	for _, right := range rights {
		text.WriteString(right.String() + "\n")
	}
	return text.String()
}

// Rights and runs of the tests below.
var (
	getJobs     = envtest.Use{Group: "batch", Resource: "jobs", Verb: "get"}
	listPods    = envtest.Use{Resource: "pods", Verb: "list"}
	watchPods   = envtest.Use{Resource: "pods", Verb: "watch"}
	patchRoutes = envtest.Use{Group: "gateway.networking.k8s.io", Resource: "httproutes", Verb: "patch"}
	updateLease = envtest.Use{Group: "coordination.k8s.io", Resource: "leases", Verb: "update"}

	someRights = []envtest.Use{getJobs, listPods, watchPods, patchRoutes, updateLease}
	someRuns   = runs{"node": {getJobs: true, watchPods: true}, "fleet": {getJobs: true}, e2e: {watchPods: true, updateLease: true}}
)

func TestUnused_RightsThatNoRunUsedAndNobodyExempts(t *testing.T) {
	withoutPods := maps.Clone(someRuns)
	delete(withoutPods, e2e)
	for name, c := range map[string]struct {
		runs   runs
		exempt map[envtest.Use]string
		want   []envtest.Use
	}{
		"in all runs":     {someRuns, nil, []envtest.Use{patchRoutes}},
		"in the envtests": {withoutPods, nil, []envtest.Use{patchRoutes, updateLease}},
		"exempt":          {withoutPods, map[envtest.Use]string{patchRoutes: "why"}, []envtest.Use{updateLease}},
		"without a why":   {someRuns, map[envtest.Use]string{patchRoutes: ""}, []envtest.Use{patchRoutes}},
	} {
		if diff := cmp.Diff(c.want, c.runs.unused(someRights, c.exempt)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLeftOut_WhereTheRunsSayNothing(t *testing.T) {
	checked := lines(someRights)
	for name, c := range map[string]struct {
		runs    runs
		checked string
		says    string // empty: the check is made
	}{
		"no end-to-end tests":   {runs{"node": {}}, checked, "the end-to-end tests have not"},
		"nothing":               {runs{}, "", "the end-to-end tests have not"},
		"no envtests":           {runs{e2e: {}}, checked, "run make test-envtest before"},
		"envtests that failed":  {runs{"node": {}, e2e: {}}, "", "run make test-envtest before"},
		"envtests of other day": {someRuns, lines(someRights[1:]), "run make test-envtest again"},
		"both":                  {someRuns, checked, ""},
	} {
		why := c.runs.leftOut(someRights, c.checked)
		if (why == "") != (c.says == "") || !strings.Contains(why, c.says) {
			t.Errorf("%s: %q", name, why)
		}
	}
}

func TestReport_SaysOfEachRightWhereItIsUsed(t *testing.T) {
	const want = `rights of the operator: 5; used by envtests: 3, by end-to-end tests: 3, by those alone: 1, in no request: 1
get jobs batch: fleet, node
list pods: e2e, node
watch pods: e2e, node
patch httproutes gateway.networking.k8s.io: 
update leases coordination.k8s.io: e2e
`
	if diff := cmp.Diff(want, someRuns.report(someRights)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
