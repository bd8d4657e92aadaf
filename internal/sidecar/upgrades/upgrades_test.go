package upgrades_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/upgrades"
)

func TestRecord_IsKeptAndForgotten(t *testing.T) {
	home := t.TempDir()
	if got, err := upgrades.Read(home); got != nil || err != nil {
		t.Fatalf("without a record: %+v, %v", got, err)
	}
	want := &upgrades.Record{Applied: []api.AppliedUpgrade{{Name: "v7", Height: 5}}, Plan: &api.Upgrade{Name: "v8", Height: 9}, Passed: 3}
	if err := upgrades.Write(home, want); err != nil {
		t.Fatal(err)
	}
	got, err := upgrades.Read(home)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("(-want +got):\n%s%v", diff, err)
	}
	if !got.Has("v7") || got.Has("v8") {
		t.Errorf("%+v, want v7 and no v8 in it", got)
	}
	if err := upgrades.Forget(home); err != nil {
		t.Fatal(err)
	}
	if got, err := upgrades.Read(home); got != nil || err != nil {
		t.Errorf("forgotten: %+v, %v", got, err)
	}
}

func TestRead_DamagedRecord_IsAnError(t *testing.T) {
	home := t.TempDir()
	if err := upgrades.Write(home, &upgrades.Record{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(upgrades.Path(home), []byte(`{"app`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := upgrades.Read(home); err == nil {
		t.Errorf("%+v, want an error", got)
	}
}
