package node

import (
	"context"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// installSnapshots serves VolumeSnapshots until the test ends.
func (w nodes) installSnapshots() {
	w.T.Helper()
	if err := w.InstallCRDs("testdata/volumesnapshots.yaml"); err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() {
		w.Stop()
		ctx := context.Background() // the test's own is over
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "volumesnapshots.snapshot.storage.k8s.io"}}
		if err := w.Client.Delete(ctx, crd); client.IgnoreNotFound(err) != nil {
			w.T.Error(err)
		}
		err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, envtest.WaitTimeout, true, func(context.Context) (bool, error) {
			_, err := discovery.NewDiscoveryClientForConfigOrDie(w.Env.Config).ServerResourcesForGroupVersion(render.VolumeSnapshotKind.GroupVersion().String())
			return apierrors.IsNotFound(err), nil
		})
		if err != nil {
			w.T.Errorf("waiting for the end of VolumeSnapshots: %v", err)
		}
	})
}

// haltedWithBackup brings up a node that stops for upgrade v2 and is backed up before.
func (w nodes) haltedWithBackup() {
	w.T.Helper()
	node := fullNode("rpc")
	node.Spec.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v2", Image: "seid:b", SnapshotBefore: new(true)}}
	w.Create(node)
	w.await("rpc", settled)
	w.Sidecars.Amend(w.Key("rpc"), func(doc *api.Node) {
		doc.Upgrade = &api.Upgrade{Name: "v2", Height: 100}
		doc.Upgrades = &api.Upgrades{Known: true, Needed: doc.Upgrade}
	})
	w.Sidecars.SetSync(w.Key("rpc"), api.SyncUpgradeNeeded, "the chain needs another binary")
}

// snapshot is the backup of the node before an upgrade; nil when there is none.
func (w nodes) snapshot(name string) *unstructured.Unstructured {
	w.T.Helper()
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(render.VolumeSnapshotKind)
	err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.NS, Name: name}, obj)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return obj
}

// oldSnapshot is a backup from an earlier upgrade.
func (w nodes) oldSnapshot(upgrade string) {
	w.T.Helper()
	node := fullNode("rpc")
	node.Namespace = w.NS
	w.Create(render.UpgradeSnapshot(render.Input{Node: node, Platform: w.Platform}, upgrade))
}

func moved(n *v1alpha1.SeiNode) bool {
	return n.Status.CurrentImage == "seid:b" && n.Status.Plan == nil
}

func TestUpgradeSnapshot_IsCutBeforeTheNodeMoves(t *testing.T) {
	w := newWorldBeforeOthers(t)
	w.installSnapshots()
	w.Platform.VolumeSnapshots.Keep = 1
	w.StartOperator()
	w.oldSnapshot("v1")
	w.haltedWithBackup()
	w.await("rpc", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionUpgradeSnapshotTaken, metav1.ConditionFalse, v1alpha1.ReasonSnapshotPending)
	})
	w.Eventually("the backup", func() bool { return w.snapshot("rpc-before-v2") != nil })
	w.forceReconciles("rpc", 2)
	taken := w.snapshot("rpc-before-v2")
	claim, _, _ := unstructured.NestedString(taken.Object, "spec", "source", "persistentVolumeClaimName")
	if n := w.node("rpc"); moved(n) || n.Status.Upgrade.State != v1alpha1.UpgradeHalted || claim != "data-rpc" {
		t.Errorf("before it is cut: %+v, backup of %s", n.Status.Upgrade, claim)
	}
	if w.snapshot("rpc-before-v1") == nil {
		t.Error("the older backup went before the newer one was there")
	}
	if err := unstructured.SetNestedField(taken.Object, "2026-01-02T03:04:05Z", "status", "creationTime"); err != nil {
		t.Fatal(err)
	}
	if err := w.Client.Status().Update(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	w.await("rpc", func(n *v1alpha1.SeiNode) bool {
		return moved(n) && is(n, v1alpha1.ConditionUpgradeSnapshotTaken, metav1.ConditionTrue, v1alpha1.ReasonSnapshotTaken)
	})
	w.Eventually("the older backup to go", func() bool { return w.snapshot("rpc-before-v1") == nil })
	if w.snapshot("rpc-before-v2") == nil {
		t.Error("the backup is gone")
	}
}

func TestUpgradeSnapshot_NoSuchAPI_TheNodeMovesAndSaysSo(t *testing.T) {
	w := newWorldBeforeOthers(t)
	w.StartOperator()
	w.haltedWithBackup()
	w.await("rpc", func(n *v1alpha1.SeiNode) bool {
		return moved(n) && is(n, v1alpha1.ConditionUpgradeSnapshotTaken, metav1.ConditionFalse, v1alpha1.ReasonSnapshotAPIMissing)
	})
}

// Nobody waits forever for a backup, and none is left that would be cut after the upgrade.
func TestUpgradeSnapshot_NotCutInTime_TheNodeMovesWithout(t *testing.T) {
	w := newWorldBeforeOthers(t)
	w.Platform.VolumeSnapshots.Timeout = &metav1.Duration{Duration: 2 * time.Second}
	w.StartOperator()
	w.installSnapshots() // later than the operator has started
	w.haltedWithBackup()
	w.await("rpc", func(n *v1alpha1.SeiNode) bool {
		return moved(n) && is(n, v1alpha1.ConditionUpgradeSnapshotTaken, metav1.ConditionFalse, v1alpha1.ReasonSnapshotTimeout)
	})
	if w.snapshot("rpc-before-v2") != nil {
		t.Error("the backup is there, and would be cut after the upgrade")
	}
}
