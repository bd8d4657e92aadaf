package main

import (
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// checkPlugin unpacks every archive as a user does: the licence is in it, and a program for the platform of its name.
func checkPlugin(t *testing.T, r *release) {
	t.Helper()
	for _, on := range pluginPlatforms {
		archive := plugin + "-" + r.Version + "-" + on.os + "-" + on.arch
		files := readTarGzip(t, r.file(archive+".tar.gz"))
		if len(files) != 2 || files["LICENSE"] != project["LICENSE"] {
			t.Errorf("the archive for %s has %d files, want the program and the licence", on, len(files))
		}
		info, err := buildinfo.Read(strings.NewReader(files[plugin]))
		if err != nil {
			t.Fatalf("reading %s of the archive for %s: %v", plugin, on, err)
		}
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if settings["GOOS"] != on.os || settings["GOARCH"] != on.arch {
			t.Errorf("the program in the archive for %s is for %s/%s", on, settings["GOOS"], settings["GOARCH"])
		}
		if on == (platform{runtime.GOOS, runtime.GOARCH}) {
			checkPluginRuns(t, r, files[plugin])
		}
	}
	checkPluginBOM(t, r)
}

func checkPluginRuns(t *testing.T, r *release, program string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), plugin)
	if err := os.WriteFile(path, []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), path).CombinedOutput(); err != nil || string(out) != r.Version {
		t.Errorf("the plugin says %q, %v, want %s", out, err, r.Version)
	}
}

// checkPluginBOM compares the archives that the SBOM lists with those that are there.
func checkPluginBOM(t *testing.T, r *release) {
	t.Helper()
	var bom cdx.BOM
	decode(t, r.file(plugin+".cdx.json"), &bom)
	listed, want := map[string]string{}, map[string]string{}
	for _, file := range *bom.Metadata.Component.Components {
		listed[file.Name] = (*file.Hashes)[0].Value
		want[file.Name] = checksum(t, r.file(file.Name))
	}
	if diff := cmp.Diff(want, listed); diff != "" || len(listed) != len(pluginPlatforms) {
		t.Errorf("%d archives in the list of what is in the plugin (-files +list):\n%s", len(listed), diff)
	}
}

// checkKrew follows each platform of the manifest to its archive, as krew does.
func checkKrew(t *testing.T, r *release) {
	t.Helper()
	var manifest krewPlugin
	if err := yaml.UnmarshalStrict([]byte(readFile(t, r.file(krewFile))), &manifest); err != nil {
		t.Fatal(err)
	}
	if name := manifest.Metadata["name"]; name+".yaml" != krewFile || manifest.Spec.Version != r.Version {
		t.Errorf("the manifest is of %s %s, want sei %s", name, manifest.Spec.Version, r.Version)
	}
	// It has to fit into a line of krew's list.
	if text := manifest.Spec.ShortDescription; len(text) == 0 || len(text) > 50 {
		t.Errorf("the short description %q has %d characters, want 1 to 50", text, len(text))
	}
	var platforms []platform
	for _, p := range manifest.Spec.Platforms {
		platforms = append(platforms, platform{p.Selector.MatchLabels["os"], p.Selector.MatchLabels["arch"]})
		file, found := strings.CutPrefix(p.URI, r.Download+"/")
		if !found || p.SHA256 != checksum(t, r.file(file)) {
			t.Errorf("%s with the checksum %s is not a file of the release", p.URI, p.SHA256)
			continue
		}
		if _, ok := readTarGzip(t, r.file(file))[p.Bin]; !ok {
			t.Errorf("%s has no %s", file, p.Bin)
		}
	}
	if !slices.Equal(platforms, pluginPlatforms) {
		t.Errorf("the manifest is for %v, want %v", platforms, pluginPlatforms)
	}
}

func TestRelease_WithoutDownload_HasNoKrewManifest(t *testing.T) {
	r := newRelease(t)
	r.Download = ""
	if err := run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(r.file(krewFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat %s = %v, want no such file", krewFile, err)
	}
	checkStatements(t, r)
}

func readTarGzip(t *testing.T, file string) map[string]string {
	t.Helper()
	content, err := gzip.NewReader(strings.NewReader(readFile(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	return entriesOf(t, content)
}
