package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commandPage is a command and how users call it.
type commandPage struct {
	*cobra.Command
	path string
}

// walk calls visit for a command and all below it, but not for what cobra adds by itself.
func walk(c *cobra.Command, visit func(commandPage)) {
	if c.Name() == "help" || c.Name() == "completion" {
		return
	}
	visit(commandPage{c, c.CommandPath()})
	for _, sub := range c.Commands() {
		walk(sub, visit)
	}
}

func TestDocs_ListTheCommands(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Commands of kubectl sei

<!-- Made by: go test ./internal/cli -run Docs -update. Change internal/cli instead. -->

How to install and use the plugin is in [kubectl sei](../how-to/kubectl-sei.md). Every command also takes the
connection flags of kubectl (` + "`--context`, `--kubeconfig`, `--namespace`" + `, ...).
`)
	walk(NewRoot(newPlugin(t).Factory, ""), func(c commandPage) {
		if !c.HasParent() {
			return
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", strings.TrimPrefix(c.path, "kubectl sei "), cmp.Or(c.Long, c.Short+"."))
		if !c.Runnable() {
			return
		}
		fmt.Fprintf(&b, "\n```sh\n%s\n```\n", c.UseLine())
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```sh\n%s\n```\n", c.Example)
		}
		if flags := c.LocalNonPersistentFlags().FlagUsages(); flags != "" {
			fmt.Fprintf(&b, "\n```\n%s```\n", flags)
		}
	})
	compareFile(t, filepath.Join("..", "..", "docs", "reference", "kubectl-sei-commands.md"), b.String())
}
