package chart

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	root      = "../.."
	chartDir  = root + "/charts/sei-operator"
	namespace = "sei-operator"
	registry  = "registry.example.com/sei-operator"
)

// values are a chart's values.
type values = map[string]any

func loadChart(t *testing.T, path string) *chartv2.Chart {
	t.Helper()
	chart, err := loader.Load(path)
	if err != nil {
		t.Fatalf("loading the chart: %v", err)
	}
	return chart
}

// template does what helm template does.
func template(t *testing.T, namespace string, v values) (string, error) {
	t.Helper()
	install := action.NewInstall(action.NewConfiguration())
	install.DryRunStrategy = action.DryRunClient
	install.ReleaseName, install.Namespace = "sei-operator", namespace
	install.KubeVersion = &common.KubeVersion{Version: "v1.37.1", Major: "1", Minor: "37"}
	release, err := install.RunWithContext(t.Context(), loadChart(t, chartDir), v)
	if err != nil {
		return "", err
	}
	return release.(*releasev1.Release).Manifest, nil
}

// render renders the chart with a registry and further values.
func render(t *testing.T, namespace string, v values) []*unstructured.Unstructured {
	t.Helper()
	manifest, err := template(t, namespace, withRegistry(v))
	if err != nil {
		t.Fatalf("rendering the chart: %v", err)
	}
	return decode(t, manifest)
}

func withRegistry(v values) values {
	image, _ := v["image"].(values)
	merged := values{"image": loader.MergeMaps(values{"registry": registry}, image)}
	return loader.MergeMaps(v, merged)
}

// kustomize renders folders of config.
func kustomize(t *testing.T, folders ...string) []*unstructured.Unstructured {
	t.Helper()
	var manifests strings.Builder
	for _, folder := range folders {
		cmd := exec.CommandContext(t.Context(), binary(t, "kubectl"), "kustomize", filepath.Join(root, "config", folder))
		var problems strings.Builder
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("rendering config/%s: %v\n%s", folder, err, problems.String())
		}
		fmt.Fprintf(&manifests, "---\n%s", out)
	}
	return decode(t, manifests.String())
}

// assets is the folder of Kubernetes' binaries.
func assets() string {
	if folder := os.Getenv("KUBEBUILDER_ASSETS"); folder != "" {
		return folder
	}
	version := strings.TrimPrefix(os.Getenv("K8S_VERSION"), "v")
	if version == "" {
		version = "1.37.1"
	}
	return filepath.Join(root, ".cache", "k8s", version, "bin")
}

func binary(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(assets(), name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("finding %s: %v; make k8s builds it", name, err)
	}
	return path
}

func decode(t *testing.T, manifests string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096)
	for {
		var document runtime.RawExtension
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("reading manifests: %v", err)
		}
		if len(document.Raw) == 0 || string(document.Raw) == "null" {
			continue // comments alone
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(document.Raw); err != nil {
			t.Fatalf("reading manifests: %v", err)
		}
		objects = append(objects, object)
	}
}

// name of an object, for messages and for finding its like.
func name(object *unstructured.Unstructured) string {
	return strings.TrimPrefix(strings.Join([]string{object.GetNamespace(), object.GetKind(), object.GetName()}, "/"), "/")
}
