// Package picture draws what a program printed at a terminal as an SVG: text that can be read and searched, on a ground of
// its own, so that it looks the same on light and dark pages. It knows the few control sequences that kubectl sei uses.
package picture

import (
	"fmt"
	"regexp"
	"strings"
)

// clearScreen is what begins a frame of `kubectl sei status --watch`.
const clearScreen = "\x1b[H\x1b[2J"

// Frames are the screens that a program has drawn, one after the other.
func Frames(printed string) []string {
	_, drawn, found := strings.Cut(printed, clearScreen)
	if !found {
		return nil
	}
	return strings.Split(drawn, clearScreen)
}

// span is a piece of a line in one colour, at a column.
type span struct {
	column int
	class  string
	text   string
}

// classes are the colours of a terminal that are known, as classes of the style sheet. The empty one is the colour of
// plain text.
var classes = map[string]string{"\x1b[0m": "", "\x1b[31m": "red", "\x1b[33m": "yellow"}

var (
	control = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)
	words   = regexp.MustCompile(`\S+(?: \S+)*`)
)

// spans are the pieces of a line. Columns of a table are pieces of their own, so that they stand below each other in any
// font.
func spans(line string) ([]span, error) {
	var found []span
	column, class := 0, ""
	add := func(text string) {
		for _, at := range words.FindAllStringIndex(text, -1) {
			found = append(found, span{column + len([]rune(text[:at[0]])), class, text[at[0]:at[1]]})
		}
		column += len([]rune(text))
	}
	rest := line
	for at := control.FindStringIndex(rest); at != nil; at = control.FindStringIndex(rest) {
		add(rest[:at[0]])
		next, known := classes[rest[at[0]:at[1]]]
		if !known {
			return nil, fmt.Errorf("control sequence %q is not known", rest[at[0]:at[1]])
		}
		class, rest = next, rest[at[1]:]
	}
	add(rest)
	return found, nil
}
