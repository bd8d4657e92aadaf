package cli

import (
	"context"
	"slices"
	"strconv"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// fleetOf is the fleet that writes a node's spec; nil when there is none. The label alone does not tell:
// it stays on a node that a deleted fleet has left behind, and a new fleet of that name may have no
// place for it.
func (c *Cluster) fleetOf(ctx context.Context, node *seiv1.SeiNode) (*seiv1.SeiNodeDeployment, error) {
	name := node.Labels[seiv1.LabelDeployment]
	if name == "" {
		return nil, nil
	}
	snd := &seiv1.SeiNodeDeployment{}
	found, err := c.get(ctx, name, snd)
	if err != nil || !found || !fleet.Owns(snd, node) || !slices.Contains(fleet.Names(snd), node.Name) {
		return nil, err
	}
	return snd, nil
}

// setPaused stops one node of a fleet, or lets it run again, by the fleet's settings for it. A setting
// that says nothing any more is removed.
func setPaused(snd *seiv1.SeiNodeDeployment, node *seiv1.SeiNode, paused bool) error {
	parsed, err := strconv.ParseInt(node.Labels[seiv1.LabelDeploymentOrdinal], 10, 32)
	if err != nil {
		return err
	}
	ordinal := int32(parsed)
	at := slices.IndexFunc(snd.Spec.Nodes, func(s seiv1.NodeSettings) bool { return s.Ordinal == ordinal })
	if at < 0 {
		snd.Spec.Nodes = append(snd.Spec.Nodes, seiv1.NodeSettings{Ordinal: ordinal})
		at = len(snd.Spec.Nodes) - 1
	}
	settings := &snd.Spec.Nodes[at]
	settings.Paused = &paused
	if paused == snd.Spec.Template.Spec.Paused {
		settings.Paused = nil
	}
	if settings.Paused == nil && settings.Overrides == nil && settings.ExternalAddress == "" && settings.Resources == nil {
		snd.Spec.Nodes = slices.Delete(snd.Spec.Nodes, at, at+1)
	}
	return nil
}
