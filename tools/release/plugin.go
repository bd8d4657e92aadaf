package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// plugin is the program that people have on their own machines, where kubectl finds it by this name.
const plugin = "kubectl-sei"

// The plugin does not compile for Windows: internal/seid/config opens files without following links, as Unix can.
var pluginPlatforms = []platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}}

// pluginArchive is what people with one kind of machine download.
type pluginArchive struct {
	on           platform
	name, sha256 string
}

// plugin builds an archive of the plugin for each platform, and the list of what the plugin was made from.
func (r *release) plugin(ctx context.Context, sources []sourcePackage) ([]pluginArchive, error) {
	licence, err := os.ReadFile(filepath.Join(r.Source, "LICENSE"))
	if err != nil {
		return nil, fmt.Errorf("reading the licence for the plugin's archives: %w", err)
	}
	dir, err := os.MkdirTemp("", "plugin")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the plugin: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var archives []pluginArchive
	var programs []string
	for _, on := range pluginPlatforms {
		program := filepath.Join(dir, on.os+"-"+on.arch)
		if err := r.compile(ctx, plugin, on, "", program); err != nil {
			return nil, err
		}
		archive, err := r.pluginArchive(on, program, licence)
		if err != nil {
			return nil, fmt.Errorf("archiving the plugin for %s: %w", on, err)
		}
		programs, archives = append(programs, program), append(archives, archive)
	}
	if err := r.sbom(plugin, r.pluginComponent(archives), programs, sources); err != nil {
		return nil, fmt.Errorf("listing what is in the plugin: %w", err)
	}
	return archives, nil
}

func (r *release) pluginArchive(on platform, program string, licence []byte) (pluginArchive, error) {
	archive := pluginArchive{on: on, name: plugin + "-" + r.Version + "-" + on.os + "-" + on.arch + ".tar.gz"}
	content, err := os.ReadFile(program) //nolint:gosec // the program that was compiled above
	if err != nil {
		return archive, err
	}
	packed, err := tarGzipOf([]entry{
		{path: plugin, mode: 0o755, content: content},
		{path: "LICENSE", mode: 0o644, content: licence},
	})
	if err != nil {
		return archive, err
	}
	sum := sha256.Sum256(packed)
	archive.sha256 = hex.EncodeToString(sum[:])
	return archive, r.write(archive.name, packed)
}

// pluginComponent describes the plugin in its SBOM, with each archive.
func (r *release) pluginComponent(archives []pluginArchive) *cdx.Component {
	files := make([]cdx.Component, 0, len(archives))
	for _, archive := range archives {
		files = append(files, cdx.Component{
			BOMRef: archive.name, Type: cdx.ComponentTypeFile, Name: archive.name,
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: archive.sha256}},
		})
	}
	return &cdx.Component{
		BOMRef: plugin + "@" + r.Version, Type: cdx.ComponentTypeApplication, Name: plugin, Version: r.Version,
		Licenses: licenseChoices([]string{"Apache-2.0"}), Components: &files,
	}
}
