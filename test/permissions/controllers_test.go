package permissions

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// controllers are the packages of the controllers, by what docs/reference/permissions.md calls them.
var controllers = map[string]string{"node": "node", "fleet": "deployment", "task": "operation"}

var marker = regexp.MustCompile(`(?m)^// \+kubebuilder:rbac:groups=([^,]*),resources=([^,]*),verbs=(\S*)$`)

// declared is what the markers of a package ask for. The roles are generated from them.
func declared(t *testing.T, folder string) []envtest.Use {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "internal", "controller", folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of %s: %v", folder, err)
	}
	var uses []envtest.Use
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range marker.FindAllStringSubmatch(string(content), -1) {
			for verb := range strings.SplitSeq(m[3], ";") {
				uses = append(uses, envtest.Use{Group: strings.Trim(m[1], `"`), Resource: m[2], Verb: verb})
			}
		}
	}
	return sorted(uses)
}

func TestControllers_EachOnesRulesAreDocumentedAndNoOther(t *testing.T) {
	rows := table(t)
	for name, folder := range controllers {
		var uses []envtest.Use
		for _, r := range rows {
			if slices.Contains(r.who, name) {
				uses = append(uses, r.uses...)
			}
		}
		if diff := cmp.Diff(declared(t, folder), sorted(uses)); diff != "" {
			t.Errorf("controller %s: its markers and docs/reference/permissions.md (-markers +table):\n%s", name, diff)
		}
	}
	for _, r := range rows {
		for _, name := range r.who {
			if _, known := controllers[name]; !known && name != "process" {
				t.Errorf("%v: nobody is called %s", r.uses, name)
			}
		}
	}
}
