package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// A restore replaces the directory for snapshots with all that is in it.
func TestSnapshotDir_WithMoreThanSnapshotsInIt_IsRefused(t *testing.T) {
	base := t.TempDir()
	dir, link := home.Dir(filepath.Join(base, "home")), filepath.Join(base, "link")
	for _, made := range []string{dir.Config(), dir.Data(), filepath.Join(base, "state", "below")} {
		if err := os.MkdirAll(made, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir.Path(), link); err != nil {
		t.Fatal(err)
	}
	configToml := fmt.Sprintf("[priv-validator]\nstate-file = %q\n", filepath.Join(base, "state", "below", "signed.json"))
	for name, tc := range map[string]struct {
		own     string
		refused string
	}{
		"default":                      {"", ""},
		"elsewhere":                    {filepath.Join(base, "snapshots"), ""},
		"beside, with a similar name":  {dir.Path("data2"), ""},
		"below the data":               {dir.Path("data", "other"), ""},
		"everything":                   {"/", dir.Path()},
		"home":                         {dir.Path(), dir.Path()},
		"home, spelt differently":      {dir.Path() + "/data/..//", dir.Path()},
		"config":                       {dir.Config(), dir.Config()},
		"data":                         {dir.Data(), dir.Data()},
		"data, by a symbolic link":     {filepath.Join(link, "data"), dir.Data()},
		"contracts":                    {dir.Wasm(), dir.Wasm()},
		"accounts":                     {dir.KeyringFile(), dir.KeyringFile()},
		"signing state somewhere else": {filepath.Join(base, "state"), filepath.Join(base, "state", "below", "signed.json")},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := config.Parse(map[config.FileName][]byte{
				config.ConfigToml: []byte(configToml), config.AppToml: fmt.Appendf(nil, "[state-sync]\nsnapshot-directory = %q\n", tc.own),
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := config.SnapshotDir(files, dir)
			if tc.refused == "" {
				if err != nil || got == "" {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			want := []string{"storage.snapshot_directory is ", "is or contains " + tc.refused + ":", "a directory for snapshots alone"}
			for _, words := range want {
				if err == nil || !strings.Contains(err.Error(), words) {
					t.Errorf("%q, %v; want an error with %q", got, err, words)
				}
			}
		})
	}
}

func TestCheckOverrides_SnapshotDirectoryOverTheHome_IsRefused(t *testing.T) {
	for _, key := range []string{"storage.snapshot_directory", "app.toml:state-sync.snapshot-directory"} {
		for _, value := range []string{home.DefaultPath, home.DefaultPath + "/data/", "/home"} {
			err := config.CheckOverrides(map[string]string{key: value})
			if err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "a directory for snapshots alone") {
				t.Errorf("%s=%s: %v, want it refused with the way out", key, value, err)
			}
		}
		for _, value := range []string{"", home.DefaultPath + "/data/snapshots", "/snapshots"} {
			if err := config.CheckOverrides(map[string]string{key: value}); err != nil {
				t.Errorf("%s=%s: %v", key, value, err)
			}
		}
	}
}
