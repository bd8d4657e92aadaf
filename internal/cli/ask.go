package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

const retryLong = `Request a retry, with the annotation sei.io/retry.

It ends every wait for a next attempt: of a node that failed, of a plan that failed, of a configuration
that seid refused. On a fleet it reaches its nodes and its genesis ceremony, but no validator whose
volume is empty: name that node itself. Where nothing is missing it has no effect.`

const retryExample = `  kubectl sei retry rpc-0
  kubectl sei retry fleet/rpc`

const restartLong = `Replace the pod of a node, by the annotation sei.io/restart.

It takes along what the condition NodeUpdateInProgress calls PendingRestart. The nodes of a fleet are
restarted one after the other, by a rollout within the fleet's budget. To restart the process alone and
keep the pod, run the task RestartSeid: kubectl sei op run RestartSeid NAME.`

const restartExample = `  # One node
  kubectl sei restart rpc-0

  # All nodes of a fleet, in turn
  kubectl sei restart fleet/rpc && kubectl sei rollout status rpc`

func newRetry(f *Factory) *cobra.Command {
	return asking(f, &cobra.Command{
		Use: "retry FLEET|NODE", Short: "Request a retry of what has failed", Long: retryLong, Example: retryExample,
	}, func(ctx context.Context, e *edit, c *Cluster, found target) error {
		return e.annotate(ctx, c, found, seiv1.AnnotationRetry, "asked to retry", func(fleet *seiv1.SeiNodeDeployment) *map[string]string {
			return &fleet.Annotations
		})
	})
}

func newRestart(f *Factory) *cobra.Command {
	return asking(f, &cobra.Command{
		Use: "restart FLEET|NODE", Short: "Replace the pod of a node, or of all nodes of a fleet in turn", Long: restartLong, Example: restartExample,
	}, func(ctx context.Context, e *edit, c *Cluster, found target) error {
		return e.annotate(ctx, c, found, seiv1.AnnotationRestart, "restarted", func(fleet *seiv1.SeiNodeDeployment) *map[string]string {
			return &fleet.Spec.Template.Metadata.Annotations
		})
	})
}

func asking(f *Factory, cmd *cobra.Command, do func(context.Context, *edit, *Cluster, target) error) *cobra.Command {
	e := &edit{Factory: f}
	cmd.Args, cmd.ValidArgsFunction = cobra.ExactArgs(1), f.CompleteFleetsAndNodes()
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cluster, found, err := e.named(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return do(cmd.Context(), e, cluster, found)
	}
	e.addFlags(cmd)
	return cmd
}

// annotate gives an annotation a new value: on a node, or where a fleet has it for all of its nodes.
func (e *edit) annotate(
	ctx context.Context, c *Cluster, found target, key, done string, ofFleet func(*seiv1.SeiNodeDeployment) *map[string]string,
) error {
	value := e.Clock.Now().UTC().Format(time.RFC3339Nano)
	if found.fleet != nil {
		return e.change(ctx, c, found.fleet, done, func() { set(ofFleet(found.fleet), key, value) })
	}
	fleet, err := c.fleetOf(ctx, found.node)
	if err != nil {
		return err
	}
	// The retry of a fleet reaches its nodes under another key.
	if fleet != nil && key != seiv1.AnnotationRetry && (*ofFleet(fleet))[key] != "" {
		return fmt.Errorf("fleet %s sets the annotation %s on its nodes and would revert it: name fleet/%s, or remove it there first", fleet.Name, key, fleet.Name)
	}
	return e.change(ctx, c, found.node, done, func() {
		annotations := found.node.GetAnnotations()
		set(&annotations, key, value)
		found.node.SetAnnotations(annotations)
	})
}

func set(m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = value
}
