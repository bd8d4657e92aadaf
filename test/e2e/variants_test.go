package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Upgrades whose images are in the registry alone.
const (
	upgradePulledAhead = "v7.3.0"
	upgradePulledLate  = "v7.4.0"
)

// chainUpgrades are the upgrades of the scenarios' chains, oldest first.
var chainUpgrades = []string{"v7.0.0", "v7.1.0", "v7.2.0", upgradePulledAhead, upgradePulledLate, "v7.4.1"}

// pulledUpgrades are those whose images nobody loads into the cluster.
var pulledUpgrades = []string{upgradePulledAhead, upgradePulledLate}

// upgradeImage is the release that has the handlers of an upgrade and of those before it.
func upgradeImage(upgrade string) string {
	if slices.Contains(pulledUpgrades, upgrade) {
		return registryHost + "/" + registryRepository + ":" + upgrade
	}
	return "localhost/sei-operator/seid:" + upgrade
}

// upgradeImages makes the images of all upgrades but those that are to be pulled. They share their files. It returns the
// tarball.
func upgradeImages(folder string) (string, error) {
	images := map[name.Tag]v1.Image{}
	for _, upgrade := range chainUpgrades {
		if slices.Contains(pulledUpgrades, upgrade) {
			continue
		}
		tag, err := name.NewTag(upgradeImage(upgrade))
		if err != nil {
			return "", fmt.Errorf("naming the image of upgrade %s: %w", upgrade, err)
		}
		if images[tag], err = variant(folder, upgrade); err != nil {
			return "", err
		}
	}
	path := filepath.Join(folder, "e2e", "upgrades.tar")
	if err := tarball.MultiWriteToFile(path, images); err != nil {
		return "", fmt.Errorf("writing the images of upgrades: %w", err)
	}
	return path, nil
}

// variant is a release of the one real seid. It takes the names of the upgrades that it has handlers for from its
// environment, so that releases differ in nothing else.
func variant(folder, upgrade string) (v1.Image, error) {
	image, err := tarball.ImageFromPath(filepath.Join(folder, "seid.tar"), nil)
	if err != nil {
		return nil, fmt.Errorf("reading the chain's image: %w", err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the configuration of the chain's image: %w", err)
	}
	config = config.DeepCopy()
	known := chainUpgrades[:slices.Index(chainUpgrades, upgrade)+1]
	config.Config.Env = append(config.Config.Env, "UPGRADE_VERSION_LIST="+strings.Join(known, ","))
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return nil, fmt.Errorf("changing the configuration of the chain's image: %w", err)
	}
	return image, nil
}

// withOwnLayers is an image with layers that no other image has. A container runtime asks for no layer that it knows by
// its digest, and the files of all variants are the same.
func withOwnLayers(image v1.Image, mark string) (v1.Image, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the configuration of an image: %w", err)
	}
	layers, err := image.Layers()
	if err != nil {
		return nil, fmt.Errorf("reading the layers of an image: %w", err)
	}
	config = config.DeepCopy()
	config.RootFS.DiffIDs, config.History = nil, nil
	marked, err := mutate.ConfigFile(empty.Image, config)
	if err != nil {
		return nil, fmt.Errorf("making an image without layers: %w", err)
	}
	for _, layer := range layers {
		if layer, err = withMark(layer, mark); err != nil {
			return nil, err
		}
		if marked, err = mutate.AppendLayers(marked, layer); err != nil {
			return nil, fmt.Errorf("adding a layer: %w", err)
		}
	}
	return marked, nil
}

// withMark has another digest than the layer, packed and unpacked, and the same files: what follows the end of an archive
// belongs to none of them. The mark is packed by itself, which is much quicker than to pack all files again.
func withMark(layer v1.Layer, mark string) (v1.Layer, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, mark); err != nil {
		return nil, fmt.Errorf("packing the mark of a layer: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("packing the mark of a layer: %w", err)
	}
	marked, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		content, err := layer.Compressed()
		if err != nil {
			return nil, fmt.Errorf("opening a layer: %w", err)
		}
		return struct {
			io.Reader
			io.Closer
		}{io.MultiReader(content, bytes.NewReader(packed.Bytes())), content}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("marking a layer: %w", err)
	}
	return marked, nil
}
