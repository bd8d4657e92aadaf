package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// chartName is the Helm chart's name, and that of its folder.
const chartName = "sei-operator"

// chart packages the Helm chart so that it installs the released images by digest. A package is a plain archive, so
// Helm itself, which would write times into it, is not needed.
func (r *release) chart(managerImage, sidecarImage string) error {
	entries, err := r.chartEntries(map[string][]setting{
		"Chart.yaml": {
			{[]string{"version"}, r.chartVersion()},
			{[]string{"appVersion"}, r.Version},
		},
		"values.yaml": {
			{[]string{"image", "registry"}, r.Registry},
			{[]string{"image", "digest"}, digestOf(managerImage)},
			{[]string{"sidecarImage", "digest"}, digestOf(sidecarImage)},
		},
	})
	if err != nil {
		return fmt.Errorf("packaging the chart: %w", err)
	}
	content, err := tarGzipOf(entries)
	if err != nil {
		return fmt.Errorf("packaging the chart: %w", err)
	}
	return r.write(chartName+"-"+r.chartVersion()+".tgz", content)
}

// chartVersion is a semantic version without the v, as Helm wants it.
func (r *release) chartVersion() string { return strings.TrimPrefix(r.Version, "v") }

func digestOf(image string) string {
	_, digest, _ := strings.Cut(image, "@")
	return digest
}

// chartEntries are the files of the chart with the settings of some of them, and the licence.
func (r *release) chartEntries(settings map[string][]setting) ([]entry, error) {
	folder := os.DirFS(filepath.Join(r.Source, "charts", chartName))
	var entries []entry
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		if content, err = fill(content, settings[name]); err != nil {
			return fmt.Errorf("filling in %s: %w", name, err)
		}
		entries = append(entries, entry{path: path.Join(chartName, name), mode: 0o644, content: content})
		return nil
	})
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(filepath.Join(r.Source, "LICENSE"))
	return append(entries, entry{path: path.Join(chartName, "LICENSE"), mode: 0o644, content: licence}), err
}

// setting is a value for a field of a YAML file.
type setting struct {
	path  []string
	value string
}

// fill replaces the values of fields that are there, and nothing else: people read the file with its comments and empty
// lines, which an encoder would change.
func fill(content []byte, settings []setting) ([]byte, error) {
	if len(settings) == 0 {
		return content, nil
	}
	document, err := yaml.Parse(string(content))
	if err != nil {
		return nil, fmt.Errorf("parsing: %w", err)
	}
	lines := strings.Split(string(content), "\n")
	for _, s := range settings {
		field, err := document.Pipe(yaml.Lookup(s.path...))
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", strings.Join(s.path, "."), err)
		}
		if field == nil {
			return nil, fmt.Errorf("there is no field %s", strings.Join(s.path, "."))
		}
		at := field.YNode()
		line := &lines[at.Line-1]
		*line = (*line)[:at.Column-1] + strconv.Quote(s.value)
	}
	return []byte(strings.Join(lines, "\n")), nil
}
