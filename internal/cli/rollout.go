package cli

import "github.com/spf13/cobra"

const rolloutPauseLong = `Freeze a fleet: no further node is changed. What has begun on a node comes to its end.`

func newRollout(f *Factory) *cobra.Command {
	cmd := &cobra.Command{Use: "rollout", Short: "Follow, pause, resume and undo the rollout of a fleet"}
	cmd.AddCommand(newRolloutStatus(f), rolloutPausing(f, true), rolloutPausing(f, false), newRolloutHistory(f), newUndo(f))
	return cmd
}

func rolloutPausing(f *Factory, paused bool) *cobra.Command {
	e := &edit{Factory: f}
	cmd := &cobra.Command{
		Use: "pause FLEET", Short: "Freeze a fleet where its rollout is", Long: rolloutPauseLong, Example: "  kubectl sei rollout pause rpc",
		Args: cobra.ExactArgs(1), ValidArgsFunction: f.CompleteFleets(),
		RunE: func(cmd *cobra.Command, args []string) error {
			cluster, err := e.start()
			if err != nil {
				return err
			}
			fleet, err := cluster.findFleet(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return e.setPaused(cmd.Context(), cluster, target{fleet: fleet}, paused)
		},
	}
	if !paused {
		cmd.Use, cmd.Short, cmd.Long, cmd.Example = "resume FLEET", "Resume a fleet's rollout", "", "  kubectl sei rollout resume rpc"
	}
	e.addFlags(cmd)
	return cmd
}
