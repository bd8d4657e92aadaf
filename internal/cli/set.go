package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

const setImageLong = `Set the seid image of a node, or of all nodes of a fleet.

A fleet rolls it out within its budget. A node of a fleet has the fleet's image: name the fleet. Which
image belongs to a chain upgrade is set in spec.upgrades, and takes precedence over spec.image once the
upgrade is applied.`

const setImageExample = `  kubectl sei set image fleet/rpc registry.example.com/seid:v6.5.0
  kubectl sei set image val registry.example.com/seid:v6.5.0 --dry-run=server -o yaml`

func newSet(f *Factory) *cobra.Command {
	cmd := &cobra.Command{Use: "set", Short: "Set fields of nodes and fleets"}
	e := &edit{Factory: f}
	image := &cobra.Command{
		Use: "image FLEET|NODE IMAGE", Short: "Set the seid image of a node or a fleet", Long: setImageLong, Example: setImageExample,
		Args: cobra.ExactArgs(2), ValidArgsFunction: f.CompleteFleetsAndNodes(),
		RunE: func(cmd *cobra.Command, args []string) error { return e.setImage(cmd.Context(), args[0], args[1]) },
	}
	e.addFlags(image)
	cmd.AddCommand(image)
	return cmd
}

func (e *edit) setImage(ctx context.Context, name, image string) error {
	c, found, err := e.named(ctx, name)
	if err != nil {
		return err
	}
	if found.fleet != nil {
		e.warnOfEntries(found.fleet.Spec.Template.Spec.Upgrades, "template.spec.upgrades")
		return e.change(ctx, c, found.fleet, "image updated", func() { found.fleet.Spec.Template.Spec.Image = image })
	}
	fleet, err := c.fleetOf(ctx, found.node)
	switch {
	case err != nil:
		return err
	case fleet != nil:
		return fmt.Errorf("node %s has the image of its fleet, which would revert it: name fleet/%s", found.node.Name, fleet.Name)
	}
	if u := found.node.Status.Upgrade; u != nil && u.Entry != "" {
		e.warnOfEntries(found.node.Spec.Upgrades, "spec.upgrades")
	}
	return e.change(ctx, c, found.node, "image updated", func() { found.node.Spec.Image = image })
}

func (e *edit) warnOfEntries(entries []seiv1.ChainUpgrade, field string) {
	if len(entries) == 0 {
		return
	}
	e.warnf("the image of an entry of %s goes before this one once its upgrade is applied: change the entry's image to move such nodes", field)
}
