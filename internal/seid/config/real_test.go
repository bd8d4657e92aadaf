package config_test

import (
	"os"
	"path/filepath"
	"testing"
)

// seidBinary finds the real chain binary: SEID_BIN, or what hack/build-seid.sh
// built.
func seidBinary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("SEID_BIN"); path != "" {
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("SEID_BIN: %v", err)
		}
		return path
	}
	built, err := filepath.Glob("../../../.cache/seid/*/seid")
	if err != nil {
		t.Fatal(err)
	}
	if len(built) == 0 {
		t.Skip("no chain binary: run hack/build-seid.sh, or set SEID_BIN")
	}
	path, err := filepath.Abs(built[len(built)-1])
	if err != nil {
		t.Fatal(err)
	}
	return path
}
