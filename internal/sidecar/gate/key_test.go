package gate

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

const (
	ownAddress = "220642DF18497C96D079B701C72C1DBF802E3A9B"
	ownKey     = `{
  "address": "220642DF18497C96D079B701C72C1DBF802E3A9B",
  "pub_key": {"type": "tendermint/PubKeyEd25519", "value": "vdFS80rF/2hD/PZCXEDcDHnfDo8f5zN3A0XumT3i8jU="},
  "priv_key": {"type": "tendermint/PrivKeyEd25519",
    "value": "qEQ4U9VQMt1H07vsmxks16cjxXm0bHL75GMpGRTkxdS90VLzSsX/aEP89kJcQNwMed8Ojx/nM3cDRe6ZPeLyNQ=="}
}`
)

func (g Gate) configure(t *testing.T, mode, key string) {
	t.Helper()
	config := filepath.Join(g.Home, "config")
	err := errors.Join(os.MkdirAll(config, 0o750), os.WriteFile(filepath.Join(config, "config.toml"), []byte(`mode = "`+mode+`"`), 0o600))
	if key != "" {
		err = errors.Join(err, os.WriteFile(filepath.Join(config, "priv_validator_key.json"), []byte(key), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The key is named at every start: it may be another one in the next container.
func TestRun_NamesTheKeyItSees(t *testing.T) {
	for name, tc := range map[string]struct {
		mode, key string
		asked     string
		want      supervision.Key
	}{
		"validator":       {"validator", ownKey, ownAddress, supervision.Key{Address: ownAddress}},
		"full node":       {"full", ownKey, "", supervision.Key{Address: ownAddress}},
		"in capitals":     {"full\"\nMODE = \"validator", ownKey, ownAddress, supervision.Key{Address: ownAddress}},
		"no key":          {"validator", "", api.GateAddressUnknown, supervision.Key{Error: "there is no consensus key: priv_validator_key.json does not exist"}},
		"unreadable key":  {"validator", "{", api.GateAddressUnknown, supervision.Key{Error: "priv_validator_key.json: is not valid JSON (at byte 0)"}},
		"seed with a key": {"seed", ownKey, "", supervision.Key{Address: ownAddress}},
	} {
		t.Run(name, func(t *testing.T) {
			var g Gate
			var told supervision.Key
			g, s := gateAt(t, func(string) (int, string) {
				told = record(t, g).Key // the sidecar reads it while it is asked
				return http.StatusOK, `{"state":"open"}`
			})
			g.configure(t, tc.mode, tc.key)
			if err := g.Run(t.Context(), []string{"true"}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tc.asked, tc.asked}, s.questions()); diff != "" {
				t.Error(diff)
			}
			if told.Address != tc.want.Address || (told.Error == "") != (tc.want.Error == "") {
				t.Errorf("told %+v, want %+v", told, tc.want)
			}
		})
	}
}

func TestRun_RecordsTheAddressThatSeidSignsWith(t *testing.T) {
	g, _ := gateAt(t, opened)
	g.configure(t, "validator", ownKey)
	g.Rules.Starting = func() error { return nil }
	var seen supervision.Record
	g.Running = func() { seen = record(t, g) }
	if err := g.Run(t.Context(), []string{"true"}); err != nil {
		t.Fatal(err)
	}
	if seen.ConsensusAddress != ownAddress || seen.State != api.SeidRunning {
		t.Errorf("while it runs: %+v, want %s with the address %s", seen, api.SeidRunning, ownAddress)
	}
}

func TestRun_ConfigurationThatCannotBeRead_IsRefused(t *testing.T) {
	asked := 0
	var g Gate
	g, _ = gateAt(t, func(string) (int, string) {
		if asked++; asked == 2 {
			g.configure(t, "full", "")
		}
		return http.StatusOK, `{"state":"open"}`
	})
	g.configure(t, `"broken`, "")
	if err := g.Run(t.Context(), []string{"true"}); err != nil || asked < 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
