package publicchain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid/publicchain"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// fromSeid is the genesis that the real seid writes.
func fromSeid(t *testing.T, chainID string) string {
	t.Helper()
	dir := t.TempDir()
	if err := handlertest.Seid(t).InitHome(t.Context(), seidcmd.Init{Moniker: "n", ChainID: chainID, Home: dir}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "config", "genesis.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCheck_TheGenesisThatSeidCarries_IsTheOneThatIsKnown(t *testing.T) {
	for _, chain := range []string{"pacific-1", "atlantic-2", "arctic-1"} {
		if !publicchain.Known(chain) {
			t.Errorf("%s is not known", chain)
		}
		if err := publicchain.Check(chain, strings.NewReader(fromSeid(t, chain))); err != nil {
			t.Errorf("%s: %v", chain, err)
		}
	}
	if publicchain.Known("test-1") {
		t.Error("test-1 is known")
	}
}

func TestCheck_AnotherSpelling_IsTheSame_AnotherContent_IsNot(t *testing.T) {
	right := fromSeid(t, "pacific-1")
	madeUp := strings.ReplaceAll(fromSeid(t, "defaults-1"), "defaults-1", "pacific-1")
	for name, tc := range map[string]struct{ file, want string }{
		"spaces":         {strings.ReplaceAll(right, "\n", "\n\t"), ""},
		"added field":    {strings.Replace(right, "{", `{"new_in_v9": {"a": 1},`, 1), ""},
		"made up":        {madeUp, "no validators"},
		"another chain":  {strings.ReplaceAll(right, "pacific-1", "atlantic-2"), `of chain "atlantic-2"`},
		"another amount": {strings.Replace(right, `"amount": "1`, `"amount": "2`, 1), "digest"},
		"not JSON":       {"no", "invalid character"},
		"too large":      {`{"chain_id":"` + strings.Repeat("x", 17<<20) + `"}`, "larger than"},
	} {
		err := publicchain.Check("pacific-1", strings.NewReader(tc.file))
		if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
