package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

const rolloutStatusLong = `Follow the rollout of a fleet until it is complete.

It ends with an error when a node has failed with the new template, which halts the rollout, or when
the rollout makes no progress for longer than progressDeadlineSeconds.

With --output the fleet is printed as it was seen last, and what happens on the way to standard error.`

const rolloutStatusExample = `  kubectl sei rollout status rpc
  kubectl sei rollout status rpc --watch=false`

func newRolloutStatus(f *Factory) *cobra.Command {
	var wait waiting
	var output Output
	watch := true
	cmd := &cobra.Command{
		Use: "status FLEET", Short: "Follow the rollout of a fleet until it is complete", Long: rolloutStatusLong, Example: rolloutStatusExample,
		Args: cobra.ExactArgs(1), ValidArgsFunction: f.CompleteFleets(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.Validate(); err != nil {
				return err
			}
			cluster, err := f.Cluster()
			if err != nil {
				return err
			}
			fleet, err := cluster.findFleet(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			progress := func() (string, bool, error) {
				words, done, err := rolloutProgress(fleet)
				return words, done || !watch, err
			}
			err = wait.follow(cmd.Context(), f, cluster, &output, fleet, progress)
			return errors.Join(err, cluster.printEnd(f, &output, fleet))
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", true, "Follow the rollout until it is complete.")
	output.AddFlags(cmd, FormatJSON, FormatYAML, FormatName)
	wait.addFlags(cmd)
	return cmd
}

// rolloutProgress is how far a rollout is, in words, and whether it is complete. A rollout that does not
// continue by itself is an error.
func rolloutProgress(fleet *seiv1.SeiNodeDeployment) (string, bool, error) {
	status := &fleet.Status
	if status.ObservedGeneration < fleet.Generation {
		return "Waiting for the operator to observe the latest spec", false, nil
	}
	for _, kind := range []string{seiv1.ConditionRolloutFailed, seiv1.ConditionRolloutStalled} {
		if c := meta.FindStatusCondition(status.Conditions, kind); c != nil && c.Status == metav1.ConditionTrue {
			return fmt.Sprintf("%d of %d nodes are updated", status.UpdatedReplicas, fleet.Spec.Replicas), false,
				fmt.Errorf("fleet %s: %s: %s", fleet.Name, c.Reason, c.Message)
		}
	}
	if r := status.Rollout; r != nil {
		words := fmt.Sprintf("Waiting for the rollout: %s %d of %d nodes are updated", bar(r.Updated, r.Total), r.Updated, r.Total)
		if fleet.Spec.Paused {
			words += "; the fleet is paused"
		}
		if r.WaitingOn != "" {
			words += "; waiting for " + r.WaitingOn
		}
		return words, false, nil
	}
	if ready := meta.FindStatusCondition(status.Conditions, seiv1.ConditionReady); ready == nil || ready.Status != metav1.ConditionTrue {
		message := "it has no status yet"
		if ready != nil {
			message = ready.Message
		}
		return "No rollout is under way; the fleet is not Ready: " + message, fleet.Spec.Paused, nil
	}
	return fmt.Sprintf("fleet %q is rolled out: %d of %d nodes are updated and in sync", fleet.Name, status.UpdatedReplicas, fleet.Spec.Replicas), true, nil
}
