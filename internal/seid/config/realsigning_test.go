package config_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// The spellings that are guarded are those that seid takes; each of these is preferred to the
// usual one beside it.
func TestRealSeid_TakesTheSpellingsThatAreGuarded(t *testing.T) {
	n := newNode(t, seidBinary(t), seid.ModeFull)
	n.configure(t, nil)
	path := filepath.Join(n.configDir(), "config.toml")
	usual, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ line, variable, want string }{
		"capitals":         {line: "Mode = 'bogus'", want: `"bogus" is not a valid mode`},
		"dot in a name":    {line: "'priv-validator.key-file' = '/nonexistent/k.json'", want: "open /nonexistent/"},
		"mode by variable": {variable: "SEID_MODE=bogus", want: `"bogus" is not a valid mode`},
		"key by variable":  {variable: "SEID_PRIV_VALIDATOR_KEY_FILE=/nonexistent/k.json", want: "open /nonexistent/"},
	} {
		t.Run(name, func(t *testing.T) {
			writeFile(t, path, tc.line+"\n"+string(usual), 0o600)
			ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
			defer cancel()
			cmd := n.command(ctx, "start")
			cmd.Env = append(os.Environ(), tc.variable)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), tc.want) {
				t.Errorf("seid ended with %v, want %q:\n%s", err, tc.want, tail(string(out)))
			}
		})
	}
}
