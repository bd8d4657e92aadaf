package handlertest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// WantError checks the code of an error and that its text says something.
func WantError(tb testing.TB, err error, code, text string) {
	tb.Helper()
	if err == nil || !strings.Contains(err.Error(), text) || api.DetailOf(err).Code != code {
		tb.Errorf("error is %v (%+v), want code %s and %q", err, api.DetailOf(err), code, text)
	}
}

// Files is the content of every file below a directory; directories of the given
// names are left out.
func Files(tb testing.TB, dir string, skip ...string) map[string]string {
	tb.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		for _, name := range skip {
			if e.IsDir() && e.Name() == name {
				return fs.SkipDir
			}
		}
		if e.IsDir() {
			return nil
		}
		data, err := os.ReadFile(file)
		rel, _ := filepath.Rel(dir, file)
		found[rel] = string(data)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}
