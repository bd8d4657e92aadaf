package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

func setPodReady(pod *corev1.Pod, ready, containers corev1.ConditionStatus) {
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}, {Type: corev1.ContainersReady, Status: containers}}
}

func TestPodState_IsWhatThePodShows(t *testing.T) {
	const yes, no, unknown = corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown
	began := metav1.NewTime(controllertest.At)
	document := &api.Node{Seid: api.Seid{LastExit: &api.Exit{At: began.Time, Reason: api.ExitStopped}}}
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   domain.Pod
	}{
		"just made": {func(*corev1.Pod) {}, domain.Pod{}},
		"made from": {func(p *corev1.Pod) {
			p.Annotations = map[string]string{render.AnnotationSpecHash: "s"}
			p.Spec.Containers = []corev1.Container{{Name: render.ContainerSeid, Image: "seid:a"}}
		}, domain.Pod{Build: domain.Build{Image: "seid:a", SpecHash: "s"}}},
		"of a bootstrap Job": {func(p *corev1.Pod) {
			p.Labels = map[string]string{v1alpha1.LabelComponent: v1alpha1.ComponentBootstrap}
		}, domain.Pod{Bootstrap: true}},
		"ready":     {func(p *corev1.Pod) { setPodReady(p, yes, yes) }, domain.Pod{Ready: true}},
		"not ready": {func(p *corev1.Pod) { setPodReady(p, no, no) }, domain.Pod{}},
		"its node controller gave up": {func(p *corev1.Pod) { setPodReady(p, no, yes); p.Spec.NodeName = "k1" },
			domain.Pod{Lost: true, KubernetesNode: "k1"}},
		"its readiness is not known": {func(p *corev1.Pod) { setPodReady(p, unknown, yes) }, domain.Pod{Lost: true}},
		"nothing is known":           {func(p *corev1.Pod) { p.Status.Phase = corev1.PodUnknown }, domain.Pod{Lost: true}},
		"being deleted":              {func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }, domain.Pod{Leaving: true}},
		"waiting for a place": {func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodPending
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: no, Message: "no room"}}
		}, domain.Pod{Pending: true, Unschedulable: "no room"}},
		"its sidecar runs": {func(p *corev1.Pod) {
			p.Status.PodIP = "10.0.0.1"
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{
				{Name: render.ContainerSidecar, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			}
		}, domain.Pod{SidecarRuns: true}},
		"seid passed its gate": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: render.ContainerSeid, Started: new(true)}}
		}, domain.Pod{SeidStarted: true}},
		"of an older operator": {func(p *corev1.Pod) { p.Spec.InitContainers[0].Env = nil }, domain.Pod{SharedAudience: true}},
		"crash-looping": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{
				{Name: render.ContainerSeid, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}},
			}
		}, domain.Pod{Trouble: domain.Trouble{
			Reason: v1alpha1.ReasonPodCrashLooping, Message: "container seid is crash-looping (0 restarts): see kubectl logs n-0 -c seid --previous",
		}}},
		"restarted again and again, as its sidecar tells": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: render.ContainerSeid, RestartCount: 2, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, StartedAt: began, FinishedAt: began}},
			}}
		}, domain.Pod{}},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "n-0"}}
		pod.Spec.InitContainers = []corev1.Container{{Name: render.ContainerSidecar, Env: []corev1.EnvVar{{Name: render.EnvNodeUID, Value: "u"}}}}
		c.change(pod)
		if diff := cmp.Diff(&c.want, podState(pod, document, began.Time)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if podState(nil, nil, began.Time) != nil {
		t.Error("there is a pod where none is")
	}
}
