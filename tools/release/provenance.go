package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// statement is an in-toto statement with the predicate of SLSA's provenance. It holds no time: the same sources give
// the same statement. Whoever publishes signs it.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type predicate struct {
	BuildDefinition definition `json:"buildDefinition"`
	RunDetails      details    `json:"runDetails"`
}

type definition struct {
	BuildType            string            `json:"buildType"`
	ExternalParameters   map[string]string `json:"externalParameters"`
	InternalParameters   map[string]string `json:"internalParameters"`
	ResolvedDependencies []resource        `json:"resolvedDependencies"`
}

type details struct {
	Builder builder `json:"builder"`
}

type builder struct {
	ID string `json:"id"`
}

const provenanceFile = "provenance.intoto.json"

// provenance says from what and how every file of the release was made.
func (r *release) provenance(sources []sourcePackage) error {
	subjects, err := r.digests()
	if err != nil {
		return err
	}
	parameters := map[string]string{"version": r.Version, "registry": r.Registry}
	if r.Download != "" {
		parameters["download"] = r.Download
	}
	goVersion := runtime.Version()
	from := []resource{
		{URI: "git+https://" + module + "@" + r.Version, Digest: map[string]string{"gitCommit": r.Commit}},
		{Name: "go", URI: purl("std", strings.TrimPrefix(goVersion, "go"))},
	}
	for _, m := range modules(sources) {
		if m.Replace != nil {
			m = m.Replace
		}
		from = append(from, resource{Name: m.Path, URI: purl(m.Path, m.Version), Digest: map[string]string{"dirHash": dirHash(m.Sum)}})
	}
	content, err := json.MarshalIndent(statement{
		Type: "https://in-toto.io/Statement/v1", Subject: subjects, PredicateType: "https://slsa.dev/provenance/v1",
		Predicate: predicate{
			BuildDefinition: definition{
				BuildType:            "https://" + module + "/hack/release.sh",
				ExternalParameters:   parameters,
				InternalParameters:   map[string]string{"go": goVersion, "architectures": strings.Join(architectures, ","), "plugin": fmt.Sprint(pluginPlatforms)},
				ResolvedDependencies: from,
			},
			RunDetails: details{Builder: builder{ID: "https://" + strings.TrimPrefix(r.Builder, "https://")}},
		},
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the provenance: %w", err)
	}
	return r.write(provenanceFile, append(content, '\n'))
}

// checksums lists all files in the form of sha256sum.
func (r *release) checksums() error {
	files, err := r.digests()
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, file := range files {
		fmt.Fprintf(&out, "%s  %s\n", file.Digest["sha256"], file.Name)
	}
	return r.write("SHA256SUMS", []byte(out.String()))
}

// digests are the files of the release so far, in the order of their names.
func (r *release) digests() ([]resource, error) {
	files, err := os.ReadDir(r.Output)
	if err != nil {
		return nil, fmt.Errorf("listing the release: %w", err)
	}
	found := make([]resource, 0, len(files))
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(r.Output, file.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading a file of the release: %w", err)
		}
		sum := sha256.Sum256(content)
		found = append(found, resource{Name: file.Name(), Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}})
	}
	return found, nil
}
