// Package hack tests the functions of the scripts in its folder.
package hack

import (
	"os/exec"
	"strings"
	"testing"
)

// sourced runs a line of bash after sourcing hack/progress.sh, and returns its output.
func sourced(t *testing.T, line string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bash", "-euc", "source ./progress.sh; "+line).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestProgress_SaysHowFarABuildIs(t *testing.T) {
	for _, c := range []struct{ name, of, want string }{
		{"nothing done", "0 300 5", "[..............................] 0 of 300 packages, 5 s"},
		{"too early for an estimate", "100 300 19", "[##########....................] 100 of 300 packages, 19 s"},
		{"a third done", "100 300 60", "[##########....................] 100 of 300 packages, 60 s, about 2 min left"},
		{"nearly done", "299 300 600", "[#############################.] 299 of 300 packages, 10 min, about 2 s left"},
		{"all compiled", "300 300 600", "linking, after 10 min"},
		{"all was in the build cache", "0 0 3", "linking, after 3 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := sourced(t, "progress "+c.of); got != c.want {
				t.Errorf("progress %s prints %q, want %q", c.of, got, c.want)
			}
		})
	}
}

func TestCompiled_CountsPackages_AndNoWarnings(t *testing.T) {
	got := sourced(t, `log=$(mktemp); trap 'rm "$log"' EXIT
		printf '%s\n' internal/cpu '# runtime/cgo' 'warning: something is deprecated' github.com/x/y >"$log"; compiled`)
	if got != "2" {
		t.Errorf("%s packages counted, want 2", got)
	}
}
