package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNotes_OfAVersion(t *testing.T) {
	const changelog = "# Changelog\n\n## [Unreleased]\n\nMore.\n\n## [1.1.0] - 2026-02-01\n\n## [1.0.0] - 2026-01-01\n\n### Added\n\n- Nodes\n\n" +
		"## [1.0.0-rc.2] - 2025-12-31\n\nAlmost.\n\n## [0.9.0]\n\nNo date.\n"
	tests := map[string]struct{ version, want, problem string }{
		"its section":                        {"v1.0.0", "### Added\n\n- Nodes\n", ""},
		"pre-release":                        {"v1.2.0-rc.1", "More.\n", ""},
		"pre-release with its own section":   {"v1.0.0-rc.2", "Almost.\n", ""},
		"no section":                         {"v1.2.0", "", `CHANGELOG.md has no section for v1.2.0: put the heading "## [1.2.0] - YYYY-MM-DD" above`},
		"section without a date":             {"v0.9.0", "", `"## [0.9.0] - YYYY-MM-DD"`},
		"empty section":                      {"v1.1.0", "", "the section [1.1.0] of CHANGELOG.md is empty"},
		"the version is a prefix of another": {"v1.0", "", "no section for v1.0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := notesOf(changelog, tc.version)
			if got != tc.want || (err == nil) != (tc.problem == "") || err != nil && !strings.Contains(err.Error(), tc.problem) {
				t.Errorf("notesOf(%s) = %q, %v, want %q, %q", tc.version, got, err, tc.want, tc.problem)
			}
		})
	}
}

// A version that the changelog does not know is refused before anything is built.
func TestRelease_WithoutNotes_BuildsNothing(t *testing.T) {
	r := newRelease(t)
	r.Version = "v9.9.9"
	if err := run(t.Context(), r); err == nil || !strings.Contains(err.Error(), "CHANGELOG.md has no section for v9.9.9") {
		t.Errorf("run = %v, want the section that is missing", err)
	}
	if _, err := os.Stat(r.Output); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat of the release = %v, want no such folder", err)
	}
}

// A heading in another form would be found out at the next release.
func TestChangelog_OfTheRepository_HasHeadingsThatReleasesFind(t *testing.T) {
	changelog := readFile(t, filepath.Join("..", "..", "CHANGELOG.md"))
	sections := changelogSections(changelog)
	if _, ok := sections[unreleased]; !ok {
		t.Errorf("there is no heading \"## [%s]\"", unreleased)
	}
	if headings := strings.Count(changelog, "\n## "); headings != len(sections) {
		t.Errorf("%d of %d headings are \"## [%s]\" or \"## [1.2.3] - YYYY-MM-DD\", each once", len(sections), headings, unreleased)
	}
}
