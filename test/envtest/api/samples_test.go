package api_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// samples are the manifests in config/samples, by file.
func samples(t *testing.T, s *server) map[string]*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Root, "config", "samples", "sei*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	found := map[string]*unstructured.Unstructured{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(text, []byte("# ")) {
			t.Errorf("%s does not begin with a comment on what it is for", file)
		}
		found[filepath.Base(file)] = &unstructured.Unstructured{Object: decode(t, string(text))}
	}
	return found
}

// Samples are applied the way kubectl apply --server-side does.
func TestSamples_AreAccepted(t *testing.T) {
	s := newServer(t)
	for name, obj := range samples(t, s) {
		_, err := s.of(obj.GetKind()).Apply(t.Context(), obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "kubectl"})
		if err != nil {
			t.Errorf("applying %s: %v", name, err)
		}
		// And the way kubectl create --validate=strict does.
		strict := obj.DeepCopy()
		strict.SetName(strict.GetName() + "-x")
		if _, err := s.try(t.Context(), strict); err != nil {
			t.Errorf("creating %s strictly: %v", name, err)
		}
	}
}

func TestSamples_CoverEveryModeAndEveryKindOfTask(t *testing.T) {
	s := newServer(t)
	modes, kinds, names := map[string]bool{}, map[string]bool{}, map[string]string{}
	for file, obj := range samples(t, s) {
		if other := names[obj.GetKind()+obj.GetName()]; other != "" {
			t.Errorf("%s and %s have the same name, so they cannot be applied together", file, other)
		}
		names[obj.GetKind()+obj.GetName()] = file
		spec, _, _ := unstructured.NestedMap(obj.Object, "spec")
		if kind, ok := spec["kind"].(string); ok {
			kinds[kind] = true
		}
		for _, mode := range []string{"fullNode", "archive", "replayer", "validator", "seed"} {
			if _, ok := spec[mode]; ok {
				modes[mode] = true
			}
		}
	}
	if diff := cmp.Diff([]string{"archive", "fullNode", "replayer", "seed", "validator"}, slices.Sorted(maps.Keys(modes))); diff != "" {
		t.Errorf("modes without a sample: %s", diff)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(payloads())), slices.Sorted(maps.Keys(kinds))); diff != "" {
		t.Errorf("kinds of task without a sample: %s", diff)
	}
}

func TestSamples_AreAllInTheKustomization(t *testing.T) {
	s := newServer(t)
	text, err := os.ReadFile(filepath.Join(s.Root, "config", "samples", "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct{ Resources []string }
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		t.Fatal(err)
	}
	want := slices.SortedFunc(maps.Keys(samples(t, s)), strings.Compare)
	if diff := cmp.Diff(want, kustomization.Resources); diff != "" {
		t.Error(diff)
	}
}
