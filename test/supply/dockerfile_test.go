package supply_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var from = regexp.MustCompile(`(?m)^FROM (?:--platform=\S+ )?(\S+)(?: AS (\S+))?$`)

// A base is empty, another stage, named by digest, or an argument without a default whose digest is checked.
func TestDockerfile_EveryBase_IsPinned(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	stages := map[string]bool{"scratch": true}
	bases := from.FindAllStringSubmatch(text, -1)
	if len(bases) != strings.Count(text, "\nFROM ") || len(bases) == 0 {
		t.Fatalf("%d of %d FROM lines were understood", len(bases), strings.Count(text, "\nFROM "))
	}
	for _, match := range bases {
		base := match[1]
		argument := strings.Trim(base, "${}")
		switch {
		case stages[base], strings.Contains(base, "@sha256:"):
		case argument == base:
			t.Errorf("FROM %s: name the base by digest", base)
		case !regexp.MustCompile(`(?m)^ARG ` + argument + `$`).MatchString(text):
			t.Errorf("FROM %s: the argument must have no default, so that whoever builds names a digest", base)
		case !strings.Contains(text, `case "$`+argument+`" in *@sha256:*)`):
			t.Errorf("FROM %s: nothing checks that the argument is a digest", base)
		}
		stages[match[2]] = true
	}
}
