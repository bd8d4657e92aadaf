package walk

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// end puts the world in order, asks for something that can be had, and wants what that is from scratch.
func (w *walk) end() {
	w.T.Helper()
	w.inOrder()
	final := w.final()
	want := fromScratch(w.T, w.subject, final)
	w.becomes(checkEnd, func() string { return difference(want, w.picture()) })
	if w.failed() {
		return
	}
	w.silent()
	w.checkAlways()
}

// inOrder undoes what was done to the world, and leaves one operator with the standard configuration.
func (w *walk) inOrder() {
	w.T.Helper()
	w.releaseCaches()
	w.endSecond()
	undo(w.blind)
	if w.keyEdited {
		w.editKey(0)
	}
	undo(w.repairs)
	w.stopOperator()
	w.setPlatform(0)
	w.startOperator()
}

// final sends a spec that can be had, to the object that is there or to a new one, together with what a
// user does who wants all of it in force: a retry, and a restart that picks up what is pending.
func (w *walk) final() client.Object {
	w.T.Helper()
	calm := func(obj client.Object) {
		s := specOf(obj)
		s.Paused = false
		if s.Image == "seid:bad" {
			s.Image = "seid:a"
		}
		if slices.ContainsFunc(overrides[3:], func(bad map[string]string) bool { return fmt.Sprint(bad) == fmt.Sprint(s.Overrides) }) {
			s.Overrides = nil
		}
		// Where the first state came from shows only on volumes that have none.
		if s.FullNode != nil {
			s.FullNode.Snapshot = nil
		}
		if f, ok := obj.(*v1alpha1.SeiNodeDeployment); ok {
			f.Spec.Paused, f.Spec.UpdateStrategy.InPlace.Partition = false, 0
		}
		ask(obj, v1alpha1.AnnotationRetry, "end")
		ask(obj, v1alpha1.AnnotationRestart, "end")
	}
	live := w.subject.make()
	if w.read(live.GetName(), live) && live.GetDeletionTimestamp() != nil {
		w.Eventually("the end of what was deleted", func() bool {
			w.deleteStrays()
			return !w.read(live.GetName(), live)
		})
	}
	w.write(calm)
	w.create()
	return w.wanted
}

// deleteStrays does what a node asks for that is being deleted and whose pod was left behind by its
// StatefulSet.
func (w *walk) deleteStrays() {
	w.T.Helper()
	nodes := &v1alpha1.SeiNodeList{}
	w.list(nodes)
	for _, n := range nodes.Items {
		if pod := n.Name + "-0"; n.DeletionTimestamp != nil && strings.Contains(n.Status.Problem, "pod "+pod+" keeps running") {
			w.drop(&corev1.Pod{}, pod, metav1.DeletePropagationBackground)
		}
	}
}

const annotationForced = "walk/forced"

// reconciles is how often everything is looked at after the end.
const reconciles = 50

// silent wants an operator that looks at everything again to write nothing.
func (w *walk) silent() {
	w.T.Helper()
	w.counted(checkSilent)
	w.reconcile(1) // what was in flight is over then
	mark := w.Recorder.Mark()
	w.reconcile(reconciles)
	for _, r := range w.Recorder.Since(mark).Writes().In(w.NS).Without("events") {
		if r.Code < http.StatusBadRequest {
			w.failf(checkSilent, "%s", r)
		}
	}
}

// reconcile makes the operator look at the subject and its nodes so many times.
func (w *walk) reconcile(times int) {
	w.T.Helper()
	w.look(w.subject.make(), w.wanted.GetName(), times)
	if w.subject.name != "fleet" {
		return
	}
	for _, name := range nodesOf(w.wanted) {
		w.look(&v1alpha1.SeiNode{}, name, times)
	}
}

func (w *walk) look(obj client.Object, name string, times int) {
	w.T.Helper()
	metric := metrics.NameNodeStatusPatches
	if _, ok := obj.(*v1alpha1.SeiNodeDeployment); ok {
		metric = metrics.NameDeploymentStatusPatches
	}
	count := func() float64 {
		return w.Patches(metric, name, statuspatch.Noop) + w.Patches(metric, name, statuspatch.Changed)
	}
	for i := range times {
		seen := count()
		world.Edit(w.World, name, obj, func(obj client.Object) {
			annotations := obj.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[annotationForced] = fmt.Sprint(i, time.Now().UnixNano())
			obj.SetAnnotations(annotations)
		})
		w.Eventually("another reconcile of "+name, func() bool { return count() > seen })
	}
}
