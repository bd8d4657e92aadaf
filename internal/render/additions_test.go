package render_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/internal/render"
)

// N18
func TestAdditions_WhatOthersPutIntoATemplate_IsNamed(t *testing.T) {
	cases := []struct {
		name   string
		change func(*corev1.PodTemplateSpec)
		want   []string
	}{
		{"nothing", func(*corev1.PodTemplateSpec) {}, nil},
		{"a label", func(p *corev1.PodTemplateSpec) { p.Labels["added"] = "x" }, []string{"label added"}},
		{"a container", func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "added"})
		}, []string{"container added"}},
		{"an init container", func(p *corev1.PodTemplateSpec) {
			p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: "added"})
		}, []string{"container added"}},
		{"a variable", func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: "ADDED"})
		}, []string{"environment variable ADDED of container seid"}},
		{"a volume and its mount", func(p *corev1.PodTemplateSpec) {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "added"})
			p.Spec.Containers[0].VolumeMounts = append(p.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "added", MountPath: "/added"})
		}, []string{"mount /added of container seid", "volume added"}},
		{"defaults of the API server", func(p *corev1.PodTemplateSpec) {
			p.Spec.DNSPolicy, p.Spec.SchedulerName = corev1.DNSClusterFirst, "default-scheduler"
			p.Spec.Containers[0].TerminationMessagePath = "/dev/termination-log"
			p.Spec.Containers[0].ImagePullPolicy = corev1.PullIfNotPresent
		}, nil},
		{"an annotation", func(p *corev1.PodTemplateSpec) { p.Annotations["kubectl.kubernetes.io/restartedAt"] = "now" }, nil},
		{"an image, which apply puts back", func(p *corev1.PodTemplateSpec) { p.Spec.Containers[0].Image = "evil:1" }, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := input(fullNode())
			want, err := render.StatefulSet(in)
			if err != nil {
				t.Fatal(err)
			}
			live := statefulSet(t, in).Spec.Template
			c.change(&live)
			if got := render.Additions(want.Spec.Template, &live); !slices.Equal(got, c.want) {
				t.Errorf("additions %q, want %q", got, c.want)
			}
		})
	}
}

func TestAdditions_OwnTemplateOfEveryMode_HasNone(t *testing.T) {
	for name, n := range everyNode() {
		want, err := render.StatefulSet(input(n))
		if err != nil {
			t.Fatal(err)
		}
		live := statefulSet(t, input(n)).Spec.Template
		if got := render.Additions(want.Spec.Template, &live); len(got) != 0 {
			t.Errorf("%s: %q, want none", name, got)
		}
	}
}
