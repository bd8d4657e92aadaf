package cli

import (
	"context"
	"slices"
	"strconv"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// fleetOf is the fleet that writes a node's spec; nil when there is none.
func (c *Cluster) fleetOf(ctx context.Context, node *seiv1.SeiNode) (*seiv1.SeiNodeDeployment, error) {
	name := node.Labels[seiv1.LabelDeployment]
	if name == "" {
		return nil, nil
	}
	fleet := &seiv1.SeiNodeDeployment{}
	found, err := c.get(ctx, name, fleet)
	if err != nil || !found {
		return nil, err
	}
	return fleet, nil
}

// setPaused stops one node of a fleet, or lets it run again, by the fleet's settings for it. A setting
// that says nothing any more is removed.
func setPaused(fleet *seiv1.SeiNodeDeployment, node *seiv1.SeiNode, paused bool) error {
	parsed, err := strconv.ParseInt(node.Labels[seiv1.LabelDeploymentOrdinal], 10, 32)
	if err != nil {
		return err
	}
	ordinal := int32(parsed)
	at := slices.IndexFunc(fleet.Spec.Nodes, func(s seiv1.NodeSettings) bool { return s.Ordinal == ordinal })
	if at < 0 {
		fleet.Spec.Nodes = append(fleet.Spec.Nodes, seiv1.NodeSettings{Ordinal: ordinal})
		at = len(fleet.Spec.Nodes) - 1
	}
	settings := &fleet.Spec.Nodes[at]
	settings.Paused = &paused
	if paused == fleet.Spec.Template.Spec.Paused {
		settings.Paused = nil
	}
	if settings.Paused == nil && settings.Overrides == nil && settings.ExternalAddress == "" && settings.Resources == nil {
		fleet.Spec.Nodes = slices.Delete(fleet.Spec.Nodes, at, at+1)
	}
	return nil
}
