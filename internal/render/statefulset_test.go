package render_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

func TestStatefulSet_Shape(t *testing.T) {
	for name, n := range everyNode() {
		sts := statefulSet(t, input(n))
		if sts.Name != n.Name || sts.Spec.ServiceName != n.Name || sts.Namespace != n.Namespace {
			t.Errorf("%s: got name %s/%s, service %s", name, sts.Namespace, sts.Name, sts.Spec.ServiceName)
		}
		if diff := cmp.Diff(map[string]string{v1alpha1.LabelNode: n.Name}, sts.Spec.Selector.MatchLabels); diff != "" {
			t.Errorf("%s: selector (-want +got):\n%s", name, diff)
		}
		if sts.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType {
			t.Errorf("%s: update strategy %s", name, sts.Spec.UpdateStrategy.Type)
		}
		if len(sts.Spec.VolumeClaimTemplates) != 0 {
			t.Errorf("%s: has claim templates", name)
		}
		owner := sts.OwnerReferences[0]
		if owner.UID != n.UID || owner.Kind != "SeiNode" || owner.APIVersion != "sei.io/v1alpha1" || !*owner.Controller {
			t.Errorf("%s: owner %+v", name, owner)
		}
	}
}

func TestStatefulSet_Paused_HasNoReplicasAndTheSameTemplate(t *testing.T) {
	running := statefulSet(t, input(fullNode()))
	n := fullNode()
	n.Spec.Paused = true
	paused := statefulSet(t, input(n))
	if *running.Spec.Replicas != 1 || *paused.Spec.Replicas != 0 {
		t.Errorf("replicas: running %d, paused %d", *running.Spec.Replicas, *paused.Spec.Replicas)
	}
	if diff := cmp.Diff(running.Spec.Template, paused.Spec.Template); diff != "" {
		t.Errorf("pausing changes the template:\n%s", diff)
	}
}

func TestPod_Labels_OursWinOverTheUsers(t *testing.T) {
	got := statefulSet(t, input(fullNode())).Spec.Template.Labels
	want := map[string]string{
		"team": "infra", "sei.io/node": "rpc", "sei.io/chain": "pacific-1", "sei.io/role": "node",
		"sei.io/nodedeployment": "fleet", "sei.io/snapshot-publish": "true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestPod_Probes(t *testing.T) {
	for name, n := range everyNode() {
		all := containers(podSpec(t, input(n)))
		seid, sidecar := all["seid"], all["sidecar"]
		if seid.LivenessProbe != nil {
			t.Errorf("%s: seid has a liveness probe", name)
		}
		startup := seid.StartupProbe
		if startup.HTTPGet.Path != "/v0/startupz" || startup.HTTPGet.Port.IntVal != 7777 || startup.FailureThreshold != 86400 || startup.PeriodSeconds != 5 {
			t.Errorf("%s: seid's startup probe is %+v", name, startup)
		}
		ready := seid.ReadinessProbe
		if n.Spec.Seed != nil {
			if ready.TCPSocket == nil || ready.TCPSocket.Port.IntVal != 26656 || ready.HTTPGet != nil {
				t.Errorf("%s: readiness %+v", name, ready)
			}
		} else if ready.HTTPGet == nil || ready.HTTPGet.Path != "/v0/insync" || ready.HTTPGet.Port.IntVal != 7777 {
			t.Errorf("%s: readiness %+v", name, ready)
		}
		if sidecar.LivenessProbe.HTTPGet.Path != "/v0/livez" || sidecar.StartupProbe.HTTPGet.Path != "/v0/livez" {
			t.Errorf("%s: sidecar's probes are %+v and %+v", name, sidecar.LivenessProbe, sidecar.StartupProbe)
		}
		if sidecar.RestartPolicy == nil || *sidecar.RestartPolicy != corev1.ContainerRestartPolicyAlways {
			t.Errorf("%s: the sidecar is not a native sidecar", name)
		}
	}
}

func TestPod_SidecarPort_IsTheSameEverywhere(t *testing.T) {
	n := fullNode()
	n.Spec.Sidecar = &v1alpha1.SidecarSpec{Port: 9999}
	in := input(n)
	all := containers(podSpec(t, in))
	for _, name := range []string{"sidecar", "seid"} {
		env := corev1.EnvVar{Name: "SEI_SIDECAR_PORT", Value: "9999"}
		if !slices.Contains(all[name].Env, env) {
			t.Errorf("%s is not told the port", name)
		}
	}
	if got := all["sidecar"].Ports[0].ContainerPort; got != 9999 {
		t.Errorf("container port %d", got)
	}
	for what, probe := range map[string]*corev1.Probe{
		"startup of seid": all["seid"].StartupProbe, "startup": all["sidecar"].StartupProbe, "liveness": all["sidecar"].LivenessProbe,
	} {
		if probe.HTTPGet.Port.IntVal != 9999 {
			t.Errorf("%s probes port %s", what, probe.HTTPGet.Port.String())
		}
	}
	ports := typed[corev1.Service](t, render.Service(in)).Spec.Ports
	if last := ports[len(ports)-1]; last.Name != "sidecar" || last.Port != 9999 {
		t.Errorf("service port %+v", last)
	}
}

func TestPod_Images_ChainImageRunsEverythingButInstall(t *testing.T) {
	n := fullNode()
	n.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: "example.com/sidecar:own"}
	spec := podSpec(t, input(n))
	want := map[string]string{
		"install": "example.com/sidecar:own", "seid-init": n.Spec.Image, "sidecar": n.Spec.Image, "seid": n.Spec.Image,
	}
	got := map[string]string{}
	for name, c := range containers(spec) {
		got[name] = c.Image
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	if render.SeidImage(spec) != n.Spec.Image || render.SidecarImage(spec) != "example.com/sidecar:own" {
		t.Errorf("read back: %s and %s", render.SeidImage(spec), render.SidecarImage(spec))
	}
	if render.SeidImage(corev1.PodSpec{}) != "" {
		t.Error("a pod without containers has an image")
	}
}

func TestPod_NoContainer_NeedsAShell(t *testing.T) {
	for name, n := range everyNode() {
		for _, c := range containers(podSpec(t, input(n))) {
			if c.Command[0] != "/opt/sei/sidecar" && c.Command[0] != "/sidecar" {
				t.Errorf("%s: container %s runs %v", name, c.Name, c.Command)
			}
		}
	}
}

func TestPod_KeyringEnvironment_PerNode(t *testing.T) {
	backend := func(n *v1alpha1.SeiNode, container string) string {
		for _, e := range containers(podSpec(t, input(n)))[container].Env {
			if e.Name == "SEI_KEYRING_BACKEND" {
				return e.Value
			}
		}
		return ""
	}
	for _, container := range []string{"sidecar", "seid-init"} {
		got := []string{backend(validator(), container), backend(ceremonyValidator(), container), backend(fullNode(), container), backend(seed(), container)}
		if diff := cmp.Diff([]string{"file", "test", "", ""}, got); diff != "" {
			t.Errorf("%s: backends (-want +got):\n%s", container, diff)
		}
	}
}

func TestPod_Resources_OwnReplaceThePlatformsWhole(t *testing.T) {
	in := input(fullNode())
	if got := memory(containers(podSpec(t, in))["seid"].Resources.Requests); got != "512Mi" {
		t.Errorf("default memory request %s", got)
	}
	in.Node.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: quantity("256Mi")}}
	in.Node.Spec.Sidecar = &v1alpha1.SidecarSpec{Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: quantity("3")}}}
	all := containers(podSpec(t, in))
	if got := all["seid"].Resources; len(got.Requests) != 0 || memory(got.Limits) != "256Mi" {
		t.Errorf("own resources %+v: a request of the platform above the own limit would be refused", got)
	}
	if got := all["sidecar"].Resources.Requests[corev1.ResourceCPU]; got.String() != "3" {
		t.Errorf("sidecar cpu %s", got.String())
	}
}

func memory(list corev1.ResourceList) string {
	q := list[corev1.ResourceMemory]
	return q.String()
}
