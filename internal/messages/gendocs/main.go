// Command gendocs writes the page of messages from the source. Run it from the root of the
// repository:
//
//	go run ./internal/messages/gendocs
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/sei-operator/sei-operator/internal/messages"
)

// output is the page, relative to the root of the repository.
const output = "docs/reference/messages.md"

func main() {
	out := flag.String("out", output, "file to write")
	flag.Parse()
	content, err := page(".")
	if err == nil {
		err = os.WriteFile(*out, []byte(content), 0o644) //nolint:gosec // documentation is for everyone
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

// section is a part of the page: what some packages word.
type section struct {
	title, about string
	folders      []string
}

var sections = []section{
	{
		title:   "SeiNode",
		about:   "Conditions and plans of a SeiNode.",
		folders: []string{"internal/node", "internal/controller/node", "internal/render"},
	},
	{
		title:   "SeiNodeDeployment",
		about:   "Conditions of a SeiNodeDeployment.",
		folders: []string{"internal/fleet", "internal/controller/deployment"},
	},
	{
		title:   "SeiNodeTask",
		about:   "Conditions and results of a SeiNodeTask.",
		folders: []string{"internal/operation", "internal/controller/operation"},
	},
	{
		title:   "Events",
		about:   "Events whose text is not the message of a condition.",
		folders: []string{"internal/events"},
	},
	{
		title:   "Steps of plans",
		about:   "What a step waits for, and why it fails: in `status.plan`, `status.lastPlan` and the conditions about inputs.",
		folders: []string{"internal/plan", "internal/task", "internal/peers", "internal/sidecar/client"},
	},
	{
		title:   "Sidecar",
		about:   "What the sidecar says of `seid`, its gate and its tasks. The operator puts it behind its own words.",
		folders: []string{"internal/sidecar/look", "internal/sidecar/configstate", "internal/sidecar/opening", "internal/sidecar/handlers"},
	},
}

// reasons are the folders that declare reasons, by the names under which they are imported.
var reasons = map[string]string{
	"v1alpha1": "api/v1alpha1", "seiv1": "api/v1alpha1", "events": "internal/events", "domain": "internal/node",
}

// eventCatalogue is the function that explains events, of which docs/reference/events.md is made.
const eventCatalogue = "Catalogue"

const intro = `# Messages

<!-- Made by: go run ./internal/messages/gendocs. Change the messages in the source instead. -->

Every message of a condition, an event or an error, as the source has it: ` + "`%s`" + ` and ` + "`{...}`" + ` are filled
in. A message without a reason is a part of another one, or an error behind one. What a reason means
and what to do is in [reasons](reasons.md).
`

func page(root string) (string, error) {
	var b strings.Builder
	b.WriteString(intro)
	for _, s := range sections {
		list, err := messages.Collect(root, s.folders, reasons)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| reason | message | said by |\n|---|---|---|\n", s.title, s.about)
		for _, m := range list {
			if m.Function == eventCatalogue {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(m.Reasons, ", "), cell(m.Format), m.Function)
		}
	}
	return b.String(), nil
}

// cell is a text as code in a table.
func cell(text string) string {
	return "`" + strings.NewReplacer("`", "'", "|", "\\|", "\n", " ").Replace(strings.TrimSpace(text)) + "`"
}
