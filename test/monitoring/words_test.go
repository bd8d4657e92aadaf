package monitoring_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/test/monitoring/promql"
)

var (
	fence     = regexp.MustCompile("(?ms)^```.*?^```")
	quoted    = regexp.MustCompile("`([^`\n]+)`")
	literal   = regexp.MustCompile(`"([A-Za-z][A-Za-z-]+)"`)
	camelCase = regexp.MustCompile(`^[A-Z][a-z]+([A-Z][A-Za-z]*)*$`)
	kebabCase = regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)
	flagName  = regexp.MustCompile(`^--[a-z-]+`)
)

// ofKubernetes are words of runbooks that the operator does not own.
const ofKubernetes = "Pending Terminating ImagePullBackOff CrashLoopBackOff OnDelete UPGRADE --metric-labels-allowlist"

// TestRunbooks_SpeakOfWhatThereIs holds the conditions, reasons, phases, tasks, flags and
// queries that runbooks name against the code. At three in the morning nobody guesses.
func TestRunbooks_SpeakOfWhatThereIs(t *testing.T) {
	words, expressions := ownWords(t), known(t)
	files, err := filepath.Glob(filepath.Join(root, "docs/runbooks/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		page := fence.ReplaceAllString(text(t, file), "")
		for _, match := range quoted.FindAllStringSubmatch(page, -1) {
			word := match[1]
			switch {
			case strings.Contains(word, "rate("):
				names, err := promql.Read(word)
				if err != nil {
					t.Errorf("%s: %v", filepath.Base(file), err)
				}
				for _, problem := range expressions.problems(names) {
					t.Errorf("%s, %s: %s", filepath.Base(file), word, problem)
				}
			case flagName.MatchString(word):
				word = flagName.FindString(word)
				fallthrough
			case camelCase.MatchString(word), kebabCase.MatchString(word):
				if !words[word] {
					t.Errorf("%s speaks of %s, which is no condition, reason, phase, task, cause or flag", filepath.Base(file), word)
				}
			}
		}
	}
}

// ownWords are the words that users of the operator meet.
func ownWords(t *testing.T) map[string]bool {
	t.Helper()
	words := map[string]bool{}
	add := func(list ...string) {
		for _, word := range list {
			words[word] = true
		}
	}
	add(strings.Fields(ofKubernetes)...)
	for _, path := range []string{
		"api/v1alpha1/conditions.go", "api/v1alpha1/seinode_status.go", "api/v1alpha1/upgrade_types.go",
		"api/v1alpha1/seinodetask_types.go", "internal/node/reasons.go",
	} {
		for _, match := range literal.FindAllStringSubmatch(text(t, filepath.Join(root, path)), -1) {
			add(match[1])
		}
	}
	for _, d := range metrics.Declarations() {
		add(d.Values["task"]...)
	}
	for _, r := range shipped(t).alerts() {
		add(r.Alert, r.Labels["cause"])
	}
	add(regexp.MustCompile(`--[a-z-]+`).FindAllString(text(t, filepath.Join(root, "docs/reference/manager-flags.md")), -1)...)
	return words
}

func text(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
