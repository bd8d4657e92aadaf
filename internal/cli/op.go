package cli

import (
	"github.com/spf13/cobra"
)

func newOp(f *Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "op", Aliases: []string{"ops", "operation"}, Short: "Run, list and wait for SeiNodeTasks",
		Long: "Run, list and wait for SeiNodeTasks: votes and proposals, waits, restarts, image changes, state sync.",
	}
	cmd.AddCommand(newOpRun(f), newOpList(f), newOpWait(f))
	return cmd
}
