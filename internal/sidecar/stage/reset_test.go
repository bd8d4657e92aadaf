package stage_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

func TestReset_IsRememberedUntilSeidHasRunAgain(t *testing.T) {
	home := t.TempDir()
	requireReset(t, home, nil)
	for range 2 { // the second one is another reset
		if err := stage.BeginReset(home, 3); err != nil {
			t.Fatal(err)
		}
		requireReset(t, home, &stage.Reset{Starts: 3})
		if err := stage.EndReset(home, 3); err != nil {
			t.Fatal(err)
		}
		requireReset(t, home, &stage.Reset{Starts: 3, Done: true})
	}
}

func TestEmpty_OnlyBeforeTheFirstStartAfterACompleteReset(t *testing.T) {
	for name, c := range map[string]struct {
		reset  *stage.Reset
		starts int
		want   bool
	}{
		"never reset":      {nil, 0, false},
		"under way":        {&stage.Reset{Starts: 3}, 3, false},
		"done":             {&stage.Reset{Starts: 3, Done: true}, 3, true},
		"started since":    {&stage.Reset{Starts: 3, Done: true}, 4, false},
		"nobody counted":   {&stage.Reset{Done: true}, 0, true},
		"never ran at all": {&stage.Reset{Done: true}, 1, false},
	} {
		if got := c.reset.Empty(c.starts); got != c.want {
			t.Errorf("%s: empty %t", name, got)
		}
	}
}

// Nobody may conclude from a record that cannot be read that the data is whole.
func TestLastReset_Damaged_IsAnError(t *testing.T) {
	home := t.TempDir()
	if err := stage.BeginReset(home, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".sei-sidecar", "reset"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := stage.LastReset(home); err == nil {
		t.Errorf("read as %+v", r)
	}
}

func requireReset(t *testing.T, home string, want *stage.Reset) {
	t.Helper()
	got, err := stage.LastReset(home)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, the last reset (-want +got):\n%s", err, diff)
	}
}
