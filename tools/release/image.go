package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is who the programs run as; any other than root would do.
const user = "65532:65532"

// image writes the image for all architectures as an archive of the OCI layout, and returns its digest.
func (r *release) image(p product) (string, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range architectures {
		entries, err := r.entries(p, arch)
		if err != nil {
			return "", err
		}
		img, err := r.platformImage(p, arch, entries)
		if err != nil {
			return "", fmt.Errorf("for %s: %w", arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
	}
	digest, err := index.Digest()
	if err != nil {
		return "", err
	}
	return digest.String(), writeArchive(index, r.Version, r.file(p.name+".oci.tar"))
}

func (r *release) entries(p product, arch string) ([]entry, error) {
	var found []entry
	if p.roots {
		found = append(found, entry{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: rootCertificates()})
	}
	for _, program := range p.programs {
		content, err := os.ReadFile(r.file(binary(program, arch)))
		if err != nil {
			return nil, err
		}
		found = append(found, entry{path: program, mode: 0o755, content: content})
	}
	return found, nil
}

// rootCertificates are Mozilla's, of the version that go.mod names. Those that may only be trusted under conditions,
// which a file cannot express, are left out.
func rootCertificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return out.Bytes()
}

func (r *release) platformImage(p product, arch string, entries []entry) (v1.Image, error) {
	content, err := tarOf(entries)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.History = "linux", arch, nil
	config.Config = v1.Config{
		User: user, Entrypoint: []string{"/" + p.programs[0]},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "sei-operator " + p.name,
			"org.opencontainers.image.version":  r.Version,
			"org.opencontainers.image.revision": r.Commit,
			"org.opencontainers.image.source":   "https://" + module,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(img, config)
}

// writeArchive writes a layout with the index under its version, as tools for registries take it.
func writeArchive(index v1.ImageIndex, version, file string) error {
	dir, err := os.MkdirTemp(filepath.Dir(file), ".layout")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	at, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	name := map[string]string{"org.opencontainers.image.ref.name": version}
	if err := at.AppendIndex(index, layout.WithAnnotations(name)); err != nil {
		return err
	}
	var entries []entry
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path) //nolint:gosec // files that were written above
		relative, _ := filepath.Rel(dir, path)
		entries = append(entries, entry{path: filepath.ToSlash(relative), mode: 0o644, content: content})
		return err
	})
	if err != nil {
		return err
	}
	content, err := tarOf(entries)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644) //nolint:gosec // what is in it is for everybody
}
