// Package text cuts texts of others to a length that fits where they are shown.
package text

import (
	"strings"
	"unicode/utf8"
)

// mark shows where a text was cut.
const mark = "..."

// Shorten cuts a text to at most limit bytes, between two characters. What is not UTF-8 is replaced.
func Shorten(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	end := max(0, limit-len(mark))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
