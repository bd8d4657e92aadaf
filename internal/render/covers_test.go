package render_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/internal/render"
)

// defaulted is a StatefulSet as the API server gives it back: with every default
// filled in, quantities in other words, and fields of other writers.
func defaulted(t *testing.T, in render.Input) *appsv1.StatefulSet {
	t.Helper()
	sts := statefulSet(t, in)
	sts.TypeMeta = metav1.TypeMeta{}
	sts.ResourceVersion, sts.Generation, sts.UID = "42", 3, "u"
	sts.Annotations = map[string]string{"somebody": "else"}
	sts.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	sts.Spec.RevisionHistoryLimit = new(int32(10))
	pod := &sts.Spec.Template.Spec
	pod.RestartPolicy, pod.DNSPolicy, pod.SchedulerName = corev1.RestartPolicyAlways, corev1.DNSClusterFirst, "default-scheduler"
	for _, list := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range list {
			c := &list[i]
			c.TerminationMessagePath, c.ImagePullPolicy = "/dev/termination-log", corev1.PullIfNotPresent
			if _, ok := c.Resources.Requests[corev1.ResourceCPU]; ok {
				cpu := c.Resources.Requests[corev1.ResourceCPU]
				c.Resources.Requests[corev1.ResourceCPU] = quantity(cpu.AsDec().String())
			}
			for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
				if p != nil {
					p.SuccessThreshold = 1
				}
			}
		}
	}
	sts.Status.Replicas = 1
	return sts
}

func TestCovers_WhatTheServerAdds_IsNoDifference(t *testing.T) {
	for name, n := range everyNode() {
		in := input(n)
		want, err := render.StatefulSet(in)
		if err != nil {
			t.Fatal(err)
		}
		if ok, path := render.Covers(want, defaulted(t, in)); !ok {
			t.Errorf("%s: differs at %s", name, path)
		}
		if ok, path := render.Covers(render.Service(in), typed[corev1.Service](t, render.Service(in))); !ok {
			t.Errorf("%s: service differs at %s", name, path)
		}
	}
}

func TestCovers_EveryChange_IsFoundWhereItIs(t *testing.T) {
	tests := map[string]struct {
		change func(*appsv1.StatefulSet)
		path   string
	}{
		"replicas": {func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(0)) }, "spec.replicas"},
		"image":    {func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "x" }, "spec.template.spec.containers[seid].image"},
		"env": {
			func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Env[0].Value = "/x" },
			"spec.template.spec.containers[seid].env[HOME].value",
		},
		"missing env": {
			func(s *appsv1.StatefulSet) {
				s.Spec.Template.Spec.Containers[0].Env = s.Spec.Template.Spec.Containers[0].Env[1:]
			},
			"spec.template.spec.containers[seid].env[HOME]",
		},
		"longer command": {
			func(s *appsv1.StatefulSet) {
				c := &s.Spec.Template.Spec.Containers[0]
				c.Command = append(c.Command, "--unsafe")
			},
			"spec.template.spec.containers[seid].command",
		},
		"argument": {
			func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Command[1] = "x" },
			"spec.template.spec.containers[seid].command[1]",
		},
		"label": {func(s *appsv1.StatefulSet) { delete(s.Labels, "sei.io/node") }, "metadata.labels.sei.io/node"},
		"owner": {func(s *appsv1.StatefulSet) { s.OwnerReferences = nil }, "metadata.ownerReferences"},
		"token": {
			func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.AutomountServiceAccountToken = nil },
			"spec.template.spec.automountServiceAccountToken",
		},
		"kind of volume": {
			func(s *appsv1.StatefulSet) {
				s.Spec.Template.Spec.Volumes[1].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
			},
			"spec.template.spec.volumes[home].emptyDir",
		},
		"quantity": {
			func(s *appsv1.StatefulSet) {
				s.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = quantity("3")
			},
			"spec.template.spec.containers[seid].resources.requests.cpu",
		},
		"mount": {
			func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[0].VolumeMounts[2].ReadOnly = false },
			"spec.template.spec.containers[seid].volumeMounts[/opt/sei].readOnly",
		},
	}
	for name, tt := range tests {
		in := input(fullNode())
		want, err := render.StatefulSet(in)
		if err != nil {
			t.Fatal(err)
		}
		live := defaulted(t, in)
		tt.change(live)
		if ok, path := render.Covers(want, live); ok || path != tt.path {
			t.Errorf("%s: covered=%v at %q, want %q", name, ok, path, tt.path)
		}
	}
}

func TestCovers_SingleValues(t *testing.T) {
	type object = map[string]any
	tests := map[string]struct {
		want, live any
		ok         bool
	}{
		"null asks for nothing":                 {object{"a": nil}, object{}, true},
		"empty text is none":                    {object{"value": ""}, object{}, true},
		"false is not nothing":                  {object{"a": false}, object{}, false},
		"zero is not nothing":                   {object{"a": 0}, object{}, false},
		"empty labels are none":                 {object{"labels": object{}}, object{}, true},
		"an empty selector is something":        {object{"labelSelector": object{}}, object{}, false},
		"empty list is none":                    {object{"a": []any{}}, object{}, true},
		"list for none":                         {object{"a": []any{1}}, object{}, false},
		"more in live":                          {object{"a": 1}, object{"a": 1, "b": 2}, true},
		"order of a merged list":                {object{"env": []any{object{"name": "a"}, object{"name": "b"}}}, object{"env": []any{object{"name": "b"}, object{"name": "a"}}}, true},
		"order of any other list":               {object{"args": []any{"a", "b"}}, object{"args": []any{"b", "a"}}, false},
		"quantities in other words":             {object{"requests": object{"cpu": "1000m"}}, object{"requests": object{"cpu": "1"}}, true},
		"text that only looks like a quantity":  {object{"value": "1000m"}, object{"value": "1"}, false},
		"number and text":                       {object{"port": 1}, object{"port": "1"}, false},
		"numbers beyond what a float can carry": {object{"h": int64(9007199254740993)}, object{"h": int64(9007199254740992)}, false},
		"object for text":                       {object{"a": object{"b": 1}}, object{"a": "b"}, false},
		"merged item without its key":           {object{"env": []any{object{"value": "x"}}}, object{"env": []any{object{"value": "x"}}}, false},
		"nothing at all":                        {object{"a": 1}, nil, false},
	}
	for name, tt := range tests {
		if ok, path := render.Covers(tt.want, tt.live); ok != tt.ok {
			t.Errorf("%s: covered=%v (%s)", name, ok, path)
		}
	}
	if ok, path := render.Covers(func() {}, nil); ok || path == "" {
		t.Errorf("a value without JSON: covered=%v (%s)", ok, path)
	}
}
