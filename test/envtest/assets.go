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

const (
	assetsVariable            = "KUBEBUILDER_ASSETS"
	controllerManagerVariable = "KUBE_CONTROLLER_MANAGER"
)

// Assets is the folder with etcd and kube-apiserver: KUBEBUILDER_ASSETS if set,
// and otherwise what `make k8s` built for K8S_VERSION.
func Assets() (string, error) {
	dir, advice := os.Getenv(assetsVariable), "put it there, or unset "+assetsVariable
	if dir == "" {
		version := wantedVersion()
		built, err := builtFor(version)
		if err != nil {
			return "", err
		}
		dir, advice = filepath.Join(built, "bin"), fmt.Sprintf("run `K8S_VERSION=%s make k8s` to build it", version)
	}
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if err := checkProgram(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("finding the control plane's %s: %w; %s", name, err, advice)
		}
	}
	return dir, nil
}

// findPrograms has the paths of the programs that a control plane is made of, by name.
func findPrograms() (map[string]string, error) {
	assets, err := Assets()
	if err != nil {
		return nil, err
	}
	manager, err := controllerManager(assets)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"etcd":                    filepath.Join(assets, "etcd"),
		"kube-apiserver":          filepath.Join(assets, "kube-apiserver"),
		"kube-controller-manager": manager,
	}, nil
}

// controllerManager is the path of kube-controller-manager. The official archives for
// KUBEBUILDER_ASSETS do not hold it, so KUBE_CONTROLLER_MANAGER may name it, and otherwise
// it is taken from the assets or from what `make k8s` built, in that order.
func controllerManager(assets string) (string, error) {
	const name = "kube-controller-manager"
	if path := os.Getenv(controllerManagerVariable); path != "" {
		if err := checkProgram(path); err != nil {
			return "", fmt.Errorf("finding %s, which %s names: %w", name, controllerManagerVariable, err)
		}
		return path, nil
	}
	built, err := builtFor(wantedVersion())
	if err != nil {
		return "", err
	}
	dirs := []string{assets, filepath.Join(built, "bin"), filepath.Join(built, "controller-manager", "bin")}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if checkProgram(path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("finding %s: it is in none of %s; name it in %s, or run `make k8s`, which builds what %s lacks",
		name, strings.Join(dirs, ", "), controllerManagerVariable, assetsVariable)
}

// builtFor is the folder in which hack/build-cluster.sh builds a version of Kubernetes.
func builtFor(version string) (string, error) {
	root, err := RepositoryRoot()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, ".cache", "k8s", version), nil
}

func wantedVersion() string {
	if v := strings.TrimPrefix(os.Getenv("K8S_VERSION"), "v"); v != "" {
		return v
	}
	return defaultVersion
}

func checkProgram(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is not executable", path)
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
