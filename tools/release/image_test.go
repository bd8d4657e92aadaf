package main

import (
	"archive/tar"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// checkImages follows the names: the manifest names the manager's image, and the manager the sidecar's, by the digests
// that the archives have.
func checkImages(t *testing.T, r *release) {
	t.Helper()
	digests := map[string]string{}
	for _, p := range []product{sidecar, manager} {
		digest, files := unpack(t, r.file(p.name+".oci.tar"), r.Version)
		digests[p.name] = r.tag(p) + "@" + digest
		for _, arch := range architectures {
			for _, program := range p.programs {
				if files[arch][program] != readFile(t, r.file(binary(program, arch))) {
					t.Errorf("/%s in the image for %s is not the released program", program, arch)
				}
			}
		}
		roots := files["amd64"]["etc/ssl/certs/ca-certificates.crt"]
		if has := strings.Count(roots, "BEGIN CERTIFICATE") > 50; has != p.roots {
			t.Errorf("the image %s has root certificates: %v, want %v", p.name, has, p.roots)
		}
	}
	manifest := readFile(t, r.file("sei-operator.yaml"))
	if want := "image: " + digests["manager"] + "\n"; !strings.Contains(manifest, want) {
		t.Errorf("the manifest has no %s:\n%s", want, manifest)
	}
	if runtime.GOOS != "linux" || !slices.Contains(architectures, runtime.GOARCH) {
		return
	}
	out, err := exec.CommandContext(t.Context(), r.file(binary("manager", runtime.GOARCH))).CombinedOutput()
	if want := r.Version + " " + r.Commit + " " + digests["sidecar"]; err != nil || string(out) != want {
		t.Errorf("the manager says %q, %v, want %q", out, err, want)
	}
}

// unpack validates the only image of an archive, and returns its digest and its files by architecture.
func unpack(t *testing.T, file, name string) (string, map[string]map[string]string) {
	t.Helper()
	dir := write(t, readTar(t, file))
	at, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	top, err := at.IndexManifest()
	if err != nil || len(top.Manifests) != 1 || top.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != name {
		t.Fatalf("the archive's index is %+v, %v, want one entry named %s", top, err, name)
	}
	index, err := at.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Fatal(err)
	}
	platforms, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]map[string]string{}
	for _, descriptor := range platforms.Manifests {
		img, err := index.Image(descriptor.Digest)
		if err != nil {
			t.Fatal(err)
		}
		files[descriptor.Platform.Architecture] = imageFiles(t, img)
	}
	return top.Manifests[0].Digest.String(), files
}

func imageFiles(t *testing.T, img v1.Image) map[string]string {
	t.Helper()
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("got %d layers, %v, want one", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = content.Close() }()
	return entriesOf(t, content)
}

func readTar(t *testing.T, file string) map[string]string {
	t.Helper()
	return entriesOf(t, strings.NewReader(readFile(t, file)))
}

func entriesOf(t *testing.T, content io.Reader) map[string]string {
	t.Helper()
	found := map[string]string{}
	for reader := tar.NewReader(content); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = string(body)
	}
}
