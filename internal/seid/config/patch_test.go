package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/config"
)

// patchJSON applies {"config.toml": {...}, ...}.
func patchJSON(files config.Files, text string) (config.Files, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return config.Files{}, err
	}
	patch := map[string]map[string]any{}
	for name, body := range raw {
		parsed, err := config.ParsePatch(body)
		if err != nil {
			return config.Files{}, err
		}
		patch[name] = parsed
	}
	return config.Patch(files, patch)
}

func TestPatch_MergesReplacesAndDeletes(t *testing.T) {
	files := initFiles(t, "full")
	out, err := patchJSON(files, `{
	  "config.toml": {"p2p": {"external-address": "x:26656", "persistent-peers": "a@b:1", "max-connections": 7, "upnp": null}, "log-level": "error"},
	  "app.toml": {"state-store": {"ss-enable": true, "evm-ss-split": true, "ss-backend": "pebbledb"}, "new": {"deep": {"list": [1, 2.5, "x"], "f": 1.5}}, "rosetta": null},
	  "client.toml": {"keyring-backend": "test"}
	}`)
	if err != nil {
		t.Fatal(err)
	}
	wantValues(t, out, map[string]any{
		"config.toml:p2p.external-address":    "x:26656",
		"config.toml:p2p.persistent-peers":    "a@b:1",
		"config.toml:p2p.max-connections":     int64(7),
		"config.toml:p2p.upnp":                nil,
		"config.toml:p2p.pex":                 true,
		"config.toml:log-level":               "error",
		"app.toml:state-store.evm-ss-split":   true,
		"app.toml:state-store.ss-keep-recent": int64(100000),
		"app.toml:new.deep.list":              []any{int64(1), 2.5, "x"},
		"app.toml:new.deep.f":                 1.5,
		"app.toml:rosetta":                    nil,
		"client.toml:keyring-backend":         "test",
		"client.toml:output":                  "text",
	})
	if at(files, "config.toml:log-level") != "info" {
		t.Error("the input was changed")
	}
}

func TestPatch_NumbersKeepTheirType(t *testing.T) {
	tests := map[string]struct {
		patch map[string]any
		place string
		want  any
	}{
		"JSON number":                 {map[string]any{"mempool": map[string]any{"size": json.Number("5000")}}, "config.toml:mempool.size", int64(5000)},
		"decoded as float64":          {map[string]any{"mempool": map[string]any{"size": 5000.0}}, "config.toml:mempool.size", int64(5000)},
		"Go int":                      {map[string]any{"mempool": map[string]any{"size": 5000}}, "config.toml:mempool.size", int64(5000)},
		"written as 5000.0":           {map[string]any{"mempool": map[string]any{"size": json.Number("5000.0")}}, "config.toml:mempool.size", int64(5000)},
		"quoted":                      {map[string]any{"mempool": map[string]any{"size": "5000"}}, "config.toml:mempool.size", int64(5000)},
		"float key, whole number":     {map[string]any{"mempool": map[string]any{"drop-priority-threshold": json.Number("1")}}, "config.toml:mempool.drop-priority-threshold", 1.0},
		"unknown key, large integer":  {map[string]any{"x": json.Number("9007199254740993")}, "config.toml:x", int64(9007199254740993)},
		"unknown key, small fraction": {map[string]any{"x": json.Number("0.5")}, "config.toml:x", 0.5},
		"digits key, number":          {nil, "app.toml:iavl.pruning-interval", "10"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			patch := map[string]map[string]any{"config.toml": tc.patch}
			if tc.patch == nil {
				patch = map[string]map[string]any{"app.toml": {"iavl": map[string]any{"pruning-interval": json.Number("10")}}}
			}
			out, err := config.Patch(initFiles(t, "full"), patch)
			if err != nil {
				t.Fatal(err)
			}
			wantValues(t, out, map[string]any{tc.place: tc.want})
		})
	}
	out, err := patchJSON(initFiles(t, "full"), `{"config.toml": {"mempool": {"size": 5000}}}`)
	if err != nil {
		t.Fatal(err)
	}
	if text := encode(t, out)[config.ConfigToml]; !strings.Contains(text, "\nsize = 5000\n") {
		t.Error("the file does not hold size = 5000")
	}
}

func TestPatch_MissingFile_BeginsEmpty(t *testing.T) {
	out, err := patchJSON(config.Files{}, `{"client.toml": {"output": "json"}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[config.FileName]string{config.ClientToml: "output = 'json'\n"}
	if diff := cmp.Diff(want, encode(t, out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPatch_BadInput_IsAnErrorThatNamesThePlace(t *testing.T) {
	tests := map[string]struct{ patch, want string }{
		"traversal":            {`{"../x": {"a": 1}}`, `file "../x" is a path`},
		"absolute":             {`{"/etc/passwd": {"a": 1}}`, "is a path"},
		"other file":           {`{"genesis.json": {"a": 1}}`, `unknown file "genesis.json"`},
		"empty name":           {`{"": {"a": 1}}`, `unknown file ""`},
		"upper case":           {`{"Config.toml": {"a": 1}}`, "unknown file"},
		"not an object":        {`{"config.toml": 3}`, "parsing patch"},
		"null file":            {`{"config.toml": null}`, "want an object"},
		"dotted key":           {`{"config.toml": {"p2p.pex": true}}`, `"p2p.pex" is not a TOML key: nest sections`},
		"empty key":            {`{"config.toml": {"": true}}`, `"" is not a TOML key`},
		"key with newline":     {`{"config.toml": {"a\nb": true}}`, "is not a TOML key"},
		"section by scalar":    {`{"config.toml": {"p2p": 3}}`, "config.toml:p2p is a section"},
		"scalar by section":    {`{"config.toml": {"moniker": {"a": 1}}}`, "config.toml:moniker is a value (chain.moniker): want text"},
		"unknown by section":   {`{"config.toml": {"genesis-file": {"a": 1}}}`, "config.toml:genesis-file is a value"},
		"wrong type":           {`{"config.toml": {"mempool": {"size": "many"}}}`, `config.toml:mempool.size: "many" is not a whole number`},
		"boolean for number":   {`{"config.toml": {"mempool": {"size": true}}}`, "want a whole number, got the boolean true"},
		"fraction for integer": {`{"config.toml": {"mempool": {"size": 1.5}}}`, "want a whole number, got the number 1.5"},
		"number for text":      {`{"config.toml": {"moniker": 5}}`, "want text, got the number 5"},
		"text for list":        {`{"config.toml": {"tx-index": {"indexer": "kv"}}}`, "want a list"},
		"numbers in list":      {`{"config.toml": {"tx-index": {"indexer": [1]}}}`, "want a list of strings"},
		"null in list":         {`{"config.toml": {"x": [null]}}`, "a list cannot hold null"},
		"integer too large":    {`{"config.toml": {"x": 9223372036854775808}}`, "too large"},
		"float too large":      {`{"config.toml": {"x": 1e999}}`, "too large"},
		"bad duration":         {`{"config.toml": {"rpc": {"timeout-read": "soon"}}}`, "is not a duration"},
		"too deep":             {`{"config.toml": ` + strings.Repeat(`{"a":`, 30) + `1` + strings.Repeat(`}`, 30) + `}`, "nested deeper than 16"},
		"too deep list":        {`{"config.toml": {"a": ` + strings.Repeat(`[`, 30) + strings.Repeat(`]`, 30) + `}}`, "nested deeper than 16"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := patchJSON(initFiles(t, "full"), tc.patch)
			wantErrorWith(t, err, tc.want)
		})
	}
}

// FuzzPatch: whatever the patch, the result is a file that reads back as itself,
// the input stays as it was, and patching again changes nothing more.
func FuzzPatch(f *testing.F) {
	f.Add("config.toml", `{"p2p": {"pex": false, "laddr": null}, "moniker": "x"}`)
	f.Add("app.toml", `{"a": [1, [2, {"b": 1.5}]], "halt-height": 3}`)
	f.Add("client.toml", `{"x": "\u0000\n\"'''", "y": -0.0, "z": 1e300}`)
	f.Add("../config.toml", `{"a": 1}`)
	f.Add("config.toml", `{"p2p": {"a": {"b": {"c": {}}}}}`)
	f.Fuzz(func(t *testing.T, name, body string) {
		parsed, err := config.ParsePatch([]byte(body))
		if err != nil {
			return
		}
		patch := map[string]map[string]any{name: parsed}
		files := initFiles(t, "full")
		before := encode(t, files)
		out, err := config.Patch(files, patch)
		if diff := cmp.Diff(before, encode(t, files)); diff != "" {
			t.Fatalf("the input was changed:\n%s", diff)
		}
		if err != nil {
			return
		}
		if name != "config.toml" && name != "app.toml" && name != "client.toml" {
			t.Fatalf("file %q was accepted", name)
		}
		data, err := out.Encode()
		if err != nil {
			t.Fatalf("the result cannot be written: %v", err)
		}
		back, err := config.Parse(data)
		if err != nil {
			t.Fatalf("the result cannot be read: %v\n%s", err, data[config.FileName(name)])
		}
		if changed := config.Diff(out, back); len(changed) > 0 {
			t.Fatalf("the result reads back as something else: %v", changed)
		}
		again, err := config.Patch(back, patch)
		if err != nil {
			t.Fatalf("patching again: %v", err)
		}
		if diff := cmp.Diff(encode(t, out), encode(t, again)); diff != "" {
			t.Fatalf("patching again changes:\n%s", diff)
		}
	})
}
