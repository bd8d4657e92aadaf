package handlers_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers"
)

func TestAll_HasEveryTaskTypeOnceButThoseOfTheGate(t *testing.T) {
	want := []api.TaskType{
		api.SnapshotRestore, api.SnapshotUploadOnce, api.ConfigureGenesis, api.ConfigApply, api.ConfigPatch, api.ConfigValidate,
		api.ConfigReload, api.ConfigureStateSync, api.StopSeid, api.RestartSeid, api.ResetData, api.AwaitCondition,
		api.GenerateIdentity, api.GenerateGentx, api.ExportGentx, api.AssembleGenesis, api.UploadGenesisArtifacts,
		api.AssembleAndUploadGenesis, api.SetGenesisPeers, api.GovVote, api.GovSoftwareUpgrade, api.GovParamChange, api.ResultExport,
	}
	slices.Sort(want)
	all := handlers.All(handlers.Config{Home: t.TempDir(), ChainID: "test-1", Registry: prometheus.NewRegistry()})
	got := make([]api.TaskType, 0, len(all))
	for _, h := range all {
		got = append(got, h.Type)
		if err := h.Validate([]byte(`{"noSuchField":1}`)); err == nil || api.DetailOf(err).Field != "noSuchField" {
			t.Errorf("%s takes a parameter it does not have: %v", h.Type, err)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task types (-want +got):\n%s", diff)
	}
}
