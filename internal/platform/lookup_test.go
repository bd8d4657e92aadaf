package platform

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

func TestLookup_ModeFallsBackToTheDefault(t *testing.T) {
	cfg, err := parse("f", []byte(`
storage:
  default: {className: standard, size: 1Ti}
  archive: {size: 40Ti}
  fullNode: {className: fast}
resources:
  default: {requests: {cpu: "2"}, limits: {memory: 8Gi}}
  seed: {limits: {memory: 1Gi}}
  replayer:
`))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ size, class, cpu, memory string }{
		v1alpha1.RoleNode:      {"1Ti", "fast", "2", "8Gi"},
		v1alpha1.RoleArchive:   {"40Ti", "standard", "2", "8Gi"},
		v1alpha1.RoleReplayer:  {"1Ti", "standard", "2", "8Gi"},
		v1alpha1.RoleValidator: {"1Ti", "standard", "2", "8Gi"},
		// An entry for a mode replaces the default's whole, requests included.
		v1alpha1.RoleSeed: {"1Ti", "standard", "0", "1Gi"},
	}
	for role, want := range tests {
		size, resources := cfg.StorageSizeFor(role), cfg.ResourcesFor(role)
		got := []string{size.String(), *cfg.StorageClassFor(role), resources.Requests.Cpu().String(), resources.Limits.Memory().String()}
		if diff := cmp.Diff([]string{want.size, want.class, want.cpu, want.memory}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", role, diff)
		}
	}
}

func TestLookup_EmptyRequests_MeanNone(t *testing.T) {
	cfg, err := parse("f", []byte("resources: {default: {requests: {}}}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.ResourcesFor(v1alpha1.RoleNode); len(got.Requests) != 0 {
		t.Errorf("got %v, want no Requests", got)
	}
}

func TestDefault_NoStorageClassAndNoLimits(t *testing.T) {
	cfg := Default()
	for _, role := range []string{v1alpha1.RoleNode, v1alpha1.RoleArchive, v1alpha1.RoleReplayer, v1alpha1.RoleValidator, v1alpha1.RoleSeed} {
		if class := cfg.StorageClassFor(role); class != nil {
			t.Errorf("%s: class %s", role, *class)
		}
		if limits := cfg.ResourcesFor(role).Limits; len(limits) != 0 {
			t.Errorf("%s: limits %v", role, limits)
		}
	}
}

func TestOver_LeavesBothSidesAlone(t *testing.T) {
	base := Scheduling{NodeSelector: map[string]string{"a": "1"}, Tolerations: make([]corev1.Toleration, 1, 8)}
	more := Scheduling{NodeSelector: map[string]string{"a": "2"}, Tolerations: []corev1.Toleration{{Key: "b"}}}
	first := base.Over(more)
	base.Over(Scheduling{Tolerations: []corev1.Toleration{{Key: "c"}}})
	if base.NodeSelector["a"] != "1" || first.NodeSelector["a"] != "2" || first.Tolerations[1].Key != "b" {
		t.Errorf("base %v, first %v", base, first)
	}
}

func TestOver_Affinity_KindByKind(t *testing.T) {
	nodes, pods := &corev1.NodeAffinity{}, &corev1.PodAffinity{}
	anti := &corev1.PodAntiAffinity{}
	tests := []struct{ base, more, want *corev1.Affinity }{
		{nil, nil, nil},
		{&corev1.Affinity{NodeAffinity: nodes}, nil, &corev1.Affinity{NodeAffinity: nodes}},
		{nil, &corev1.Affinity{PodAffinity: pods}, &corev1.Affinity{PodAffinity: pods}},
		{
			&corev1.Affinity{NodeAffinity: nodes},
			&corev1.Affinity{PodAffinity: pods, PodAntiAffinity: anti},
			&corev1.Affinity{NodeAffinity: nodes, PodAffinity: pods, PodAntiAffinity: anti},
		},
	}
	for i, tt := range tests {
		got := Scheduling{Affinity: tt.base}.Over(Scheduling{Affinity: tt.more}).Affinity
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("case %d (-want +got):\n%s", i, diff)
		}
	}
}
