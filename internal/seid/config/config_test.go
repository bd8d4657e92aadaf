package config_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
)

// initFiles are the files that the real seid init wrote, without comments.
func initFiles(t *testing.T, mode seid.Mode) config.Files {
	t.Helper()
	files, err := config.Read(filepath.Join("testdata", "init-"+string(mode)))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// parse makes files from TOML text; "" leaves a file out.
func parse(t *testing.T, configToml, appToml string) config.Files {
	t.Helper()
	files, err := config.Parse(map[config.FileName][]byte{
		config.ConfigToml: []byte(configToml), config.AppToml: []byte(appToml),
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func apply(t *testing.T, files config.Files, intent config.Intent) config.Files {
	t.Helper()
	out, err := config.Apply(files, intent)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func encode(t *testing.T, files config.Files) map[config.FileName]string {
	t.Helper()
	data, err := files.Encode()
	if err != nil {
		t.Fatal(err)
	}
	out := map[config.FileName]string{}
	for name, content := range data {
		out[name] = string(content)
	}
	return out
}

// at reads one value: at(files, "config.toml:p2p.pex").
func at(files config.Files, place string) any {
	file, path, _ := strings.Cut(place, ":")
	var node any
	switch config.FileName(file) {
	case config.ConfigToml:
		node = map[string]any(files.Config)
	case config.AppToml:
		node = map[string]any(files.App)
	default:
		node = map[string]any(files.Client)
	}
	for step := range strings.SplitSeq(path, ".") {
		table, _ := node.(map[string]any)
		node = table[step]
	}
	return node
}

func wantValues(t *testing.T, files config.Files, want map[string]any) {
	t.Helper()
	got := map[string]any{}
	for place := range want {
		got[place] = at(files, place)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func wantErrorWith(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

// rows reads a tab-separated file with a header line.
func rows(t *testing.T, name string) []map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	header := strings.Split(lines[0], "\t")
	out := make([]map[string]string, 0, len(lines)-1)
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range strings.Split(line, "\t") {
			row[header[i]] = cell
		}
		out = append(out, row)
	}
	return out
}

func merged(a map[string]string, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// show spells a value the way published-defaults.tsv does.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case []any:
		items := make([]string, 0, len(v))
		for _, e := range v {
			items = append(items, fmt.Sprint(e))
		}
		return "[" + strings.Join(items, " ") + "]"
	}
	return fmt.Sprint(v)
}
