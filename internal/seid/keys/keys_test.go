package keys_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/keys"
)

// Keys of a throw-away home that the real binary made.
const (
	realNodeKey = `{"id":"155540ad90b5eedab08f2b062dd92111287c5532","priv_key":{"type":"tendermint/PrivKeyEd25519",` +
		`"value":"YpKjIDdIg2uEdoNb6mXPQFXbYJtaZ2Zak5KV+/WLNpx/AVic9LjzITgjrer3LDQq/CMmje1z9fGVjwxFLmfEUg=="}}`
	realConsensusKey = `{
  "address": "220642DF18497C96D079B701C72C1DBF802E3A9B",
  "pub_key": {"type": "tendermint/PubKeyEd25519", "value": "vdFS80rF/2hD/PZCXEDcDHnfDo8f5zN3A0XumT3i8jU="},
  "priv_key": {"type": "tendermint/PrivKeyEd25519",
    "value": "qEQ4U9VQMt1H07vsmxks16cjxXm0bHL75GMpGRTkxdS90VLzSsX/aEP89kJcQNwMed8Ojx/nM3cDRe6ZPeLyNQ=="}
}`
)

func TestParseNodeKey_FileOfTheRealBinary_GivesItsNodeID(t *testing.T) {
	got, err := keys.ParseNodeKey([]byte(realNodeKey))
	if err != nil {
		t.Fatal(err)
	}
	if want := (keys.NodeKey{ID: "155540ad90b5eedab08f2b062dd92111287c5532"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestParseNodeKey_WithoutID_DerivesIt(t *testing.T) {
	got, err := keys.ParseNodeKey(edit(t, realNodeKey, func(m map[string]any) { delete(m, "id") }))
	if err != nil || got.ID != "155540ad90b5eedab08f2b062dd92111287c5532" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestParseConsensusKey_FileOfTheRealBinary_GivesAddressAndPublicKey(t *testing.T) {
	got, err := keys.ParseConsensusKey([]byte(realConsensusKey))
	if err != nil {
		t.Fatal(err)
	}
	want := keys.ConsensusKey{
		Address:   "220642DF18497C96D079B701C72C1DBF802E3A9B",
		PublicKey: "vdFS80rF/2hD/PZCXEDcDHnfDo8f5zN3A0XumT3i8jU=",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseConsensusKey_LowerCaseAddress_IsTheSameAddress(t *testing.T) {
	got, err := keys.ParseConsensusKey([]byte(strings.ReplaceAll(realConsensusKey,
		"220642DF18497C96D079B701C72C1DBF802E3A9B", "220642df18497c96d079b701c72c1dbf802e3a9b")))
	if err != nil || got.Address != "220642DF18497C96D079B701C72C1DBF802E3A9B" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestParse_BadFiles_SayWhatIsWrong(t *testing.T) {
	set := func(path ...string) func(map[string]any) {
		return func(m map[string]any) {
			value := path[len(path)-1]
			for _, step := range path[:len(path)-2] {
				m = m[step].(map[string]any)
			}
			m[path[len(path)-2]] = value
		}
	}
	remove := func(path ...string) func(map[string]any) {
		return func(m map[string]any) {
			for _, step := range path[:len(path)-1] {
				m = m[step].(map[string]any)
			}
			delete(m, path[len(path)-1])
		}
	}
	both := map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"no private key":      {remove("priv_key"), "priv_key is missing"},
		"private key is text": {func(m map[string]any) { m["priv_key"] = "x" }, "priv_key is not a JSON object"},
		"value is a number":   {func(m map[string]any) { m["priv_key"].(map[string]any)["value"] = 7 }, "priv_key.value is not a JSON string"},
		"no type":             {remove("priv_key", "type"), "priv_key.type is missing"},
		"other curve":         {set("priv_key", "type", "tendermint/PrivKeySecp256k1"), `want "tendermint/PrivKeyEd25519"`},
		"no value":            {remove("priv_key", "value"), "priv_key.value is missing"},
		"not base64":          {set("priv_key", "value", "%%%"), "priv_key.value is not base64"},
		"seed only":           {set("priv_key", "value", base64.StdEncoding.EncodeToString(make([]byte, 32))), "32 bytes long, want 64"},
		"halves differ":       {set("priv_key", "value", base64.StdEncoding.EncodeToString(make([]byte, 64))), "priv_key.value is damaged"},
	}
	for name, tc := range both {
		t.Run(name, func(t *testing.T) {
			_, err := keys.ParseNodeKey(edit(t, realNodeKey, tc.change))
			wantError(t, err, "node_key.json: ", tc.want)
			_, err = keys.ParseConsensusKey(edit(t, realConsensusKey, tc.change))
			wantError(t, err, "priv_validator_key.json: ", tc.want)
		})
	}

	_, err := keys.ParseNodeKey(edit(t, realNodeKey, set("id", "0000000000000000000000000000000000000000")))
	wantError(t, err, "node_key.json: ", "but the key's id is")

	_, foreign, _ := ed25519.GenerateKey(nil)
	foreignPublic := base64.StdEncoding.EncodeToString(foreign.Public().(ed25519.PublicKey))
	consensus := map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"no address":         {remove("address"), "address is missing"},
		"foreign address":    {set("address", "0000000000000000000000000000000000000000"), "but the key's address is"},
		"no public key":      {remove("pub_key"), "pub_key is missing"},
		"foreign public key": {set("pub_key", "value", foreignPublic), "pub_key does not belong to priv_key"},
		"public key type":    {set("pub_key", "type", "x"), `want "tendermint/PubKeyEd25519"`},
	}
	for name, tc := range consensus {
		t.Run(name, func(t *testing.T) {
			_, err := keys.ParseConsensusKey(edit(t, realConsensusKey, tc.change))
			wantError(t, err, "priv_validator_key.json: ", tc.want)
		})
	}
}

func TestParse_NotOneJSONObject_SaysSo(t *testing.T) {
	tests := map[string]string{
		"":                "is empty",
		"  \n":            "is empty",
		"[]":              "is not a JSON object",
		`"text"`:          "is not a JSON object",
		"{":               "is not valid JSON",
		"key: yaml":       "is not valid JSON",
		realNodeKey + "x": "more than one JSON value",
	}
	for in, want := range tests {
		_, err := keys.ParseNodeKey([]byte(in))
		wantError(t, err, "node_key.json: ", want)
		if !strings.HasSuffix(in, "x") {
			_, err = keys.ParseConsensusKey([]byte(in))
			wantError(t, err, "priv_validator_key.json: ", want)
		}
	}
}

func TestParseKeyring_Shapes(t *testing.T) {
	full := map[string][]byte{"node_admin.info": []byte("x"), "other.info": []byte("x"), "abc.address": []byte("x"), "keyhash": []byte("x")}
	ring, err := keys.ParseKeyring(full, "node_admin")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"node_admin", "other"}, ring.KeyNames); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	tests := map[string]struct {
		data map[string][]byte
		want string
	}{
		"nothing":       {nil, "no record"},
		"no record":     {map[string][]byte{"abc.address": []byte("x")}, "no record"},
		"no address":    {map[string][]byte{"node_admin.info": []byte("x")}, "no address"},
		"empty record":  {map[string][]byte{"node_admin.info": nil, "abc.address": []byte("x")}, "node_admin.info is empty"},
		"empty address": {map[string][]byte{"node_admin.info": []byte("x"), "abc.address": nil}, "abc.address is empty"},
		"no hash":       {map[string][]byte{"node_admin.info": []byte("x"), "abc.address": []byte("x")}, "no keyhash"},
		"other name":    {map[string][]byte{"bob.info": []byte("x"), "abc.address": []byte("x")}, "no record node_admin.info; there are: bob"},
	}
	for name, tc := range tests {
		_, err := keys.ParseKeyring(tc.data, "node_admin")
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

func TestCheckPassphrase_MustBeThereAndNotEmpty(t *testing.T) {
	if err := keys.CheckPassphrase(map[string][]byte{"pass": []byte("secret")}, "pass"); err != nil {
		t.Error(err)
	}
	for want, data := range map[string]map[string][]byte{
		`no data key "pass"`: {"other": []byte("secret")},
		"is empty":           {"pass": []byte(" \n")},
	} {
		err := keys.CheckPassphrase(data, "pass")
		wantError(t, err, "keyring passphrase: ", want)
	}
}

// wantError checks an error's words, and that it holds no key material.
func wantError(t *testing.T, err error, prefix, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %q", want)
		return
	}
	if !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want %q", err, want)
	}
	for _, secret := range []string{"YpKjIDdIg2uE", "qEQ4U9VQMt1H", "secret"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows key material: %v", err)
		}
	}
}

func edit(t *testing.T, file string, change func(map[string]any)) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(file), &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
