package main

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// krewFile is named after the plugin, as krew demands.
const krewFile = "sei.yaml"

// krewPlugin is a manifest of krew, the plugin manager of kubectl.
type krewPlugin struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       krewSpec          `json:"spec"`
}

type krewSpec struct {
	Version          string         `json:"version"`
	Homepage         string         `json:"homepage"`
	ShortDescription string         `json:"shortDescription"`
	Description      string         `json:"description"`
	Platforms        []krewPlatform `json:"platforms"`
}

type krewPlatform struct {
	Selector krewSelector `json:"selector"`
	URI      string       `json:"uri"`
	SHA256   string       `json:"sha256"`
	Bin      string       `json:"bin"`
}

type krewSelector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// krew writes the manifest with which krew installs the plugin from where the archives will be.
func (r *release) krew(archives []pluginArchive) error {
	platforms := make([]krewPlatform, 0, len(archives))
	for _, archive := range archives {
		platforms = append(platforms, krewPlatform{
			Selector: krewSelector{MatchLabels: map[string]string{"os": archive.on.os, "arch": archive.on.arch}},
			URI:      r.Download + "/" + archive.name, SHA256: archive.sha256, Bin: plugin,
		})
	}
	content, err := yaml.Marshal(krewPlugin{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: map[string]string{"name": "sei"},
		Spec: krewSpec{
			Version: r.Version, Homepage: "https://" + module, ShortDescription: "Show and operate Sei blockchain nodes",
			Description: "Shows the Sei nodes and fleets that sei-operator runs, says what a node waits for and why,\n" +
				"and pauses, restarts and upgrades them. It needs the operator in the cluster.\n",
			Platforms: platforms,
		},
	})
	if err != nil {
		return fmt.Errorf("encoding the krew manifest: %w", err)
	}
	return r.write(krewFile, content)
}
