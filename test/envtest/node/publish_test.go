package node

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// publisher is a node that publishes its snapshots.
func publisher(name string) *v1alpha1.SeiNode {
	n := fullNode(name)
	n.Spec.FullNode.SnapshotGeneration = &v1alpha1.SnapshotGeneration{
		Tendermint: &v1alpha1.TendermintSnapshotGeneration{KeepRecent: 2, Publish: &v1alpha1.SnapshotPublish{}},
	}
	return n
}

// published is a settled node of which the condition says so.
func published(status metav1.ConditionStatus, reason string) func(*v1alpha1.SeiNode) bool {
	return func(n *v1alpha1.SeiNode) bool {
		return settled(n) && is(n, v1alpha1.ConditionSnapshotsPublished, status, reason)
	}
}

func TestPublish_TheSidecarIsToldOnceAndTheStatusFollows(t *testing.T) {
	w := newWorld(t)
	w.Platform.Buckets.Snapshot = "s3://snapshots"
	w.StartOperator()
	w.Create(publisher("n"))
	n := w.await("n", published(metav1.ConditionFalse, v1alpha1.ReasonNothingPublished))
	if n.Spec.PublishKeep() != 5 || n.Spec.FullNode.SnapshotGeneration.Tendermint.Publish.Keep != 5 {
		t.Errorf("publish is %+v, want the default of 5", n.Spec.FullNode.SnapshotGeneration.Tendermint.Publish)
	}
	at := time.Now().Truncate(time.Second)
	undo := w.Sidecars.Amend(w.Key("n"), func(d *api.Node) { d.Published.Height, d.Published.Time = 2000, &at })
	n = w.await("n", published(metav1.ConditionTrue, v1alpha1.ReasonPublished))
	if last := n.Status.LastPublished; last == nil || last.Height != 2000 || !last.Time.Time.Equal(at) {
		t.Errorf("last published %+v", last)
	}
	if got := count(w.Sidecars.Submissions(w.Key("n")), api.PublishSnapshots); got != 1 {
		t.Errorf("the sidecar was told %d times", got)
	}
	mark := w.Recorder.Mark()
	w.forceReconciles("n", 5)
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes at rest")
	undo()

	w.Sidecars.Amend(w.Key("n"), func(d *api.Node) { d.Published.Error = "writing s3://snapshots: AccessDenied" })
	w.await("n", published(metav1.ConditionFalse, v1alpha1.ReasonPublishFailed))
}

// A change of keep reaches the sidecar and nothing else.
func TestPublish_AnotherKeep_RestartsNothing(t *testing.T) {
	w := newWorld(t)
	w.Platform.Buckets.Snapshot = "s3://snapshots"
	w.StartOperator()
	w.bringUp(publisher("n"))
	w.await("n", published(metav1.ConditionFalse, v1alpha1.ReasonNothingPublished))
	pod := &corev1.Pod{}
	w.Get("n-0", pod)
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.FullNode.SnapshotGeneration.Tendermint.Publish.Keep = 9 })
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && n.Status.LastPlan != nil && n.Status.LastPlan.Reason == domain.ReasonPublishingChanged &&
			count(w.Sidecars.Submissions(w.Key("n")), api.PublishSnapshots) == 2
	})
	now := &corev1.Pod{}
	w.Get("n-0", now)
	if now.UID != pod.UID || n.Status.LastPlan.Outcome != v1alpha1.OutcomeComplete {
		t.Errorf("pod %s became %s, last plan %+v", pod.UID, now.UID, n.Status.LastPlan)
	}
}

func TestPublish_WithoutABucket_SaysWhatToDo(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(publisher("n"))
	n := w.await("n", published(metav1.ConditionFalse, v1alpha1.ReasonNoBucket))
	wantMessage(t, n, v1alpha1.ConditionSnapshotsPublished, "set buckets.snapshot")
}

func TestPublish_AnOlderSidecar_IsNotToldAndTheConditionSaysSo(t *testing.T) {
	w := newWorld(t)
	w.Platform.Buckets.Snapshot = "s3://snapshots"
	w.Sidecars.SetLevel(w.Key("n"), api.LevelGenesis)
	w.WithoutTLS()
	w.StartOperator()
	w.Create(publisher("n"))
	w.await("n", published(metav1.ConditionFalse, v1alpha1.ReasonSidecarTooOld))
	if got := count(w.Sidecars.Submissions(w.Key("n")), api.PublishSnapshots); got != 0 {
		t.Errorf("the sidecar was told %d times", got)
	}
}

// A snapshot source without a height asks for the newest one.
func TestSnapshot_S3WithoutAHeight_AsksForTheNewest(t *testing.T) {
	w := newOperatedWorld(t)
	n := fullNode("n")
	n.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{S3: &v1alpha1.S3Snapshot{}, RPCServers: []v1alpha1.HostPort{"a:1", "b:1"}}
	w.bringUp(n)
	if got := w.Sidecars.Disk(w.Key("n")).Restored; len(got) != 1 || got[0] != 0 {
		t.Errorf("restored %v, want the newest once", got)
	}
}
