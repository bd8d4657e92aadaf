package tutorial

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/test/tutorial/transcript"
)

func TestRun_TellsWhetherACommandDidWhatThePageShows(t *testing.T) {
	s := &session{t: t, dir: t.TempDir(), env: []string{"PATH=" + os.Getenv("PATH")}}
	for name, c := range map[string]struct {
		command, page string
		want          string // what the error says; empty when all is well
	}{
		"as shown":                     {"echo created", "created", ""},
		"another age":                  {"echo up 12s", "up 4m", ""},
		"another word":                 {"echo deleted", "created", `the page has "created"`},
		"both streams":                 {"echo one; echo two >&2", "one\ntwo", ""},
		"fails as shown":               {"echo 'error: no'; false", "error: no", ""},
		"fails in place of succeeding": {"echo 'error: no'; false", "created", `the page has "created"`},
		"fails without a word":         {"echo created; false", "created", "the command failed"},
		"fails within a pipe":          {"false | echo created", "created", "the command failed"},
		"succeeds in place of failing": {"echo 'error: no'", "error: no", "it should fail"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.run(transcript.Step{Command: c.command, Output: strings.Split(c.page, "\n")})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			case errors.Is(err, errFailed) != (c.want == "the command failed"):
				t.Errorf("got %v", err)
			}
		})
	}
}
