package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
)

// project is a project with the places that a release fills in, and nothing else.
var project = map[string]string{
	"go.mod":                        "module " + module + "\n\ngo 1.26.0\n",
	"internal/platform/platform.go": "package platform\n\nvar DefaultSidecarImage = \"localhost/sei-operator/sidecar:dev\"\n",
	"cmd/sidecar/main.go":           "package main\n\nvar version, commit string\n\nfunc main() { println(version, commit) }\n",
	"cmd/sidecar-storage/main.go":   "package main\n\nfunc main() {}\n",
	"cmd/manager/main.go": "package main\n\nimport \"" + module + "/internal/platform\"\n\nvar version, commit string\n\n" +
		"func main() { print(version, \" \", commit, \" \", platform.DefaultSidecarImage) }\n",
	"cmd/kubectl-sei/main.go":           "package main\n\nvar version string\n\nfunc main() { print(version) }\n",
	"LICENSE":                           "Do what you like.\n",
	"CHANGELOG.md":                      "# Changelog\n\n## [Unreleased]\n\nLater.\n\n## [1.2.3] - 2026-01-02\n\n### Added\n\n- Nodes\n\n## [1.2.2] - 2026-01-01\n\nEarlier.\n",
	"charts/sei-operator/Chart.yaml":    "name: sei-operator\n# A release sets both.\nversion: 0.0.0-dev\nappVersion: dev\n",
	"charts/sei-operator/values.yaml":   "image:\n  registry: \"\"\n\n  digest: \"\"\nsidecarImage:\n  registry: \"\"\n  digest: \"\"\n",
	"charts/sei-operator/templates/a":   "{{ .Values.image.digest }}\n",
	"config/default/kustomization.yaml": "resources: [deployment.yaml]\n",
	"config/default/deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: sei-operator}\nspec:\n  template:\n    spec:\n" +
		"      containers:\n      - name: manager\n        image: localhost/sei-operator/manager:dev\n",
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func newRelease(t *testing.T) *release {
	t.Helper()
	return &release{
		Version: "v1.2.3", Registry: "registry.example.com/sei-operator", Commit: "0123abcd", Builder: "example.com/ci",
		Download: "https://downloads.example.com/v1.2.3", Source: write(t, project), Output: filepath.Join(t.TempDir(), "dist"),
	}
}

func build(t *testing.T) *release {
	t.Helper()
	r := newRelease(t)
	if err := run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRelease_BuiltTwiceInDifferentPlaces_IsTheSame(t *testing.T) {
	first, second := build(t), build(t)
	want, err := first.digests()
	if err != nil {
		t.Fatal(err)
	}
	got, err := second.digests()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-first +second):\n%s", diff)
	}
	names := make([]string, 0, len(got))
	for _, file := range got {
		names = append(names, file.Name)
	}
	all := []string{
		"SHA256SUMS", "kubectl-sei-v1.2.3-darwin-amd64.tar.gz", "kubectl-sei-v1.2.3-darwin-arm64.tar.gz",
		"kubectl-sei-v1.2.3-linux-amd64.tar.gz", "kubectl-sei-v1.2.3-linux-arm64.tar.gz",
		"kubectl-sei.cdx.json", "manager-linux-amd64", "manager-linux-arm64", "manager.cdx.json", "manager.oci.tar", "provenance.intoto.json",
		"release-notes.md", "sei-operator-1.2.3.tgz", "sei-operator.yaml", "sei.yaml", "sidecar-linux-amd64", "sidecar-linux-arm64", "sidecar-storage-linux-amd64", "sidecar-storage-linux-arm64",
		"sidecar.cdx.json", "sidecar.oci.tar",
	}
	if diff := cmp.Diff(all, names); diff != "" {
		t.Errorf("files of the release (-want +got):\n%s", diff)
	}
	t.Run("images", func(t *testing.T) { checkImages(t, first) })
	t.Run("chart", func(t *testing.T) { checkChart(t, first) })
	t.Run("plugin", func(t *testing.T) { checkPlugin(t, first) })
	t.Run("krew", func(t *testing.T) { checkKrew(t, first) })
	t.Run("notes", func(t *testing.T) {
		if got, want := readFile(t, first.file("release-notes.md")), "### Added\n\n- Nodes\n"; got != want {
			t.Errorf("the release notes are %q, want %q", got, want)
		}
	})
	t.Run("statements", func(t *testing.T) { checkStatements(t, first) })
}

func checkStatements(t *testing.T, r *release) {
	t.Helper()
	var listed []string
	for line := range strings.Lines(readFile(t, r.file("SHA256SUMS"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := checksum(t, r.file(name)); got != sum {
			t.Errorf("%s has the checksum %s, and SHA256SUMS says %s", name, got, sum)
		}
		if name != provenanceFile {
			listed = append(listed, name)
		}
	}
	var provenance statement
	decode(t, r.file(provenanceFile), &provenance)
	subjects := make([]string, 0, len(provenance.Subject))
	for _, subject := range provenance.Subject {
		subjects = append(subjects, subject.Name)
	}
	if diff := cmp.Diff(listed, subjects); diff != "" {
		t.Errorf("the provenance speaks of other files than SHA256SUMS (-sums +provenance):\n%s", diff)
	}
	from := provenance.Predicate.BuildDefinition.ResolvedDependencies
	if len(from) < 2 || from[0].Digest["gitCommit"] != r.Commit {
		t.Errorf("the provenance does not begin with the commit: %+v", from)
	}
	for _, name := range []string{"manager", "sidecar", "kubectl-sei"} {
		var bom cdx.BOM
		decode(t, r.file(name+".cdx.json"), &bom)
		if bom.Components == nil || (*bom.Components)[0].Name != "std" {
			t.Errorf("the list of what is in %s is %+v, want Go's own library", name, bom.Components)
		}
	}
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(readFile(t, file)), into); err != nil {
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

func checksum(t *testing.T, file string) string {
	t.Helper()
	return fmt.Sprintf("%x", sha256.Sum256([]byte(readFile(t, file))))
}

func TestRelease_BadInput_IsNamed(t *testing.T) {
	good := release{Version: "v1.2.3", Registry: "registry.example.com/a", Commit: "c", Source: "s", Output: filepath.Join(t.TempDir(), "new")}
	tests := map[string]struct {
		change func(*release)
		want   string
	}{
		"nothing wrong":       {func(*release) {}, ""},
		"no version":          {func(r *release) { r.Version = "" }, "--version="},
		"version without v":   {func(r *release) { r.Version = "1.2.3" }, "--version=1.2.3"},
		"of no commit":        {func(r *release) { r.Version = "v1.2.3-dirty with changes" }, "--version="},
		"bare registry":       {func(r *release) { r.Registry = "sei-operator" }, "--registry=sei-operator: write the registry's host first"},
		"bare registry, path": {func(r *release) { r.Registry = "sei/operator" }, "--registry=sei/operator"},
		"local registry":      {func(r *release) { r.Registry = "localhost:5000/sei" }, ""},
		"plain http":          {func(r *release) { r.Download = "http://downloads.example.com" }, "--download=http://downloads.example.com: write the https:// address"},
		"slash at the end":    {func(r *release) { r.Download = "https://downloads.example.com/a/" }, "without a slash at the end"},
		"download, with port": {func(r *release) { r.Download = "https://downloads.example.com:8443/v1.2.3" }, ""},
		"older release":       {func(r *release) { r.Output = t.TempDir() }, "remove it first"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := good
			tc.change(&r)
			err := r.check()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("check = %v, want %q", err, tc.want)
			}
		})
	}
}
