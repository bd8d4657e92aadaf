package docs_test

import (
	"path/filepath"
	"regexp"
	"testing"
)

var lineID = regexp.MustCompile(`(?m)^\| ([A-Z])\d+ \|`)

// An id such as C3 means one thing in tests, commits and pages.
func TestIDs_EveryLetter_IsOfOnePage(t *testing.T) {
	owner := map[string]string{}
	for _, page := range []string{"requirements", "defects", "soundness"} {
		ids := lineID.FindAllStringSubmatch(read(t, "docs/contributing/"+page+".md"), -1)
		if len(ids) == 0 {
			t.Errorf("%s.md has no ids", page)
		}
		for _, id := range ids {
			if other := owner[id[1]]; other != "" && other != page {
				t.Fatalf("ids that start with %s are on %s.md and on %s.md", id[1], other, page)
			}
			owner[id[1]] = page
		}
	}
}

var decisionStatus = regexp.MustCompile(`\A# \d+\. .+\n\n\*\*Status:\*\* (accepted|superseded) on (20\d\d-\d\d-\d\d)\b`)

func TestDecisions_EveryOne_HasAStatusWithItsDate(t *testing.T) {
	decisions, err := filepath.Glob(filepath.Join(root, "docs/adr/0*.md"))
	if err != nil || len(decisions) < 30 {
		t.Fatalf("found %d decisions: %v", len(decisions), err)
	}
	index := read(t, "docs/adr/README.md")
	for _, decision := range decisions {
		name := filepath.Base(decision)
		status := decisionStatus.FindStringSubmatch(read(t, "docs/adr/"+name))
		if status == nil {
			t.Errorf("%s: want, below the title, `**Status:** accepted on YYYY-MM-DD`", name)
			continue
		}
		row := regexp.MustCompile(`(?m)^\| \[\d+\]\(` + regexp.QuoteMeta(name) + `\) \| .+ \| ` + status[2] + ` \| ` + status[1])
		if !row.MatchString(index) {
			t.Errorf("docs/adr/README.md does not list %s as %s on %s", name, status[1], status[2])
		}
	}
}
