package task

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

func fromSnapshot(source *v1alpha1.SnapshotSource) *Env {
	node := &v1alpha1.SeiNode{Spec: v1alpha1.SeiNodeSpec{ChainID: "test-1", FullNode: &v1alpha1.FullNodeSpec{Snapshot: source}}}
	return &Env{
		Node: node, Render: render.Input{Node: node, Platform: platform.Default()}, Observed: &Objects{}, Document: &api.Node{APILevel: api.Level},
	}
}

func TestSnapshotParams_CarryWhatTheSpecSays(t *testing.T) {
	source := &v1alpha1.SnapshotSource{
		S3: &v1alpha1.S3Snapshot{TargetHeight: 100, RequireVerified: true}, TrustPeriod: "72h", BackfillBlocks: 50, RPCServers: []v1alpha1.HostPort{"a:26657", "b:26657"},
	}
	env := fromSnapshot(source)
	restore, err := snapshotRestoreParams(t.Context(), env, nil)
	if diff := cmp.Diff(wire.SnapshotRestore{TargetHeight: 100, TrustPeriod: "72h", RequireVerified: true}, restore); err != nil || diff != "" {
		t.Errorf("restore: %v (-want +got):\n%s", err, diff)
	}
	want := wire.ConfigureStateSync{UseLocalSnapshot: true, TrustPeriod: "72h", BackfillBlocks: 50, RPCServers: []string{"a:26657", "b:26657"}}
	sync, err := stateSyncParams(t.Context(), env, nil)
	if diff := cmp.Diff(want, sync); err != nil || diff != "" {
		t.Errorf("state sync: %v (-want +got):\n%s", err, diff)
	}
	source.S3, source.StateSync = nil, &v1alpha1.StateSyncSnapshot{}
	want.UseLocalSnapshot = false
	sync, err = stateSyncParams(t.Context(), env, nil)
	if diff := cmp.Diff(want, sync); err != nil || diff != "" {
		t.Errorf("state sync from peers: %v (-want +got):\n%s", err, diff)
	}
}
