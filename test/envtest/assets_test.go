package envtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// programsIn makes a folder with empty programs.
func programsIn(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFindPrograms_AssetsWithAll_AreUsedForAll(t *testing.T) {
	dir := programsIn(t, "etcd", "kube-apiserver", "kube-controller-manager")
	t.Setenv(assetsVariable, dir)
	t.Setenv(controllerManagerVariable, "")
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager"} {
		if got, want := programs[name], filepath.Join(dir, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestFindPrograms_ControllerManagerNamed_GoesBeforeTheAssets(t *testing.T) {
	t.Setenv(assetsVariable, programsIn(t, "etcd", "kube-apiserver", "kube-controller-manager"))
	want := filepath.Join(programsIn(t, "kube-controller-manager"), "kube-controller-manager")
	t.Setenv(controllerManagerVariable, want)
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	if got := programs["kube-controller-manager"]; got != want {
		t.Errorf("kube-controller-manager is %q, want %q", got, want)
	}
}

// No Kubernetes is built for version 0.0.0, so nothing but the variables can help.
func TestFindPrograms_SomethingMissing_IsNamedWithWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		assets  []string
		manager string
		want    []string
	}{
		"no API server":                          {assets: []string{"etcd"}, want: []string{"kube-apiserver", "unset KUBEBUILDER_ASSETS"}},
		"the official archive":                   {assets: []string{"etcd", "kube-apiserver", "kubectl"}, want: []string{"kube-controller-manager", "KUBE_CONTROLLER_MANAGER", "make k8s"}},
		"a controller manager that is not there": {assets: []string{"etcd", "kube-apiserver"}, manager: "nowhere", want: []string{"KUBE_CONTROLLER_MANAGER", "nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("K8S_VERSION", "0.0.0")
			t.Setenv(assetsVariable, programsIn(t, c.assets...))
			t.Setenv(controllerManagerVariable, c.manager)
			programs, err := findPrograms()
			if err == nil {
				t.Fatalf("found %v, want an error", programs)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %q, want %q in it", err, want)
				}
			}
		})
	}
}
