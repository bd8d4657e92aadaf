package genesis_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

const assembleOne = `{"accountBalance":"20000000usei","namespace":"ns","nodes":[{"name":"v-0"}]`

// A chain of the same id elsewhere (another namespace, a fleet that is recreated) uses the same
// bucket. What is published there stays as it is. (G1)
func TestG1_Publish_AnotherChainOfTheSameID_LeavesWhatIsPublished(t *testing.T) {
	dir := t.TempDir()
	bucket := "file://" + dir
	ours, _ := validator(t, 0, bucket)
	theirs, _ := validator(t, 1, bucket)
	handlertest.Must[any](t, ours.Harness, api.UploadGenesisArtifacts, `{"nodeName":"v-0"}`)
	done := handlertest.Must[wire.UploadedGenesis](t, ours.Harness, api.AssembleAndUploadGenesis, assembleOne+`}`)
	before := handlertest.Files(t, dir)

	_, err := theirs.Run(t, api.UploadGenesisArtifacts, `{"nodeName":"v-0"}`)
	handlertest.WantError(t, err, api.CodePrecondition, "it was not made from this node's v-0/gentx.json")
	// Overrides make another genesis of the same transactions.
	_, err = theirs.Run(t, api.AssembleAndUploadGenesis, assembleOne+`,"overrides":{"gov.voting_params.voting_period":"1s"}}`)
	handlertest.WantError(t, err, api.CodePrecondition, done.GenesisHash)
	if !api.DetailOf(err).Terminal {
		t.Error("trying again is called useful")
	}
	requireSame(t, before, handlertest.Files(t, dir))

	// The chain itself may publish again, and repair the rest.
	if err := os.Remove(filepath.Join(dir, chainID, "peers.json")); err != nil {
		t.Fatal(err)
	}
	handlertest.Must[any](t, ours.Harness, api.UploadGenesisArtifacts, `{"nodeName":"v-0"}`)
	handlertest.Must[wire.UploadedGenesis](t, ours.Harness, api.AssembleAndUploadGenesis, assembleOne+`}`)
	requireSame(t, before, handlertest.Files(t, dir))
}

func requireSame(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name, content := range before {
		if after[name] != content {
			t.Errorf("%s changed", name)
		}
	}
	if len(before) != len(after) {
		t.Errorf("there were %d objects and are %d", len(before), len(after))
	}
}

// What the bucket holds may not be what the operator assembled; that is seen before anything is
// published. (G1)
func TestG1_Publish_AnotherHashThanExpected_PublishesNothing(t *testing.T) {
	dir := t.TempDir()
	v, _ := validator(t, 0, "file://"+dir)
	handlertest.Must[any](t, v.Harness, api.UploadGenesisArtifacts, `{"nodeName":"v-0"}`)
	before := handlertest.Files(t, dir)
	const other = "0000000000000000000000000000000000000000000000000000000000000000"
	_, err := v.Run(t, api.AssembleAndUploadGenesis, assembleOne+`,"expectedGenesisHash":"`+other+`"}`)
	handlertest.WantError(t, err, api.CodeIntegrity, "expected "+other)
	requireSame(t, before, handlertest.Files(t, dir))
}

func TestExportGenesis_GivesWhatConfigureGenesisTakes(t *testing.T) {
	v, own := validator(t, 0, "")
	made := handlertest.Must[wire.AssembledGenesis](t, v.Harness, api.AssembleGenesis,
		`{"accountBalance":"20000000usei","gentxs":[`+string(own.Gentx)+`]}`)
	handlertest.Must[wire.ConfiguredGenesis](t, v.Harness, api.ConfigureGenesis, `{"genesis":"`+made.Genesis+`"}`)
	got := handlertest.Must[wire.ExportedGenesis](t, v.Harness, api.ExportGenesis, `{"expectedGenesisHash":"`+made.GenesisHash+`"}`)
	if got.GenesisHash != made.GenesisHash || string(unpack(t, got.Genesis)) != string(unpack(t, made.Genesis)) {
		t.Errorf("exported %s, made %s", got.GenesisHash, made.GenesisHash)
	}
	const other = "0000000000000000000000000000000000000000000000000000000000000000"
	_, err := v.Run(t, api.ExportGenesis, `{"expectedGenesisHash":"`+other+`"}`)
	handlertest.WantError(t, err, api.CodePrecondition, "not "+other)
	empty := newFixture(t, handlertest.Seid(t), "")
	_, err = empty.Run(t, api.ExportGenesis, `{}`)
	handlertest.WantError(t, err, api.CodePrecondition, "genesis.json")
}
