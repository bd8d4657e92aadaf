package cli

import (
	"context"

	"github.com/spf13/cobra"
)

const pauseLong = `Pause a node or a fleet.

A node that is paused has no pod: its volume and key reservation stay, and its plan stops where it is.
A node of a fleet is paused by the fleet's settings for it (spec.nodes). A fleet that is paused is
frozen: nothing is created, changed or rolled out, and its pods keep running; "rollout pause" is the
same.`

const pauseExample = `  # Stop the pod of a node
  kubectl sei pause rpc-0

  # Freeze a fleet
  kubectl sei pause fleet/rpc`

const resumeLong = `Resume a node or a fleet that was paused.

Changes made while it was paused are applied now.`

const resumeExample = `  kubectl sei resume rpc-0
  kubectl sei resume fleet/rpc`

func newPause(f *Factory) *cobra.Command {
	return pausing(f, true, &cobra.Command{
		Use: "pause FLEET|NODE", Short: "Stop a node's pod, or freeze a fleet", Long: pauseLong, Example: pauseExample,
	})
}

func newResume(f *Factory) *cobra.Command {
	return pausing(f, false, &cobra.Command{
		Use: "resume FLEET|NODE", Short: "Resume a node or a fleet that was paused", Long: resumeLong, Example: resumeExample,
	})
}

func pausing(f *Factory, paused bool, cmd *cobra.Command) *cobra.Command {
	e := &edit{Factory: f}
	cmd.Args, cmd.ValidArgsFunction = cobra.ExactArgs(1), f.CompleteFleetsAndNodes()
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cluster, found, err := e.named(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return e.setPaused(cmd.Context(), cluster, found, paused)
	}
	e.addFlags(cmd)
	return cmd
}

func (e *edit) setPaused(ctx context.Context, c *Cluster, found target, paused bool) error {
	done := "resumed"
	if paused {
		done = "paused"
	}
	if fleet := found.fleet; fleet != nil {
		if !paused && fleet.Spec.Template.Spec.Paused {
			e.warnf("template.spec.paused of fleet %s is set: its nodes stay stopped until you unset it", fleet.Name)
		}
		return e.change(ctx, c, fleet, done, func() { fleet.Spec.Paused = paused })
	}
	fleet, err := c.fleetOf(ctx, found.node)
	switch {
	case err != nil:
		return err
	case fleet == nil:
		return e.change(ctx, c, found.node, done, func() { found.node.Spec.Paused = paused })
	}
	if fleet.Spec.Paused {
		e.warnf("fleet %s is paused: the change reaches its node when the fleet is resumed", fleet.Name)
	}
	var problem error
	err = e.change(ctx, c, fleet, "node "+found.node.Name+" "+done, func() { problem = setPaused(fleet, found.node, paused) })
	if problem != nil {
		return problem
	}
	return err
}
