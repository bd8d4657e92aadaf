package walk

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// watchFor prepares the check of what may or must follow from an action: nil for none. It is made only
// where the operator had come to rest before and nothing else is in the way.
func (w *walk) watchFor(a *action, rested bool) func() {
	if !rested || !w.sees() || w.second != nil {
		return nil
	}
	switch {
	case a.calm && w.allInOrder():
		before := w.footprint()
		return func() {
			w.counted(checkCalm)
			w.come(rest)
			if after := w.footprint(); after != before {
				w.failf(checkCalm, "%s: before %s, after %s", a.name, before, after)
			}
		}
	case a.loses && w.mayComeBack():
		names, before := w.runningNodes(), len(w.Sidecars.Starts(""))
		return func() {
			w.becomes(checkBack, func() string {
				for _, name := range names {
					if state := w.Sidecars.Process(w.Key(name)).State; state != api.SeidRunning {
						return fmt.Sprintf("seid of %s is %q, it was started %d times before and %d times by now",
							name, state, before, len(w.Sidecars.Starts("")))
					}
				}
				return ""
			})
		}
	}
	return nil
}

// footprint is which pods there are, and how often seid was started.
func (w *walk) footprint() string {
	pods := &corev1.PodList{}
	w.list(pods)
	text := fmt.Sprintf("%d starts", w.startsOfSubject())
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Labels[v1alpha1.LabelNode] != "peer" && p.Labels[v1alpha1.LabelNode] != "rival" {
			text += fmt.Sprintf(", %s %s", p.Name, p.UID)
		}
	}
	return text
}

func (w *walk) startsOfSubject() int {
	n := 0
	for _, name := range append(nodesOf(newFleet()), w.subject.name, holder) {
		n += len(w.Sidecars.Starts(w.Key(name)))
	}
	return n
}

// allInOrder reports whether every node of the subject runs its spec.
func (w *walk) allInOrder() bool {
	for _, name := range nodesOf(w.wanted) {
		n := &v1alpha1.SeiNode{}
		if !w.read(name, n) || n.DeletionTimestamp != nil || !inOrder(n) {
			return false
		}
	}
	return true
}

// runningNodes are the nodes whose seid runs.
func (w *walk) runningNodes() []string {
	var names []string
	for _, name := range nodesOf(w.wanted) {
		if w.Sidecars.Process(w.Key(name)).State == api.SeidRunning {
			names = append(names, name)
		}
	}
	return names
}

// mayComeBack reports whether nothing keeps a lost process of a node from being let through: the pod
// that takes its place is the same, and so is its key.
func (w *walk) mayComeBack() bool {
	if w.keyEdited {
		return false
	}
	for _, name := range nodesOf(w.wanted) {
		n, pod, set := &v1alpha1.SeiNode{}, &corev1.Pod{}, &appsv1.StatefulSet{}
		if !w.read(name, n) || n.DeletionTimestamp != nil || n.Spec.Paused || n.Status.Plan != nil || n.Status.Phase != v1alpha1.NodeRunning {
			return false
		}
		if !w.read(name, set) || !w.read(name+"-0", pod) || pod.Labels[appsv1.ControllerRevisionHashLabelKey] != set.Status.UpdateRevision ||
			set.Status.ObservedGeneration != set.Generation || *set.Spec.Replicas != 1 {
			return false
		}
	}
	return true
}
