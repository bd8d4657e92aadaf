package render_test

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/render/rendertest"
)

// The nodes the tests of this package render.
var (
	fullNode, archive, replayer, seed = rendertest.FullNode, rendertest.Archive, rendertest.Replayer, rendertest.Seed
	validator, ceremonyValidator      = rendertest.Validator, rendertest.CeremonyValidator
	everyNode, input                  = rendertest.EveryNode, rendertest.Input
)

// statefulSet renders as the API server would see it.
func statefulSet(t *testing.T, in render.Input) *appsv1.StatefulSet {
	t.Helper()
	ac, err := render.StatefulSet(in)
	if err != nil {
		t.Fatalf("rendering statefulset: %v", err)
	}
	return typed[appsv1.StatefulSet](t, ac)
}

func podSpec(t *testing.T, in render.Input) corev1.PodSpec {
	t.Helper()
	return statefulSet(t, in).Spec.Template.Spec
}

func job(t *testing.T, in render.Input) *batchv1.Job {
	t.Helper()
	ac, err := render.BootstrapJob(in)
	if err != nil {
		t.Fatalf("rendering job: %v", err)
	}
	return typed[batchv1.Job](t, ac)
}

func typed[T any](t *testing.T, applyConfiguration any) *T {
	t.Helper()
	raw, err := json.Marshal(applyConfiguration)
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	out := new(T)
	if err := json.Unmarshal(raw, out); err != nil {
		t.Fatalf("decoding: %v", err)
	}
	return out
}

func containers(spec corev1.PodSpec) map[string]corev1.Container {
	all := map[string]corev1.Container{}
	for _, c := range append(append([]corev1.Container{}, spec.InitContainers...), spec.Containers...) {
		all[c.Name] = c
	}
	return all
}
