package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sei-operator/sei-operator/internal/text"
)

func TestShorten_CutsBetweenCharacters(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"short":             {"abc", "abc"},
		"as long as it may": {strings.Repeat("a", 10), strings.Repeat("a", 10)},
		"longer":            {strings.Repeat("a", 11), "aaaaaaa..."},
		"in a character":    {"aaaaaa\u00e9\u00e9\u00e9", "aaaaaa..."},
		"not UTF-8":         {"a\xff", "a\uFFFD"},
	} {
		got := text.Shorten(c.in, 10)
		if got != c.want || len(got) > 10 || !utf8.ValidString(got) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
