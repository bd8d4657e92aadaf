package handlertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// SeidBinaryEnv names a chain binary to use instead of the built one.
const SeidBinaryEnv = "SEID_BIN"

// SeidPath is the real chain binary. Tests that need it are skipped, and say so,
// when there is none.
func SeidPath(tb testing.TB) string {
	tb.Helper()
	if path := os.Getenv(SeidBinaryEnv); path != "" {
		if _, err := os.Stat(path); err != nil {
			tb.Fatalf("%s: %v", SeidBinaryEnv, err)
		}
		return path
	}
	gomod, err := exec.CommandContext(tb.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		tb.Fatalf("finding the module: %v", err)
	}
	built, err := filepath.Glob(filepath.Join(filepath.Dir(strings.TrimSpace(string(gomod))), ".cache", "seid", "*", "seid"))
	if err != nil {
		tb.Fatal(err)
	}
	if len(built) == 0 {
		tb.Skip("no chain binary: run hack/build-seid.sh, or set " + SeidBinaryEnv)
	}
	return built[len(built)-1]
}

// Seid runs the real chain binary.
func Seid(tb testing.TB) seidcmd.Runner {
	tb.Helper()
	return seidcmd.Runner{Path: SeidPath(tb)}
}
