package walk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/task"
)

// wrongStatus says what a status says that is not so.
func (w *walk) wrongStatus() string {
	nodes := &v1alpha1.SeiNodeList{}
	w.list(nodes)
	for i := range nodes.Items {
		if wrong := w.wrongNode(&nodes.Items[i]); wrong != "" {
			return nodes.Items[i].Name + ": " + wrong
		}
	}
	f := &v1alpha1.SeiNodeDeployment{}
	if w.subject.name != "fleet" || !w.read(w.wanted.GetName(), f) || f.DeletionTimestamp != nil {
		return ""
	}
	if f.Status.ObservedGeneration != f.Generation {
		return fmt.Sprintf("generation %d of the fleet was seen, it is %d", f.Status.ObservedGeneration, f.Generation)
	}
	if !conditions.Is(f.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "") || f.Spec.UpdateStrategy.InPlace.Partition > 0 || f.Spec.Paused {
		return ""
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if n.Labels[v1alpha1.LabelDeployment] == f.Name && slices.Contains(nodesOf(f), n.Name) &&
			(n.Spec.Image != f.Spec.Template.Spec.Image || !maps.Equal(n.Spec.Overrides, f.Spec.Template.Spec.Overrides)) {
			return fmt.Sprintf("the fleet is Ready and %s has not its template", n.Name)
		}
	}
	return ""
}

// wrongNode says what a node's status says that is not so.
func (w *walk) wrongNode(n *v1alpha1.SeiNode) string {
	if n.DeletionTimestamp != nil {
		return ""
	}
	if n.Status.ObservedGeneration != n.Generation {
		return fmt.Sprintf("generation %d was seen, it is %d", n.Status.ObservedGeneration, n.Generation)
	}
	pod, set := &corev1.Pod{}, &appsv1.StatefulSet{}
	runs := w.read(n.Name+"-0", pod) && w.read(n.Name, set) && metav1.IsControlledBy(pod, set) && metav1.IsControlledBy(set, n)
	home, process := w.Sidecars.Home(w.Key(n.Name)), w.Sidecars.Process(w.Key(n.Name))
	_, answers := task.SidecarStarted(pod)
	if runs && answers && n.Status.ConfigHash != home.ConfigHash {
		return fmt.Sprintf("configuration %q is on the volume, and %q in the status", home.ConfigHash, n.Status.ConfigHash)
	}
	if runs && answers && n.Status.CurrentImage != pod.Spec.Containers[0].Image {
		return fmt.Sprintf("the pod runs %q, and %q is in the status", pod.Spec.Containers[0].Image, n.Status.CurrentImage)
	}
	if !conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "") {
		return ""
	}
	disk := w.Sidecars.Disk(w.Key(n.Name)).Overrides
	switch {
	case !runs || process.State != api.SeidRunning:
		return fmt.Sprintf("it is Ready, and seid is %q", process.State)
	case len(process.RestartDue) > 0:
		return fmt.Sprintf("it is Ready, and a restart is due for %v", process.RestartDue)
	case strings.TrimPrefix(pod.Spec.Containers[0].Image, "mirror.example.org/") != n.Spec.Image:
		return fmt.Sprintf("it is Ready, wants %s and runs %s", n.Spec.Image, pod.Spec.Containers[0].Image)
	}
	for key, value := range n.Spec.Overrides {
		if disk[key] != value {
			return fmt.Sprintf("it is Ready, wants %s of %s and has %s", key, value, disk[key])
		}
	}
	return ""
}
