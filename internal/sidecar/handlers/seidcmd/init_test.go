package seidcmd_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

func TestInitHome_ABinaryWithoutModes_IsRunWithoutTheFlag(t *testing.T) {
	for name, tc := range map[string]struct{ script, want, wantErr string }{
		"knows modes": {`echo "$@" >> "$6"`, "init m --chain-id c-1 --home FILE --mode seed\n", ""},
		"does not":    {`case "$*" in *--mode*) echo "Error: unknown flag: --mode" >&2; exit 1;; esac; echo "$@" >> "$6"`, "init m --chain-id c-1 --home FILE\n", ""},
		"fails":       {`echo "Error: disk is full" >&2; exit 1`, "", "disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			binary, out := filepath.Join(dir, "seid"), filepath.Join(dir, "out")
			if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+tc.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			err := seidcmd.Runner{Path: binary}.InitHome(t.Context(), seidcmd.Init{Moniker: "m", ChainID: "c-1", Home: out, Mode: seid.ModeSeed})
			if (err != nil) != (tc.wantErr != "") || (err != nil && !strings.Contains(err.Error(), tc.wantErr)) {
				t.Errorf("error is %v, want %q", err, tc.wantErr)
			}
			got, err := os.ReadFile(out)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if want := strings.ReplaceAll(tc.want, "FILE", out); string(got) != want {
				t.Errorf("ran %q, want %q", got, want)
			}
		})
	}
}
