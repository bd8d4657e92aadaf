package lifecycle_test

import (
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
	"github.com/sei-operator/sei-operator/internal/sidecar/upgrades"
)

func TestReset_ForgetsTheUpgradesOfTheState(t *testing.T) {
	f := newFixture(t)
	home := string(f.tasks.Node.Home)
	if err := upgrades.Write(home, &upgrades.Record{Applied: []api.AppliedUpgrade{{Name: "v7", Height: 5}}}); err != nil {
		t.Fatal(err)
	}
	handlertest.Must[wire.WipedData](t, f.Harness, api.ResetData, `{}`)
	if record, err := upgrades.Read(home); record != nil || err != nil {
		t.Errorf("record %+v, %v", record, err)
	}
}

func TestReset_ForgetsThatTheNodeWasInSync(t *testing.T) {
	f := newFixture(t)
	home := string(f.tasks.Node.Home)
	if err := stage.MarkSynced(home, stage.Mark{Height: 5}); err != nil {
		t.Fatal(err)
	}
	handlertest.Must[wire.WipedData](t, f.Harness, api.ResetData, `{}`)
	if synced, err := stage.Synced(home); synced || err != nil {
		t.Errorf("synced %v, %v", synced, err)
	}
}
