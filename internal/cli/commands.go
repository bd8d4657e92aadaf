package cli

import "github.com/spf13/cobra"

// commands are all commands of the plugin, in the order of its help. Each is made by a function of
// its own file.
func commands() []func(*Factory) *cobra.Command {
	return []func(*Factory) *cobra.Command{
		newStatus,
		newWhy,
		newPlan,
		newHistory,
		newPause,
		newResume,
		newRetry,
		newRestart,
		newSet,
		newRollout,
		newOp,
		newExplain,
		newLint,
		newCheck,
		newLogs,
		newReport,
		newMigrate,
	}
}
