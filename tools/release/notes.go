package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const unreleased = "Unreleased"

// changelogHeading is the heading of a version, or that of what no release has yet, and dated what follows a version.
var (
	changelogHeading = regexp.MustCompile(`(?m)^## \[([^\]]+)\](.*)$`)
	dated            = regexp.MustCompile(`^ - \d{4}-\d{2}-\d{2}$`)
)

// notes are what CHANGELOG.md says about the version.
func (r *release) notes() (string, error) {
	changelog, err := os.ReadFile(filepath.Join(r.Source, "CHANGELOG.md"))
	if err != nil {
		return "", fmt.Errorf("reading what is new: %w", err)
	}
	return notesOf(string(changelog), r.Version)
}

// notesOf is the section of a version in a changelog. A pre-release without one of its own takes what is unreleased: it
// is a candidate for that.
func notesOf(changelog, version string) (string, error) {
	number := strings.TrimPrefix(version, "v")
	sections := changelogSections(changelog)
	name := number
	if _, ok := sections[name]; !ok && strings.Contains(number, "-") {
		name = unreleased
	}
	text, ok := sections[name]
	switch {
	case !ok:
		return "", fmt.Errorf("CHANGELOG.md has no section for %s: "+
			"put the heading \"## [%s] - YYYY-MM-DD\" above what is new in it, and commit that", version, number)
	case text == "":
		return "", fmt.Errorf("the section [%s] of CHANGELOG.md is empty: say what is new in %s, and commit that", name, version)
	}
	return text + "\n", nil
}

// changelogSections are the texts below the headings, by version. A version without a date is not released yet.
func changelogSections(changelog string) map[string]string {
	sections := map[string]string{}
	texts := changelogHeading.Split(changelog, -1)
	for i, heading := range changelogHeading.FindAllStringSubmatch(changelog, -1) {
		if heading[1] == unreleased || dated.MatchString(heading[2]) {
			sections[heading[1]] = strings.TrimSpace(texts[i+1])
		}
	}
	return sections
}
