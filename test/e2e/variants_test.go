package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// chainUpgrades are the upgrades of the scenarios' chains, oldest first.
var chainUpgrades = []string{"v7.0.0", "v7.1.0", "v7.2.0", "v7.2.1"}

// upgradeImage is the release that has the handlers of an upgrade and of those before it.
func upgradeImage(name string) string { return "localhost/sei-operator/seid:" + name }

// saved is an image in the file manifest.json of a tarball.
type saved struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// upgradeImages are releases of the one real seid. It takes the names of the upgrades that it has handlers for from its
// environment, so the images share their files and differ in nothing else. It returns the tarball.
func upgradeImages(folder string) (string, error) {
	source, err := os.Open(filepath.Join(folder, "seid.tar"))
	if err != nil {
		return "", fmt.Errorf("opening the chain's image: %w", err)
	}
	defer func() { _ = source.Close() }()
	path := filepath.Join(folder, "e2e", "upgrades.tar")
	target, err := os.Create(path)
	if err != nil {
		return "", fmt.Errorf("making a tarball: %w", err)
	}
	w := tar.NewWriter(target)
	err = writeVariants(tar.NewReader(source), w)
	return path, errors.Join(err, w.Close(), target.Close())
}

// writeVariants copies the layers, and writes a configuration for each upgrade in place of the one.
func writeVariants(source *tar.Reader, w *tar.Writer) error {
	var manifest []saved
	small := map[string][]byte{}
	for {
		header, err := source.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading the chain's image: %w", err)
		}
		if strings.HasSuffix(header.Name, ".tar.gz") {
			err = w.WriteHeader(header)
			if err == nil {
				_, err = io.Copy(w, source)
			}
		} else {
			small[header.Name], err = io.ReadAll(source)
		}
		if err != nil {
			return fmt.Errorf("copying the chain's image: %w", err)
		}
	}
	if err := json.Unmarshal(small["manifest.json"], &manifest); err != nil || len(manifest) != 1 {
		return fmt.Errorf("reading the manifest of the chain's image: %d images, %w", len(manifest), err)
	}
	variants := make([]saved, 0, len(chainUpgrades))
	for i, name := range chainUpgrades {
		config, err := withEnv(small[manifest[0].Config], "UPGRADE_VERSION_LIST="+strings.Join(chainUpgrades[:i+1], ","))
		if err != nil {
			return err
		}
		file := fmt.Sprintf("sha256:%x", sha256.Sum256(config))
		variants = append(variants, saved{Config: file, RepoTags: []string{upgradeImage(name)}, Layers: manifest[0].Layers})
		if err := writeFile(w, file, config); err != nil {
			return err
		}
	}
	content, err := json.Marshal(variants)
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	return writeFile(w, "manifest.json", content)
}

// withEnv is an image's configuration with one more variable.
func withEnv(config []byte, variable string) ([]byte, error) {
	var image map[string]any
	if err := json.Unmarshal(config, &image); err != nil {
		return nil, fmt.Errorf("reading the configuration of the chain's image: %w", err)
	}
	run, ok := image["config"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the chain's image has no configuration: %s", config)
	}
	env, _ := run["Env"].([]any)
	run["Env"] = append(env, variable)
	changed, err := json.Marshal(image)
	if err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	return changed, nil
}

func writeFile(w *tar.Writer, name string, content []byte) error {
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
	if err == nil {
		_, err = io.Copy(w, bytes.NewReader(content))
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
