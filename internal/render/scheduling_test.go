package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

func TestPod_Scheduling_NodeOverModeOverDefault(t *testing.T) {
	in := input(archive())
	in.Platform.Scheduling = platform.PerMode[platform.Scheduling]{
		Default: platform.Scheduling{
			NodeSelector:       map[string]string{"pool": "nodes", "arch": "amd64"},
			Tolerations:        []corev1.Toleration{{Key: "sei", Operator: corev1.TolerationOpExists}},
			PriorityClassName:  "normal",
			ServiceAccountName: "seid",
			Affinity:           &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}, PodAffinity: &corev1.PodAffinity{}},
		},
		Archive: &platform.Scheduling{NodeSelector: map[string]string{"pool": "archive"}},
		Seed:    &platform.Scheduling{PriorityClassName: "low"},
	}
	spread := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway}
	in.Node.Spec.Scheduling = &v1alpha1.SchedulingSpec{
		NodeSelector: map[string]string{"disk": "big"},
		Tolerations: []corev1.Toleration{
			{Key: "own", Operator: corev1.TolerationOpExists}, {Key: "sei", Operator: corev1.TolerationOpExists},
		},
		Affinity:                  &corev1.Affinity{PodAffinity: nil, PodAntiAffinity: &corev1.PodAntiAffinity{}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{spread},
		PriorityClassName:         "high",
	}
	got := podSpec(t, in)
	want := corev1.PodSpec{
		NodeSelector: map[string]string{"pool": "archive", "arch": "amd64", "disk": "big"},
		Tolerations: []corev1.Toleration{
			{Key: "sei", Operator: corev1.TolerationOpExists}, {Key: "own", Operator: corev1.TolerationOpExists},
		},
		Affinity: &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{}, PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{},
		},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{spread},
		PriorityClassName:         "high",
		ServiceAccountName:        "seid",
	}
	placed := corev1.PodSpec{
		NodeSelector: got.NodeSelector, Tolerations: got.Tolerations, Affinity: got.Affinity,
		TopologySpreadConstraints: got.TopologySpreadConstraints, PriorityClassName: got.PriorityClassName, ServiceAccountName: got.ServiceAccountName,
	}
	if diff := cmp.Diff(want, placed); diff != "" {
		t.Errorf("scheduling (-want +got):\n%s", diff)
	}
}

func TestPod_Scheduling_NothingAskedFor_NothingRendered(t *testing.T) {
	got := podSpec(t, input(fullNode()))
	if got.NodeSelector != nil || got.Tolerations != nil || got.Affinity != nil || got.TopologySpreadConstraints != nil || got.PriorityClassName != "" {
		t.Errorf("got %+v", got)
	}
}
