package cli

import (
	"regexp"
	"strings"
)

// The colours of a terminal.
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// alarming are words that a reader should not miss. Those of tables are painted after the columns are
// aligned, because the width of a colour is not 0 to those who align.
var alarming = regexp.MustCompile(`\b(DIFFERS|CrashLoopBackOff|ImagePullBackOff|ErrImagePull|OOMKilled|Failed|Degraded|False|not Ready)\b`)

// paint colours the alarming words of a text.
func paint(text string) string {
	return alarming.ReplaceAllStringFunc(text, func(word string) string {
		switch word {
		case "False", "Degraded", "not Ready":
			return yellow + word + plain
		}
		return red + word + plain
	})
}

// paintTable colours a table, but not what follows it after an empty line.
func paintTable(text string) string {
	body, rest, found := strings.Cut(text, "\n\n")
	if found {
		rest = "\n\n" + rest
	}
	return paint(body) + rest
}
