// Command gendocs writes docs/reference/reasons.md from package reasons. Run it from the root of the
// repository:
//
//	go run ./internal/reasons/gendocs
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/sei-operator/sei-operator/internal/reasons"
)

func main() {
	out := flag.String("out", "docs/reference/reasons.md", "file to write")
	flag.Parse()
	content, err := page()
	if err == nil {
		err = os.WriteFile(*out, []byte(content), 0o644) //nolint:gosec // documentation is for everyone
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

const intro = `# Reasons

<!-- Made by: go run ./internal/reasons/gendocs. Change internal/reasons/*.yaml instead. -->

Every reason of a condition and of an event: what it means, why it happens and what to do. On the
command line: ` + "`kubectl sei explain REASON`" + `. How conditions belong together is in
[conditions](reference/conditions.md).
`

const eventsIntro = `
## Events that need something

What every event means is in [events](reference/events.md). Those that are not in this table ask for nothing.

| reason | type | why | what to do |
|---|---|---|---|
`

func page() (string, error) {
	conditions, err := reasons.Conditions()
	if err != nil {
		return "", err
	}
	happened, err := reasons.Events()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(intro)
	kind := ""
	for _, c := range conditions {
		if c.Kind != kind {
			kind = c.Kind
			fmt.Fprintf(&b, "\n## Conditions of a %s\n", kind)
		}
		fmt.Fprintf(&b, "\n### %s %s\n\n%s\n\n", c.Kind, strings.Join(c.Types, " and "), c.About)
		b.WriteString("| status | reason | meaning | why | what to do |\n|---|---|---|---|---|\n")
		for _, s := range c.States {
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", s.Status, strings.Join(s.Reasons, "`, `"), s.Meaning, s.Cause, s.Action)
		}
	}
	b.WriteString(eventsIntro)
	for _, e := range happened {
		if e.Cause != "" {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.Reason, e.Type, e.Cause, e.Action)
		}
	}
	// Links are relative to docs/, and the page is in a folder below.
	return strings.ReplaceAll(b.String(), "](", "](../"), nil
}
