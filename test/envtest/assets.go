package envtest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	modulePath     = "github.com/sei-operator/sei-operator"
	defaultVersion = "1.37.1"
)

// binaries the control plane is made of.
var binaries = []string{"etcd", "kube-apiserver", "kube-controller-manager"}

// Assets is the folder with the control plane's binaries: KUBEBUILDER_ASSETS if
// set, and otherwise what `make k8s` built for K8S_VERSION.
func Assets() (string, error) {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		return dir, checkAssets(dir, "unset KUBEBUILDER_ASSETS, or put the binary there")
	}
	root, err := RepositoryRoot()
	if err != nil {
		return "", err
	}
	version := wantedVersion()
	dir := filepath.Join(root, ".cache", "k8s", version, "bin")
	return dir, checkAssets(dir, fmt.Sprintf("run `K8S_VERSION=%s make k8s` to build it", version))
}

func wantedVersion() string {
	if v := strings.TrimPrefix(os.Getenv("K8S_VERSION"), "v"); v != "" {
		return v
	}
	return defaultVersion
}

func checkAssets(dir, advice string) error {
	for _, name := range binaries {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("finding the control plane's %s: %w; %s", name, err, advice)
		}
		if info.Mode()&0o111 == 0 {
			return fmt.Errorf("finding the control plane's %s: %s is not executable; %s", name, path, advice)
		}
	}
	return nil
}

// RepositoryRoot is the folder with this module's go.mod, looked for from the
// working directory upwards.
func RepositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if isModuleRoot(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("finding the repository: no go.mod of " + modulePath + " above the working directory")
		}
	}
}

func isModuleRoot(dir string) bool {
	file, err := os.Open(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	return lines.Scan() && strings.TrimSpace(lines.Text()) == "module "+modulePath
}
