package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

func newOpWait(f *Factory) *cobra.Command {
	var wait waiting
	cmd := &cobra.Command{
		Use: "wait NAME", Short: "Follow a SeiNodeTask to its end", Long: "Follow a SeiNodeTask to its end. A task that fails ends the command with an error.",
		Example: "  kubectl sei op wait restart-seid-x7k2p --timeout 30m",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: f.CompleteTasks(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.Cluster()
			if err != nil {
				return err
			}
			task := &seiv1.SeiNodeTask{}
			switch found, err := c.get(cmd.Context(), args[0], task); {
			case err != nil:
				return err
			case !found:
				return fmt.Errorf("no SeiNodeTask %q in namespace %s", args[0], c.Namespace)
			}
			return wait.follow(cmd.Context(), f, c, task, func() (string, bool, error) { return taskProgress(task) })
		},
	}
	wait.addFlags(cmd)
	return cmd
}
