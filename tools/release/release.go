package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// module is the project's own; its name is also the address of its sources.
const module = "github.com/sei-operator/sei-operator"

// release is what is to be built.
type release struct {
	Version, Registry, Commit, Source, Output, Builder string
	// Download is the address of the folder that the files will be downloaded from. Empty means that it is
	// unknown yet.
	Download string
}

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// product is an image and what is in it. The first program is its entry point.
type product struct {
	name     string
	programs []string
	roots    bool
}

// The sidecar is built first: the manager names it by digest.
var (
	sidecar = product{name: "sidecar", programs: []string{"sidecar", "sidecar-storage"}}
	// The certificates are for AWS, which peer sources of type ec2Tags ask.
	manager = product{name: "manager", programs: []string{"manager"}, roots: true}
)

// architectures of the images.
var architectures = []string{"amd64", "arm64"}

func run(ctx context.Context, r *release) error {
	if err := r.check(); err != nil {
		return err
	}
	notes, err := r.notes()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.Output, 0o755); err != nil { //nolint:gosec // what is in it is for everybody
		return fmt.Errorf("making the folder of the release: %w", err)
	}
	sources, err := listPackages(ctx, r.Source)
	if err != nil {
		return err
	}
	if err := r.images(ctx, sources); err != nil {
		return err
	}
	archives, err := r.plugin(ctx, sources)
	if err != nil {
		return err
	}
	if r.Download == "" {
		fmt.Fprintf(os.Stderr, "release: %s, the krew manifest, is left out: --download says where the plugin's archives will be\n", krewFile)
	} else if err := r.krew(archives); err != nil {
		return err
	}
	if err := r.write("release-notes.md", []byte(notes)); err != nil {
		return err
	}
	if err := r.provenance(sources); err != nil {
		return err
	}
	return r.checksums()
}

// images builds the images, and what installs them.
func (r *release) images(ctx context.Context, sources []sourcePackage) error {
	sidecarImage, err := r.product(ctx, sidecar, sources, "")
	if err != nil {
		return err
	}
	managerImage, err := r.product(ctx, manager, sources, sidecarImage)
	if err != nil {
		return err
	}
	if err := r.manifest(managerImage); err != nil {
		return err
	}
	return r.chart(managerImage, sidecarImage)
}

// product builds an image with the programs in it, and the list of what they were made from. It returns the image's
// name with its digest.
func (r *release) product(ctx context.Context, p product, sources []sourcePackage, sidecarImage string) (string, error) {
	var programs []string
	for _, arch := range architectures {
		for _, program := range p.programs {
			file := r.file(binary(program, arch))
			if err := r.compile(ctx, program, platform{"linux", arch}, sidecarImage, file); err != nil {
				return "", err
			}
			programs = append(programs, file)
		}
	}
	digest, err := r.image(p)
	if err != nil {
		return "", fmt.Errorf("building the image %s: %w", p.name, err)
	}
	if err := r.sbom(p.name, r.imageComponent(p, digest), programs, sources); err != nil {
		return "", fmt.Errorf("listing what is in the image %s: %w", p.name, err)
	}
	name := r.tag(p) + "@" + digest
	fmt.Fprintln(os.Stderr, "release:", name)
	return name, nil
}

// imageComponent describes an image in its SBOM.
func (r *release) imageComponent(p product, digest string) *cdx.Component {
	return &cdx.Component{
		BOMRef: r.tag(p) + "@" + digest, Type: cdx.ComponentTypeContainer, Name: r.Registry + "/" + p.name, Version: r.Version,
		Hashes:   &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: strings.TrimPrefix(digest, "sha256:")}},
		Licenses: licenseChoices([]string{"Apache-2.0"}),
	}
}

func (r *release) tag(p product) string { return r.Registry + "/" + p.name + ":" + r.Version }

// file is a file of the release.
func (r *release) file(name string) string { return filepath.Join(r.Output, name) }

// write writes a file of the release.
func (r *release) write(name string, content []byte) error {
	if err := os.WriteFile(r.file(name), content, 0o644); err != nil { //nolint:gosec // what is in it is for everybody
		return fmt.Errorf("writing a file of the release: %w", err)
	}
	return nil
}

func binary(program, arch string) string { return program + "-linux-" + arch }
