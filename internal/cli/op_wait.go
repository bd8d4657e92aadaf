package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

const waitForTaskLong = `Follow a SeiNodeTask to its end. A task that fails ends the command with an error.

With --output the task is printed as it was seen last, and what happens on the way to standard error.`

func newOpWait(f *Factory) *cobra.Command {
	var wait waiting
	var output Output
	cmd := &cobra.Command{
		Use: "wait NAME", Short: "Follow a SeiNodeTask to its end", Long: waitForTaskLong,
		Example: "  kubectl sei op wait restart-seid-x7k2p --timeout 30m",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: f.CompleteTasks(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.Validate(); err != nil {
				return err
			}
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
			err = wait.follow(cmd.Context(), f, c, &output, task, func() (string, bool, error) { return taskProgress(task) })
			return errors.Join(err, c.printEnd(f, &output, task))
		},
	}
	output.AddFlags(cmd, FormatJSON, FormatYAML, FormatName)
	wait.addFlags(cmd)
	return cmd
}
