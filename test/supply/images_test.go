package supply_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/sei-operator/sei-operator/internal/platform"
)

const root = "../.."

// allowedHosts are those that nobody can own, so nothing is pulled that was not put there by the reader.
var allowedHosts = []string{"localhost", "example.com", "registry.example.com"}

func checkImage(t *testing.T, where, image string) {
	t.Helper()
	host, _, _ := strings.Cut(image, "/")
	switch {
	case !platform.NamesRegistry(image):
		t.Errorf("%s: image %s names no registry: write registry.example.com/..., or localhost/... for one that make up loads", where, image)
	case !slices.Contains(allowedHosts, host):
		t.Errorf("%s: image %s is of registry %s; manifests and examples name %s only", where, image, host, strings.Join(allowedHosts, ", "))
	}
}

// files are those of the folders that end in the suffix, relative to the repository.
func files(t *testing.T, suffix string, folders ...string) []string {
	t.Helper()
	var found []string
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, suffix) {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestManifests_EveryImage_NamesARegistry(t *testing.T) {
	images := 0
	for _, file := range files(t, ".yaml", "config") {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
		for {
			var document any
			if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			eachImage(document, func(image string) {
				images++
				checkImage(t, file, image)
			})
		}
	}
	if images < 15 {
		t.Errorf("only %d images were found in config", images)
	}
}

// eachImage visits the images that a manifest or the platform configuration names.
func eachImage(value any, visit func(string)) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			eachImage(item, visit)
		}
	case map[string]any:
		for key, item := range v {
			if name, ok := item.(string); ok && slices.Contains([]string{"image", "bootstrapImage", "newName"}, key) {
				visit(name)
				continue
			}
			if settings, ok := item.(map[string]any); ok && key == "images" {
				for _, name := range settings {
					visit(name.(string))
				}
				continue
			}
			eachImage(item, visit)
		}
	}
}

func TestPlatformConfigurations_Load(t *testing.T) {
	for _, file := range []string{"config/manager/config.yaml", "config/demo/operator/config.yaml"} {
		cfg, err := platform.Load(filepath.Join(root, file))
		if err != nil {
			t.Error(err)
			continue
		}
		checkImage(t, file, cfg.Images.Sidecar)
	}
}

// An image's value, and not that of a longer key or a sentence.
var written = regexp.MustCompile(`(?m)^[\s-]*(?:image|bootstrapImage|sidecar): *"?([^\s"#{]+)`)

func TestPages_EveryImageOfAnExample_NamesARegistry(t *testing.T) {
	images := 0
	for _, file := range append(files(t, ".md", "docs"), filepath.Join(root, "README.md")) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?ms)^ *```.*?^ *```").FindAll(content, -1) {
			for _, match := range written.FindAllSubmatch(block, -1) {
				images++
				checkImage(t, file, string(match[1]))
			}
		}
	}
	if images < 5 {
		t.Errorf("only %d images were found in the documentation", images)
	}
}
