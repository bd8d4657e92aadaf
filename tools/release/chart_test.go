package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkChart compares the packaged chart with its sources: nothing but what a release fills in differs.
func checkChart(t *testing.T, r *release) {
	t.Helper()
	managerDigest, _ := unpack(t, r.file("manager.oci.tar"), r.Version)
	sidecarDigest, _ := unpack(t, r.file("sidecar.oci.tar"), r.Version)
	want := map[string]string{
		"sei-operator/LICENSE":     project["LICENSE"],
		"sei-operator/templates/a": project["charts/sei-operator/templates/a"],
		"sei-operator/Chart.yaml":  "name: sei-operator\n# A release sets both.\nversion: \"1.2.3\"\nappVersion: \"v1.2.3\"\n",
		"sei-operator/values.yaml": "image:\n  registry: \"" + r.Registry + "\"\n\n  digest: \"" + managerDigest + "\"\n" +
			"sidecarImage:\n  registry: \"\"\n  digest: \"" + sidecarDigest + "\"\n",
	}
	if diff := cmp.Diff(want, readTarGzip(t, r.file("sei-operator-1.2.3.tgz"))); diff != "" {
		t.Errorf("files of the chart (-want +got):\n%s", diff)
	}
}

// The chart of the repository has the fields that a release fills in, each on a line of its own.
func TestChart_OfTheRepository_IsFilledInAndOtherwiseKept(t *testing.T) {
	root := filepath.Join("..", "..")
	r := &release{Version: "v1.2.3", Registry: "registry.example.com/sei-operator", Source: root, Output: t.TempDir()}
	if err := r.chart("manager@sha256:aa", "sidecar@sha256:bb"); err != nil {
		t.Fatal(err)
	}
	packaged := readTarGzip(t, r.file("sei-operator-1.2.3.tgz"))
	want := map[string][]string{
		"Chart.yaml":  {`version: "1.2.3"`, `appVersion: "v1.2.3"`},
		"values.yaml": {`  registry: "registry.example.com/sei-operator"`, `  digest: "sha256:aa"`, `  digest: "sha256:bb"`},
	}
	for name, filled := range want {
		before := strings.Split(readFile(t, filepath.Join(root, "charts", chartName, name)), "\n")
		after := strings.Split(packaged[chartName+"/"+name], "\n")
		if len(before) != len(after) {
			t.Fatalf("%s has %d lines in the package, and %d in the repository", name, len(after), len(before))
		}
		var changed []string
		for i := range after {
			if before[i] != after[i] {
				changed = append(changed, after[i])
			}
		}
		if diff := cmp.Diff(filled, changed); diff != "" {
			t.Errorf("lines of %s that a release changes (-want +got):\n%s", name, diff)
		}
	}
}

func TestChart_FieldThatIsGone_IsNamed(t *testing.T) {
	files := map[string]string{"LICENSE": "", "charts/sei-operator/Chart.yaml": "version: a\nappVersion: b\n", "charts/sei-operator/values.yaml": "image: {registry: a}\n"}
	r := &release{Version: "v1.2.3", Source: write(t, files), Output: t.TempDir()}
	err := r.chart("manager@sha256:aa", "sidecar@sha256:bb")
	if err == nil || !strings.Contains(err.Error(), "filling in values.yaml: there is no field image.digest") {
		t.Errorf("chart = %v, want the field that is missing", err)
	}
	if files, err := os.ReadDir(r.Output); err != nil || len(files) != 0 {
		t.Errorf("%d files were written, %v", len(files), err)
	}
}
