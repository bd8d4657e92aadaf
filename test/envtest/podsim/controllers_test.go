package podsim_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

func onDeleteSet(name string) *appsv1.StatefulSet {
	labels := map[string]string{"app": name}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: name, Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image:1"}}},
			},
		},
	}
}

// The simulator is to be trusted with revisions: under OnDelete, whether
// currentRevision follows a replaced pod depends on the real controller's
// version. It does from 1.37 on.
func TestStatefulSet_OnDelete_ReplacedPodMovesCurrentRevisionFrom137On(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	set := onDeleteSet("s")
	w.create(t, set)
	old := w.pod(t, "s-0", isReady)
	settled := func(s *appsv1.StatefulSet) bool {
		return s != nil && s.Status.ObservedGeneration == s.Generation && s.Status.AvailableReplicas == 1
	}
	before := envtest.WaitFor(t, w.Env, w.ns, "s", settled)

	patch := client.MergeFrom(before.DeepCopy())
	before.Spec.Template.Spec.Containers[0].Image = "image:2"
	if err := w.Client.Patch(t.Context(), before, patch); err != nil {
		t.Fatal(err)
	}
	changed := envtest.WaitFor(t, w.Env, w.ns, "s", func(s *appsv1.StatefulSet) bool {
		return settled(s) && s.Status.UpdateRevision != s.Status.CurrentRevision
	})
	if p := w.pod(t, "s-0", isReady); p.UID != old.UID || p.Labels[appsv1.ControllerRevisionHashLabelKey] != changed.Status.CurrentRevision {
		t.Error("OnDelete replaced the pod by itself")
	}
	w.delete(t, old)
	fresh := envtest.WaitReplaced(t, w.Env, old, isReady)
	if fresh.Labels[appsv1.ControllerRevisionHashLabelKey] != changed.Status.UpdateRevision {
		t.Errorf("the new pod is of revision %s, want %s", fresh.Labels[appsv1.ControllerRevisionHashLabelKey], changed.Status.UpdateRevision)
	}
	follows, err := w.ControllersAtLeast(t.Context(), 37)
	if err != nil {
		t.Fatal(err)
	}
	after := envtest.WaitFor(t, w.Env, w.ns, "s", func(s *appsv1.StatefulSet) bool {
		return settled(s) && s.Status.UpdatedReplicas == 1 && (!follows || s.Status.CurrentRevision == s.Status.UpdateRevision)
	})
	if got := after.Status.CurrentRevision == after.Status.UpdateRevision; got != follows {
		t.Errorf("currentRevision follows updateRevision: %t, want %t", got, follows)
	}
	t.Logf("follows: %t; currentRevision %s, updateRevision %s", follows, after.Status.CurrentRevision, after.Status.UpdateRevision)
}

func job(name string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(0)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				InitContainers: []corev1.Container{
					{Name: "sidecar", Image: "sidecar:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
				},
				Containers: []corev1.Container{{Name: "main", Image: "image:1"}},
			}},
		},
	}
}

func TestJob_EndsAsItsContainerDoes(t *testing.T) {
	for name, c := range map[string]struct {
		code  int32
		phase corev1.PodPhase
		want  batchv1.JobConditionType
	}{
		"completes": {0, corev1.PodSucceeded, batchv1.JobComplete},
		"fails":     {3, corev1.PodFailed, batchv1.JobFailed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, podsim.Options{})
			w.create(t, job("j"))
			running := envtest.WaitForList(t, w.Env, &corev1.PodList{}, func(l *corev1.PodList) bool {
				return len(l.Items) == 1 && isReady(&l.Items[0])
			}, client.InNamespace(w.ns))
			pod := running.Items[0].Name
			if err := w.sim.Kill(w.ns, pod, "main", c.code); err != nil {
				t.Fatal(err)
			}
			p := w.pod(t, pod, func(p *corev1.Pod) bool { return p.Status.Phase == c.phase })
			if s := status(p, "sidecar").State.Terminated; s == nil {
				t.Error("the sidecar outlives the pod's work")
			}
			if s := status(p, "main").State.Terminated; s == nil || s.ExitCode != c.code {
				t.Errorf("main ended as %+v", status(p, "main").State)
			}
			envtest.WaitFor(t, w.Env, w.ns, "j", func(j *batchv1.Job) bool {
				if j == nil {
					return false
				}
				for _, cond := range j.Status.Conditions {
					if cond.Type == c.want && cond.Status == corev1.ConditionTrue {
						return true
					}
				}
				return false
			})
		})
	}
}

func TestInitContainer_ThatFails_FailsAPodThatDoesNotRestart(t *testing.T) {
	w := newWorld(t, podsim.Options{})
	w.sim.Rule(podsim.Match{Container: "first"}, podsim.Behaviour{Exit: new(int32(9))})
	w.create(t, newPod("never", withInit, func(s *corev1.PodSpec) { s.RestartPolicy = corev1.RestartPolicyNever }))
	p := w.pod(t, "never", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if status(p, "main").State.Running != nil || status(p, "sidecar").State.Running != nil {
		t.Error("containers run although an init container failed")
	}
}
