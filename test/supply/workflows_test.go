package supply_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is what we look at in a workflow of GitHub Actions. make lint runs actionlint, which knows the rest.
type workflow struct {
	On          map[string]any    `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Steps []struct {
			Uses string `yaml:"uses"`
			Run  string `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// scripts are what the workflow's steps run.
func (w workflow) scripts() []string {
	var found []string
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if step.Run != "" {
				found = append(found, step.Run)
			}
		}
	}
	return found
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	found := map[string]workflow{}
	for _, file := range files(t, ".yaml", ".github/workflows") {
		var w workflow
		parseFile(t, file, &w)
		found[filepath.Base(file)] = w
	}
	return found
}

func parseFile(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t, file)), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestGitHub_EveryFile_IsYAML(t *testing.T) {
	all := slices.Concat(files(t, ".yaml", ".github"), files(t, ".yml", ".github"))
	for _, file := range all {
		content := map[string]any{}
		parseFile(t, file, &content)
		if len(content) == 0 {
			t.Errorf("%s is empty", file)
		}
	}
	for _, name := range []string{"dependabot.yml", "ISSUE_TEMPLATE/bug.yml", "ISSUE_TEMPLATE/config.yml", "ISSUE_TEMPLATE/feature.yml", "workflows/ci.yaml", "workflows/release.yaml"} {
		if !slices.Contains(all, filepath.Join(root, ".github", name)) {
			t.Errorf(".github/%s is missing: GitHub looks for that name", name)
		}
	}
}

// The two that the project relies on: every change is tested, and every tag of a version is built twice.
func TestWorkflows_OfChangesAndTags_RunTheCommandsForThem(t *testing.T) {
	tests := map[string]struct {
		event  string
		script *regexp.Regexp
	}{
		"ci.yaml":      {"pull_request", regexp.MustCompile(`(?m)^make test$`)},
		"release.yaml": {"push", regexp.MustCompile(`VERSION=\$GITHUB_REF_NAME .*hack/release\.sh --twice`)},
	}
	all := workflows(t)
	for name, want := range tests {
		if _, ok := all[name].On[want.event]; !ok {
			t.Errorf("%s does not run on %s", name, want.event)
		}
		if !slices.ContainsFunc(all[name].scripts(), want.script.MatchString) {
			t.Errorf("no step of %s runs %s", name, want.script)
		}
	}
	if push, _ := all["release.yaml"].On["push"].(map[string]any); push["tags"] == nil || push["branches"] != nil {
		t.Errorf("release.yaml runs on %v, want tags alone", push)
	}
}

var (
	makeCommand = regexp.MustCompile(`(?m)(?:^|&& |; )make ([\w-]+)`)
	script      = regexp.MustCompile(`\bhack/[\w-]+\.sh\b`)
	makeTarget  = regexp.MustCompile(`(?m)^([\w-]+):`)
)

func TestWorkflows_EveryCommand_Exists(t *testing.T) {
	targets := map[string]bool{}
	for _, match := range makeTarget.FindAllStringSubmatch(readFile(t, filepath.Join(root, "Makefile")), -1) {
		targets[match[1]] = true
	}
	commands := 0
	for name, w := range workflows(t) {
		for _, text := range w.scripts() {
			if out, err := exec.CommandContext(t.Context(), "bash", "-n", "-c", text).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s\n%s", name, err, out, text)
			}
			for _, match := range makeCommand.FindAllStringSubmatch(text, -1) {
				commands++
				if !targets[match[1]] {
					t.Errorf("%s: the Makefile has no target %s", name, match[1])
				}
			}
			for _, path := range script.FindAllString(text, -1) {
				commands++
				if info, err := os.Stat(filepath.Join(root, path)); err != nil || info.Mode()&0o100 == 0 {
					t.Errorf("%s: %s cannot be run: %v", name, path, err)
				}
			}
		}
	}
	if commands < 3 {
		t.Errorf("only %d commands were found in the workflows", commands)
	}
}

var pinnedAction = regexp.MustCompile(`uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\n`)

// Whoever can move a tag of an action, or write a title of a pull request, must not run anything here.
func TestWorkflows_NothingOfOthers_Runs(t *testing.T) {
	for name, w := range workflows(t) {
		text := readFile(t, filepath.Join(root, ".github/workflows", name))
		if all, pinned := strings.Count(text, "uses: "), len(pinnedAction.FindAllString(text, -1)); all != pinned {
			t.Errorf("%s: %d of %d actions are named by commit, with the version in a comment", name, pinned, all)
		}
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: jobs have the permissions %v unless they ask for others, want contents: read", name, w.Permissions)
		}
		for _, script := range w.scripts() {
			if strings.Contains(script, "${{") {
				t.Errorf("%s: a script has an expression in it: hand it in by env\n%s", name, script)
			}
		}
	}
}
