package genesis_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// olderSeid is a chain binary of before v6.3: it knows no modes, and it makes up a
// genesis for every chain.
func olderSeid(t *testing.T) seidcmd.Runner {
	t.Helper()
	script := fmt.Sprintf(`#!/bin/sh
for arg in "$@"; do
  case "$arg" in --mode) echo "Error: unknown flag: --mode" >&2; exit 1;; esac
done
%s init "$2" --chain-id defaults-1 --home "$6" >/dev/null 2>&1 || exit 1
sed -i "s/defaults-1/$4/g" "$6/config/genesis.json" "$6/config/client.toml"
`, handlertest.SeidPath(t))
	file := filepath.Join(t.TempDir(), "seid")
	if err := os.WriteFile(file, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return seidcmd.Runner{Path: file}
}

// published is the genesis of a public chain in other bytes than seid writes.
func published(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := handlertest.Seid(t).InitHome(t.Context(), seidcmd.Init{Moniker: "n", ChainID: "pacific-1", Home: dir}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "config", "genesis.json"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\n", "\n ")
}

func putFile(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func public(t *testing.T, seid seidcmd.Runner, bucket string) *fixture {
	t.Helper()
	f := newFixture(t, seid, bucket)
	f.node.ChainID = "pacific-1"
	return f
}

func TestConfigureGenesis_OlderImage_TakesThePublishedOneFromTheBucket(t *testing.T) {
	bucket := t.TempDir()
	putFile(t, filepath.Join(bucket, "pacific-1", "genesis.json"), published(t))
	f := public(t, olderSeid(t), "file://"+bucket)
	got := handlertest.Must[wire.ConfiguredGenesis](t, f.Harness, api.ConfigureGenesis, `{}`)
	if !strings.Contains(got.Source, bucket) {
		t.Errorf("the genesis came from %s", got.Source)
	}
	if data, _ := os.ReadFile(f.home.Genesis()); string(data) != published(t) {
		t.Error("the genesis is not the one in the bucket")
	}
}

func TestConfigureGenesis_OlderImageWithoutTheRightOne_IsRefusedInWords(t *testing.T) {
	madeUp := t.TempDir()
	putFile(t, filepath.Join(madeUp, "pacific-1", "genesis.json"), strings.Replace(published(t), `"amount": "1`, `"amount": "2`, 1))
	for name, tc := range map[string]struct{ bucket, code, text string }{
		"no bucket":       {"", api.CodePrecondition, "this seid does not carry the genesis of pacific-1 (the genesis has no validators"},
		"empty bucket":    {"file://" + t.TempDir(), api.CodeNotFound, "fetching it"},
		"another genesis": {"file://" + madeUp, api.CodeIntegrity, "digest"},
	} {
		t.Run(name, func(t *testing.T) {
			f := public(t, olderSeid(t), tc.bucket)
			_, err := f.Run(t, api.ConfigureGenesis, `{}`)
			handlertest.WantError(t, err, tc.code, tc.text)
			if _, err := os.Stat(f.home.Genesis()); err == nil {
				t.Error("there is a genesis now")
			}
		})
	}
}

func TestConfigureGenesis_AfterABootstrapWithAnOlderImage_TheNewOneAccepts(t *testing.T) {
	for name, tc := range map[string]struct {
		current string
		kept    bool
	}{
		"which had the right file": {published(t), true},
		"which made one up":        {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := public(t, handlertest.Seid(t), "")
			if tc.current == "" {
				if err := olderSeid(t).InitHome(t.Context(), seidcmd.Init{Moniker: "n", ChainID: "pacific-1", Home: string(f.home)}); err != nil {
					t.Fatal(err)
				}
			} else {
				putFile(t, f.home.Genesis(), tc.current)
			}
			putFile(t, f.home.Path("data/blockstore.db/CURRENT"), "x")
			before, _ := os.ReadFile(f.home.Genesis())
			handlertest.Must[wire.ConfiguredGenesis](t, f.Harness, api.ConfigureGenesis, `{}`)
			after, _ := os.ReadFile(f.home.Genesis())
			if (string(before) == string(after)) != tc.kept {
				t.Errorf("kept is %v, want %v", !tc.kept, tc.kept)
			}
			if !strings.Contains(string(after), `"pacific-1"`) {
				t.Error("the genesis is not the chain's")
			}
		})
	}
}
