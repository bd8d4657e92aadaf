package node

import (
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// endBootstrap has the chain of a bootstrap Job reach its height.
func (w nodes) endBootstrap(name string) {
	w.T.Helper()
	if err := w.Pods.Kill(w.NS, w.jobPod(name).Name, "seid", 0); err != nil {
		w.T.Fatal(err)
	}
}

// requireOneBootstrap checks that the volume was prepared once, by one Job, that no Job was made once
// there was a StatefulSet, and that none is left.
func (w nodes) requireOneBootstrap(name string) {
	w.T.Helper()
	made, statefulSet := 0, false
	for _, r := range w.Recorder.All().Writes().In(w.NS) {
		switch {
		case r.Resource == "statefulsets":
			statefulSet = true
		case r.Resource != "jobs" || r.Verb == "delete":
		case statefulSet:
			w.T.Errorf("a Job was made beside the StatefulSet: %+v", r)
		default:
			made++
		}
	}
	if restored := count(w.Sidecars.Submissions(w.Key(name)), api.SnapshotRestore); made != 1 || restored != 1 {
		w.T.Errorf("%d Jobs were made and %d snapshots restored, want one each", made, restored)
	}
	envtest.WaitGone[batchv1.Job](w.T, w.Env, w.NS, name+"-bootstrap")
	w.sound()
}

// N11, S7: after the bootstrap a step of the node itself fails. The retry continues there.
func TestN11_RetryAfterTheBootstrap_MakesNoJob(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(bootstrapped("n"))
	w.jobPod("n")
	w.Sidecars.Program(w.Key("n"), api.ConfigValidate, sidecarsim.Outcome{
		Error: api.Terminal(api.CodeInternal, errors.New("seid could not be tried")), Times: 1,
	})
	w.endBootstrap("n")
	n := w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.Phase == v1alpha1.NodeFailed })
	if n.Status.LastPlan.FailedTask != domain.StepConfigValidate || !n.Status.Bootstrapped {
		t.Fatalf("last plan %+v, bootstrapped %t", n.Status.LastPlan, n.Status.Bootstrapped)
	}
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"} })
	w.await("n", settled)
	w.requireOneBootstrap("n")
}

// N11, S7: the image is edited while the Job runs. The Job continues: it has an image of its own.
func TestN11_ImageEditedDuringTheBootstrap_TheJobGoesOn(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(bootstrapped("n"))
	before := w.jobPod("n")
	at := w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.ObservedGeneration >= at.Generation })
	if pod := w.jobPod("n"); pod.UID != before.UID || pod.DeletionTimestamp != nil {
		t.Errorf("the bootstrap pod %s became %s", before.UID, pod.UID)
	}
	w.endBootstrap("n")
	w.await("n", settled)
	w.requireOneBootstrap("n")
}

// N11, S7: the image is edited while the node's own pod is brought up after the bootstrap.
func TestN11_ImageEditedAfterTheBootstrap_MakesNoJob(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(bootstrapped("n"))
	w.jobPod("n")
	validated := w.Sidecars.Program(w.Key("n"), api.ConfigValidate, sidecarsim.Outcome{Hang: true})
	w.endBootstrap("n")
	w.Eventually("the node's own pod to validate its configuration", func() bool {
		return count(w.Sidecars.Submissions(w.Key("n")), api.ConfigValidate) == 2
	})
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	validated()
	w.await("n", settled)
	w.requireOneBootstrap("n")
}

// N11, S7: without a bootstrap image the Job goes, and the StatefulSet comes after its pod.
func TestN11_BootstrapImageRemovedMidway_JobGoesFirst(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(bootstrapped("n"))
	pod := w.jobPod("n")
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.FullNode.Snapshot.BootstrapImage = "" })
	w.statefulSetAfter("n", pod)
	envtest.WaitGone[batchv1.Job](t, w.Env, w.NS, "n-bootstrap")
	w.await("n", settled)
	w.sound()
}
