package config_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
)

// signingOverrides are overrides that would move a key, forget what was signed, hand signing to
// somebody else, or make a signer of a node that is none, in every spelling that seid takes.
func signingOverrides() map[string]string {
	overrides := map[string]string{
		"config.toml:mode": "validator", "config.toml:Mode": "validator", "config.toml:MODE": "validator", "app.toml:sei.mode": "validator",
		"config.toml:priv-validator.key-file": "/k", "config.toml:Priv-Validator.key-file": "/k", "config.toml:priv-validator.KEY-FILE": "/k",
		"config.toml:priv-validator.state-file": "/s", "config.toml:priv-validator.State-File": "/s",
		"config.toml:priv-validator.laddr": "tcp://0.0.0.0:1", "config.toml:PRIV-VALIDATOR.LADDR": "tcp://0.0.0.0:1",
		"config.toml:priv_validator.key_file": "/k", "config.toml:priv_validator_key_file": "/k", "config.toml:priv-validator-laddr": "tcp://0.0.0.0:1",
		"config.toml:priv-validator": "x",
	}
	for _, name := range config.Keys() {
		if strings.HasPrefix(name, "priv_validator.") {
			overrides[name] = "/x"
		}
	}
	return overrides
}

// N22.
func TestOverrides_ThatDecideSigning_AreRefusedInEverySpelling(t *testing.T) {
	overrides := signingOverrides()
	if n := len(overrides); n < 20 {
		t.Fatalf("only %d overrides: the table of keys has lost its section", n)
	}
	for _, mode := range []seid.Mode{seid.ModeFull, seid.ModeValidator} {
		files := initFiles(t, mode)
		for name, value := range overrides {
			one := map[string]string{name: value}
			for what, err := range map[string]error{
				"check":       config.CheckOverrides(one),
				"apply":       second(config.Apply(files, config.Intent{Mode: mode, Overrides: one})),
				"incremental": second(config.Apply(files, config.Intent{Incremental: true, Overrides: one})),
			} {
				if !errors.Is(err, config.ErrDecidesSigning) || !strings.Contains(err.Error(), `"`+name+`"`) || !strings.Contains(err.Error(), "remove the key") {
					t.Errorf("%s, %s of %s: %v", mode, what, name, err)
				}
			}
		}
	}
	if err := config.CheckOverrides(map[string]string{"mode": "full"}); !errors.Is(err, config.ErrDecidesSigning) {
		t.Errorf("the mode as an override: %v", err)
	}
	allowed := map[string]string{"storage.state_store.write_mode": "cosmos_only", "config.toml:p2p.pex": "true", "app.toml:mode": "x", "version": "2"}
	if err := config.CheckOverrides(allowed); err != nil {
		t.Errorf("keys that decide nothing about signing: %v", err)
	}
}

func second(_ config.Files, err error) error { return err }

func TestPatch_ThatDecidesSigning_IsRefused(t *testing.T) {
	files := initFiles(t, "validator")
	for _, patch := range []string{
		`{"config.toml": {"mode": "full"}}`, `{"config.toml": {"mode": null}}`, `{"config.toml": {"Mode": "validator"}}`,
		`{"config.toml": {"priv-validator": {"state-file": "/s"}}}`, `{"config.toml": {"priv-validator": {"laddr": null}}}`,
		`{"config.toml": {"priv-validator": null}}`, `{"config.toml": {"PRIV-Validator": {"key-file": "/k"}}}`,
		`{"app.toml": {"sei": {"mode": "archive"}}}`, `{"app.toml": {"sei": null}}`,
	} {
		if _, err := patchJSON(files, patch); !errors.Is(err, config.ErrDecidesSigning) {
			t.Errorf("%s: %v, want %v", patch, err, config.ErrDecidesSigning)
		}
	}
	if _, err := patchJSON(files, `{"app.toml": {"sei": {"note": 1}}, "config.toml": {"p2p": {"laddr": "tcp://0.0.0.0:1"}}}`); err != nil {
		t.Errorf("a patch that decides nothing about signing: %v", err)
	}
}

// An imported home may hold a second spelling of a key; seid would prefer it.
func TestApply_SecondSpellingInTheFiles_IsNotKept(t *testing.T) {
	files, defaults := initFiles(t, "full"), initFiles(t, "full")
	files.Config["Mode"] = "validator"
	files.Config["priv-validator.key-file"] = "/theirs"
	files.Config["Priv-Validator"] = map[string]any{"state-file": "/theirs"}
	out := apply(t, files, config.Intent{Mode: seid.ModeFull, Defaults: &defaults})
	for _, name := range []string{"Mode", "priv-validator.key-file", "Priv-Validator"} {
		if _, kept := out.Config[name]; kept {
			t.Errorf("%s was kept", name)
		}
	}
	if config.Signs(out) {
		t.Error("the result signs")
	}
}

func TestValidate_SecondSpelling_IsAnError(t *testing.T) {
	for name, set := range map[string]func(config.Tree){
		"mode":          func(c config.Tree) { c["Mode"] = "full" },
		"section":       func(c config.Tree) { c["Priv-validator"] = map[string]any{"laddr": "x"} },
		"key":           func(c config.Tree) { c["priv-validator"].(map[string]any)["Key-File"] = "x" },
		"dot in a name": func(c config.Tree) { c["priv-validator.laddr"] = "x" },
	} {
		files := apply(t, initFiles(t, "full"), config.Intent{Mode: seid.ModeFull})
		files.Config = maps.Clone(files.Config)
		set(files.Config)
		found := config.Validate(files, config.Facts{})
		if !slices.ContainsFunc(found, func(d config.Diagnostic) bool { return strings.Contains(d.Message, "another spelling") }) {
			t.Errorf("%s: %v, want one about another spelling", name, found)
		}
	}
}

// What seid would do is read as seid reads it.
func TestSigns_ReadsAsSeidDoes(t *testing.T) {
	for name, tc := range map[string]struct {
		toml          string
		signs         bool
		remote, state string
	}{
		"full":           {toml: "mode='full'"},
		"validator":      {toml: "mode='validator'", signs: true},
		"capitals":       {toml: "mode='full'\nMode='validator'", signs: true},
		"only capitals":  {toml: "MODE='validator'", signs: true},
		"one of two":     {toml: "mode='validator'\nMode='full'", signs: true},
		"remote":         {toml: "[priv-validator]\nladdr='tcp://a:1'", remote: "tcp://a:1"},
		"other section":  {toml: "[priv-validator]\nladdr=''\n[Priv-Validator]\nLADDR='tcp://a:1'", remote: "tcp://a:1"},
		"dot in a name":  {toml: "'priv-validator.state-file'='/s'\n[priv-validator]\nstate-file='data/x'", state: "/s"},
		"state file":     {toml: "[priv-validator]\nstate-file='data/x'", state: "/home/data/x"},
		"not a text":     {toml: "mode=1\n[priv-validator]\nladdr=2"},
		"unrelated text": {toml: "[other]\nmode='validator'"},
	} {
		files := parse(t, tc.toml, "")
		if tc.state == "" {
			tc.state = "/home/data/priv_validator_state.json"
		}
		if config.Signs(files) != tc.signs || config.RemoteSigner(files) != tc.remote || config.SigningState(files, "/home") != tc.state {
			t.Errorf("%s: signs %v, remote %q, state %q", name, config.Signs(files), config.RemoteSigner(files), config.SigningState(files, "/home"))
		}
	}
}

func TestSigningVariable_IsWhatSeidWouldRead(t *testing.T) {
	for name, want := range map[string]bool{
		"SEID_MODE": true, "SEID_PRIV_VALIDATOR_KEY_FILE": true, "SEID_PRIV_VALIDATOR_LADDR": true, "SEID_PRIV_VALIDATOR_STATE_FILE": true,
		"SEID_LOG_LEVEL": false, "MODE": false, "SEID_MODEL": false, "HOME": false,
	} {
		if got := config.SigningVariable(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
