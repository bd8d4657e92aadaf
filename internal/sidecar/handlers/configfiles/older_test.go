package configfiles_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

func TestApply_ABinaryWithoutModes_GivesTheSameFiles(t *testing.T) {
	f := newFixture(t)
	older := filepath.Join(t.TempDir(), "seid")
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *--mode*) echo 'Error: unknown flag: --mode' >&2; exit 1;; esac\nexec %s \"$@\"\n", f.tasks.Node.Seid.Path)
	if err := os.WriteFile(older, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	current := f.tasks.Node.Seid
	for _, mode := range []string{"full", "validator", "seed", "archive"} {
		apply := fmt.Sprintf(`{"mode":%q}`, mode)
		var written [2]map[string]string
		for i, binary := range []seidcmd.Runner{current, {Path: older}} {
			f.tasks.Node.Seid = binary
			handlertest.Must[any](t, f.Harness, api.ConfigApply, apply)
			handlertest.Must[any](t, f.Harness, api.ConfigValidate, `{}`)
			written[i] = map[string]string{"config.toml": f.file(t, "config.toml"), "app.toml": f.file(t, "app.toml")}
		}
		if diff := cmp.Diff(written[0], written[1]); diff != "" {
			t.Errorf("%s (-with modes +without):\n%s", mode, diff)
		}
	}
}
