package handlers_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

func TestAll_HasEveryTaskTypeOnceButThoseOfTheGate(t *testing.T) {
	want := []api.TaskType{
		api.SnapshotRestore, api.SnapshotUpload, api.SnapshotUploadOnce, api.PublishSnapshots, api.ConfigureGenesis, api.ConfigApply, api.ConfigPatch,
		api.ConfigValidate,
		api.ConfigReload, api.ConfigureStateSync, api.StopSeid, api.RestartSeid, api.ResetData, api.AwaitCondition,
		api.GenerateIdentity, api.GenerateGentx, api.ExportGentx, api.AssembleGenesis, api.UploadGenesisArtifacts,
		api.AssembleAndUploadGenesis, api.ExportGenesis, api.SetGenesisPeers, api.GovVote, api.GovSoftwareUpgrade, api.GovParamChange, api.ResultExport,
		api.SetResultExport,
	}
	slices.Sort(want)
	all, _ := handlers.All(handlers.Config{Home: t.TempDir(), ChainID: "test-1", Registry: prometheus.NewRegistry()})
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

func TestAll_TheFirstTaskSweepsWhatAKilledProcessLeft(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"tmp/.sei-tmp-identity-1/config/node_key.json", "config/.sei-tmp-genesis.json-2", "data/.sei-tmp-snapshot-3/x", "data/kept"} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	all, _ := handlers.All(handlers.Config{Home: dir, ChainID: "test-1"})
	harness := handlertest.New(all)
	if _, err := harness.Run(t, api.ExportGentx, ""); err == nil {
		t.Error("an empty home has a gentx")
	}
	var left []string
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if !e.IsDir() {
			left = append(left, filepath.Base(file))
		}
		return err
	})
	if diff := cmp.Diff([]string{"kept"}, left); diff != "" || err != nil {
		t.Errorf("files (-want +got):\n%s%v", diff, err)
	}
}
