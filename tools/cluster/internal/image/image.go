// Package image builds container images without a container engine: one layer of files, written as a tarball that
// "ctr images import" and "docker load" read. It fetches nothing.
package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// File is a file of the image.
type File struct {
	Source string
	Target string
	Mode   os.FileMode
}

// Spec says what goes into an image.
type Spec struct {
	Tag        string
	Files      []File
	Env        []string
	Entrypoint []string
	User       string
	Labels     map[string]string
}

// epoch is every file's time, so the same files give the same image.
var epoch = time.Unix(0, 0)

// Write builds the image into a tarball.
func Write(spec Spec, output string) error {
	tag, err := name.NewTag(spec.Tag)
	if err != nil {
		return fmt.Errorf("parsing the image's tag: %w", err)
	}
	img, err := build(spec)
	if err != nil {
		return err
	}
	aside := output + ".new"
	if err := tarball.WriteToFile(aside, tag, img); err != nil {
		return fmt.Errorf("writing the image: %w", err)
	}
	if err := os.Rename(aside, output); err != nil {
		return fmt.Errorf("writing the image: %w", err)
	}
	return nil
}

func build(spec Spec) (v1.Image, error) {
	content, err := layerContent(spec.Files)
	if err != nil {
		return nil, err
	}
	// Images stay on this machine: time matters more than size.
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("making the image's layer: %w", err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("adding the image's layer: %w", err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the image's configuration: %w", err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", runtime.GOARCH, v1.Time{Time: epoch}
	config.Config = v1.Config{Env: spec.Env, Entrypoint: spec.Entrypoint, User: spec.User, Labels: spec.Labels}
	img, err = mutate.ConfigFile(img, config)
	if err != nil {
		return nil, fmt.Errorf("setting the image's configuration: %w", err)
	}
	return img, nil
}

// layerContent is a tar of the files in the order of their targets, with the folders on the way to them.
func layerContent(files []File) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Target, b.Target) })
	var buffer bytes.Buffer
	out := tar.NewWriter(&buffer)
	made := map[string]bool{".": true}
	for i, file := range files {
		if i > 0 && files[i-1].Target == file.Target {
			if files[i-1].Source != file.Source {
				return nil, fmt.Errorf("%s is to be both %s and %s: drop one", file.Target, files[i-1].Source, file.Source)
			}
			continue
		}
		target := strings.TrimPrefix(path.Clean(file.Target), "/")
		if err := addFolders(out, path.Dir(target), made); err != nil {
			return nil, err
		}
		if err := addFile(out, file, target); err != nil {
			return nil, err
		}
	}
	if err := out.Close(); err != nil {
		return nil, fmt.Errorf("closing the layer: %w", err)
	}
	return buffer.Bytes(), nil
}

func addFolders(out *tar.Writer, folder string, made map[string]bool) error {
	if made[folder] {
		return nil
	}
	if err := addFolders(out, path.Dir(folder), made); err != nil {
		return err
	}
	made[folder] = true
	header := &tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: epoch}
	if err := out.WriteHeader(header); err != nil {
		return fmt.Errorf("adding the folder %s: %w", folder, err)
	}
	return nil
}

func addFile(out *tar.Writer, file File, target string) error {
	content, err := os.ReadFile(file.Source)
	if err != nil {
		return fmt.Errorf("reading a file of the image: %w", err)
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: target, Mode: int64(file.Mode.Perm()), Size: int64(len(content)), ModTime: epoch}
	if err := out.WriteHeader(header); err != nil {
		return fmt.Errorf("adding %s: %w", target, err)
	}
	if _, err := out.Write(content); err != nil {
		return fmt.Errorf("adding %s: %w", target, err)
	}
	return nil
}
