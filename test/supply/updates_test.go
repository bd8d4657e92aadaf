package supply_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every file that names versions of others is looked after.
func TestDependencyUpdates_EveryModuleAndDockerfile_IsCovered(t *testing.T) {
	var config struct {
		Version int
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directory   string
			Directories []string
			Schedule    struct{ Interval string }
		}
	}
	parseFile(t, filepath.Join(root, ".github/dependabot.yml"), &config)
	covered := map[string][]string{}
	for _, update := range config.Updates {
		folders := update.Directories
		if update.Directory != "" {
			folders = append(folders, update.Directory)
		}
		covered[update.Ecosystem] = folders
		if update.Schedule.Interval == "" {
			t.Errorf("%s has no schedule", update.Ecosystem)
		}
	}
	want := map[string][]string{
		"gomod":          foldersOf(t, "go.mod"),
		"docker":         foldersOf(t, "Dockerfile"),
		"github-actions": {"/"},
	}
	if diff := cmp.Diff(want, covered); diff != "" || config.Version != 2 {
		t.Errorf("what is updated, in version %d of the file (-want +got):\n%s", config.Version, diff)
	}
}

// foldersOf are the folders with a file of that name, from the root on.
func foldersOf(t *testing.T, name string) []string {
	t.Helper()
	var found []string
	for _, file := range files(t, "/"+name, "api", "cmd", "config", "docs", "hack", "internal", "test", "tools") {
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), root)
		if !strings.Contains(folder, "/testdata/") {
			found = append(found, folder)
		}
	}
	if _, err := os.Stat(filepath.Join(root, name)); err == nil {
		found = append(found, "/")
	}
	slices.Sort(found)
	return found
}
