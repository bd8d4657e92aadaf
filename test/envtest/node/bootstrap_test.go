package node

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
)

func bootstrapped(name string) *v1alpha1.SeiNode {
	n := fullNode(name)
	n.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{S3: &v1alpha1.S3Snapshot{TargetHeight: 100}, BootstrapImage: "seid:old"}
	return n
}

// jobPod waits until the bootstrap Job's chain runs behind an open gate.
func (w nodes) jobPod(name string) *corev1.Pod {
	w.T.Helper()
	w.await(name, func(n *v1alpha1.SeiNode) bool {
		task := plan.Find(n.Status.Plan, domain.StepAwaitBootstrap)
		return task != nil && task.Status == v1alpha1.TaskRunning
	})
	pods := &corev1.PodList{}
	err := w.Client.List(w.T.Context(), pods, client.InNamespace(w.NS), client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentBootstrap})
	if err != nil || len(pods.Items) != 1 {
		w.T.Fatalf("%d bootstrap pods, %v", len(pods.Items), err)
	}
	return &pods.Items[0]
}

func (w nodes) requireNoStatefulSet(name string) {
	w.T.Helper()
	err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.NS, Name: name}, &appsv1.StatefulSet{})
	if !apierrors.IsNotFound(err) {
		w.T.Fatalf("there is a StatefulSet beside the bootstrap Job: %v", err)
	}
}

// statefulSetAfter waits for a node's StatefulSet and checks that the bootstrap pod is gone by then.
func (w nodes) statefulSetAfter(name string, pod *corev1.Pod) *appsv1.StatefulSet {
	w.T.Helper()
	return envtest.WaitFor(w.T, w.Env, w.NS, name, func(s *appsv1.StatefulSet) bool {
		if s == nil {
			return false
		}
		if err := w.Client.Get(w.T.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}); !apierrors.IsNotFound(err) {
			w.T.Errorf("the StatefulSet was made while the bootstrap pod was there: %v", err)
		}
		return true
	})
}

// The Job has the volume to itself: the StatefulSet comes after its pod is gone.
func TestBootstrap_JobThenStatefulSet_NeverBoth(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(bootstrapped("n"))
	pod := w.jobPod("n")
	w.requireNoStatefulSet("n")
	w.RestartOperator()
	w.requireNoStatefulSet("n")
	if err := w.Pods.Kill(w.NS, pod.Name, "seid", 0); err != nil {
		t.Fatal(err)
	}
	sts := w.statefulSetAfter("n", pod)
	w.await("n", settled)
	envtest.WaitGone[batchv1.Job](t, w.Env, w.NS, "n-bootstrap")
	if sts.Spec.Template.Spec.Containers[0].Image != "seid:a" {
		t.Errorf("the node runs %s", sts.Spec.Template.Spec.Containers[0].Image)
	}
	if got := count(w.Sidecars.Submissions(w.Key("n")), api.SnapshotRestore); got != 1 {
		t.Errorf("the snapshot was restored %d times", got)
	}
}

// A Job that fails is named; a retry makes another.
func TestBootstrap_FailedJob_IsNamedAndRetried(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(bootstrapped("n"))
	pod := w.jobPod("n")
	if err := w.Pods.Kill(w.NS, pod.Name, "seid", 1); err != nil {
		t.Fatal(err)
	}
	n := w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.Phase == v1alpha1.NodeFailed })
	wantMessage(t, n, v1alpha1.ConditionReady, "Job n-bootstrap failed")
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"} })
	again := w.jobPod("n")
	if again.UID == pod.UID {
		t.Fatal("the failed Job was used again")
	}
	if err := w.Pods.Kill(w.NS, again.Name, "seid", 0); err != nil {
		t.Fatal(err)
	}
	w.await("n", settled)
}
