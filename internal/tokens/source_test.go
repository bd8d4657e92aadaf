package tokens

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

func TestSource_TheSharedTokenIsThatOfTheFile_AllOthersAreAskedFor(t *testing.T) {
	s, c, clock := newServer(t)
	path := filepath.Join(t.TempDir(), "token")
	source := NewSource(c, sidecar.TokenFile(path), clock)
	shared := func(token string) {
		t.Helper()
		if got, err := source.Token(t.Context(), api.TokenAudience); got != token || (err == nil) != (token != "") {
			t.Errorf("shared token %q, %v; want %q", got, err, token)
		}
	}
	write := func(token string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shared("")
	write("one")
	shared("one")
	write("two")
	shared("one")
	clock.Step(fileReadEvery)
	shared("two")
	source.Refused(api.TokenAudience, "two")
	if s.count() != 0 {
		t.Errorf("%d requests for the shared token", s.count())
	}
	if got, err := source.Token(t.Context(), "a"); got != "a#1" || err != nil {
		t.Errorf("%q, %v, want %q and no error", got, err, "a#1")
	}
	clock.Step(10 * time.Minute)
	source.Refused("a", "a#1")
	if got, err := source.Token(t.Context(), "a"); got != "a#2" || err != nil {
		t.Errorf("after it was refused: %q, %v", got, err)
	}
}
