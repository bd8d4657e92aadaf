package docs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// generated reports whether all of a page is made by a program, and not just a table in it.
func generated(content string) bool {
	return strings.Contains(content, "<!-- Made by") && !strings.Contains(content, "<!-- End of what is made")
}

const columns = 100

// wide are pages whose text is wider: the report of a program, and those that still have to be
// wrapped.
var wide = []string{"docs/contributing/chaos.md", "docs/how-to/kubectl-sei.md", "CHANGELOG.md"}

// Text is wrapped, so that a diff shows what changed. Tables, pictures and what is generated cannot be.
func TestPages_Text_IsWrapped(t *testing.T) {
	for _, page := range pages(t) {
		content := read(t, page)
		if slices.Contains(wide, page) || generated(content) {
			continue
		}
		fenced := false
		for n, line := range strings.Split(content, "\n") {
			text := strings.TrimSpace(line)
			if strings.HasPrefix(text, "```") {
				fenced = !fenced
			}
			free := fenced || strings.HasPrefix(text, "|") || strings.HasPrefix(text, "![") || strings.HasPrefix(text, "<!--")
			if !free && utf8.RuneCountInString(line) > columns {
				t.Errorf("%s:%d: %d columns, want at most %d", page, n+1, utf8.RuneCountInString(line), columns)
			}
		}
	}
}

var (
	item     = regexp.MustCompile(`^ *(?:[-*]|\d+\.) `)
	indented = regexp.MustCompile(`^( +)\S`)
)

// The generator of the site takes less than four spaces for the end of a list, and GitHub does not.
func TestPages_ListsOfMoreThanText_AreIndentedByFour(t *testing.T) {
	for _, page := range pages(t) {
		if !strings.HasPrefix(page, "docs/") {
			continue
		}
		fenced, before := false, ""
		for n, line := range strings.Split(read(t, page), "\n") {
			spaces := indented.FindStringSubmatch(line)
			fence := strings.HasPrefix(strings.TrimSpace(line), "```")
			ends := !fenced && (fence || item.MatchString(line) || before == "")
			if ends && spaces != nil && len(spaces[1]) < 4 {
				t.Errorf("%s:%d: indent by four spaces what belongs to an item of a list", page, n+1)
			}
			if fence {
				fenced = !fenced
			}
			before = line
		}
	}
}
