package task

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
)

// podOfTemplate is a pod of a template; with a sidecar that runs.
func podOfTemplate(hash string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "n-0", Annotations: map[string]string{render.AnnotationTemplateHash: hash}}}
	pod.Status.PodIP = "198.18.0.1"
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: render.ContainerSidecar, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
	return pod
}

func TestObserveImage_OnlyARunningPodOfThePlansTemplateWillDo(t *testing.T) {
	leaving, starting := podOfTemplate("new"), podOfTemplate("new")
	leaving.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	starting.Status.InitContainerStatuses = nil
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		done bool
	}{
		"a pod of the template":           {podOfTemplate("new"), true},
		"a pod of the template before":    {podOfTemplate("old"), false},
		"a pod of the template that goes": {leaving, false},
		"a pod whose sidecar starts":      {starting, false},
		"none":                            {nil, false},
	} {
		env := &Env{Node: &v1alpha1.SeiNode{}, Observed: &Objects{Pod: c.pod}, Facts: &Facts{AppliedTemplate: "new"}}
		if o := observeImage(t.Context(), env, nil); o.IsDone() != c.done || o.IsWait() == c.done {
			t.Errorf("%s: %+v, want done: %t and waiting: not %t", name, o, c.done, c.done)
		}
	}
}

// The template that a plan has applied stays the plan's, whatever an operator of another version
// would render by now.
func TestTemplateHash_IsThePlansOwn(t *testing.T) {
	withPlan := func(status v1alpha1.TaskStatus) *v1alpha1.SeiNode {
		n := &v1alpha1.SeiNode{}
		n.Status.Plan = &v1alpha1.TaskPlan{Tasks: []v1alpha1.PlannedTask{{Type: domain.StepApplyStatefulSet, Status: status}}}
		return n
	}
	live := &appsv1.StatefulSet{}
	live.Spec.Template.Annotations = map[string]string{render.AnnotationTemplateHash: "there"}
	for name, c := range map[string]struct {
		node    *v1alpha1.SeiNode
		applied string
		want    string
	}{
		"applied in this pass": {withPlan(v1alpha1.TaskComplete), "now", "now"},
		"applied before":       {withPlan(v1alpha1.TaskComplete), "", "pinned"},
		"not applied yet":      {withPlan(v1alpha1.TaskPending), "", "there"},
		"no plan":              {&v1alpha1.SeiNode{}, "", "there"},
	} {
		env := &Env{
			Node: c.node, Observed: &Objects{StatefulSet: live}, Facts: &Facts{AppliedTemplate: c.applied}, Target: &v1alpha1.PlanTarget{PodTemplateHash: "pinned"},
			StatefulSet: func() (*appsv1ac.StatefulSetApplyConfiguration, error) {
				t.Errorf("%s: the template was rendered", name)
				return nil, errNoSource
			},
		}
		if got := env.templateHash(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
