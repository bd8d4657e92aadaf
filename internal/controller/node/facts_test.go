package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
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
	document := &api.Node{Seid: api.Seid{LastExit: &api.Exit{At: began.Time, Reason: api.ExitStopped, Code: 1}}}
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
		"of an older operator": {func(p *corev1.Pod) { p.Spec.InitContainers[0].Env = nil }, domain.Pod{SharedAudience: true, Plaintext: true}},
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
		pod.Spec.InitContainers = []corev1.Container{{Name: render.ContainerSidecar, Env: []corev1.EnvVar{
			{Name: render.EnvNodeUID, Value: "u"}, {Name: render.EnvTLSDir, Value: "/tls"},
		}}}
		c.change(pod)
		if diff := cmp.Diff(&c.want, podState(pod, document, began.Time)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if podState(nil, nil, began.Time) != nil {
		t.Error("there is a pod where none is")
	}
}

// A Job that has reached its height counts, however far the stored plan says it got; the plan that
// waits for the Job sees its end for itself. (N23)
func TestDomainFacts_JobThatEnded_CountsUnlessThePlanWaitsForIt(t *testing.T) {
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "n", UID: "node"}}
	job := func(ends ...batchv1.JobCondition) *batchv1.Job {
		owner := *metav1.NewControllerRef(node, v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNode))
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "n-bootstrap", OwnerReferences: []metav1.OwnerReference{owner}}}
		j.Status.Conditions = ends
		return j
	}
	done := batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}
	at := func(step string) *v1alpha1.TaskPlan {
		return &v1alpha1.TaskPlan{Phase: v1alpha1.PlanActive, Tasks: []v1alpha1.PlannedTask{{Type: step, Status: v1alpha1.TaskRunning}}}
	}
	for name, c := range map[string]struct {
		job  *batchv1.Job
		plan *v1alpha1.TaskPlan
		want bool
	}{
		"before it was made":         {nil, at(domain.StepEnsureDataPVC), false},
		"while it runs":              {job(), at(domain.StepSnapshotRestore), false},
		"the plan is not that far":   {job(done), at(domain.StepSnapshotRestore), true},
		"the plan waits for its end": {job(done), at(domain.StepAwaitBootstrap), false},
		"without a plan":             {job(done), nil, true},
	} {
		s := &scope{node: node.DeepCopy()}
		s.node.Status.Plan, s.observed.Job = c.plan, c.job
		if f := s.domainFacts(); f.Bootstrapped != c.want || s.found.Bootstrapped != c.want {
			t.Errorf("%s: %t, and to be stored %t", name, f.Bootstrapped, s.found.Bootstrapped)
		}
	}
}
