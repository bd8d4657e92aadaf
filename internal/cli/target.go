package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Names of kinds before a slash, as in node/rpc-0.
var (
	nodeKinds  = []string{"node", "snode", "seinode", "seinodes", "seinode.sei.io", "seinodes.sei.io"}
	fleetKinds = []string{"fleet", "snd", "seinodedeployment", "seinodedeployments", "seinodedeployment.sei.io", "seinodedeployments.sei.io"}
)

// target is what a user named: a node or a fleet. One of the two is set.
type target struct {
	node  *seiv1.SeiNode
	fleet *seiv1.SeiNodeDeployment
}

// find is the node or fleet that [KIND/]NAME names.
func (c *Cluster) find(ctx context.Context, arg string) (target, error) {
	kind, name, qualified := strings.Cut(arg, "/")
	if !qualified {
		kind, name = "", arg
	}
	kind = strings.ToLower(kind)
	asNode, asFleet := slices.Contains(nodeKinds, kind), slices.Contains(fleetKinds, kind)
	if qualified && !asNode && !asFleet {
		return target{}, fmt.Errorf("%q is neither node/NAME nor fleet/NAME", arg)
	}
	var found target
	if asNode || !qualified {
		node := &seiv1.SeiNode{}
		ok, err := c.get(ctx, name, node)
		if err != nil {
			return target{}, err
		}
		if ok {
			found.node = node
		}
	}
	if asFleet || !qualified {
		fleet := &seiv1.SeiNodeDeployment{}
		ok, err := c.get(ctx, name, fleet)
		if err != nil {
			return target{}, err
		}
		if ok {
			found.fleet = fleet
		}
	}
	switch {
	case found.node != nil && found.fleet != nil:
		return target{}, fmt.Errorf("%q is a SeiNode and a SeiNodeDeployment: name node/%s or fleet/%s", name, name, name)
	case found.node == nil && found.fleet == nil:
		return target{}, fmt.Errorf("no SeiNode or SeiNodeDeployment %q in namespace %s", name, c.Namespace)
	}
	return found, nil
}

// findNode is find for commands that are about nodes alone.
func (c *Cluster) findNode(ctx context.Context, arg string) (*seiv1.SeiNode, error) {
	name, err := nameOf(arg, nodeKinds, "node")
	if err != nil {
		return nil, err
	}
	node := &seiv1.SeiNode{}
	if ok, err := c.get(ctx, name, node); ok || err != nil {
		return node, err
	}
	if ok, err := c.get(ctx, name, &seiv1.SeiNodeDeployment{}); ok || err != nil {
		return nil, cmp.Or(err, fmt.Errorf("%s is a fleet: name one of its nodes; kubectl sei status fleet/%s shows them", name, name))
	}
	return nil, fmt.Errorf("no SeiNode %q in namespace %s", name, c.Namespace)
}

// findFleet is find for commands that are about fleets alone.
func (c *Cluster) findFleet(ctx context.Context, arg string) (*seiv1.SeiNodeDeployment, error) {
	name, err := nameOf(arg, fleetKinds, "fleet")
	if err != nil {
		return nil, err
	}
	fleet := &seiv1.SeiNodeDeployment{}
	if ok, err := c.get(ctx, name, fleet); ok || err != nil {
		return fleet, err
	}
	if ok, err := c.get(ctx, name, &seiv1.SeiNode{}); ok || err != nil {
		return nil, cmp.Or(err, fmt.Errorf("%s is a node: name a fleet", name))
	}
	return nil, fmt.Errorf("no SeiNodeDeployment %q in namespace %s", name, c.Namespace)
}

// nameOf is the name in [KIND/]NAME, which has to be of a kind.
func nameOf(arg string, kinds []string, kind string) (string, error) {
	before, name, qualified := strings.Cut(arg, "/")
	switch {
	case !qualified:
		return arg, nil
	case !slices.Contains(kinds, strings.ToLower(before)):
		return "", fmt.Errorf("%q is not a %s", arg, kind)
	}
	return name, nil
}

// named checks the output format, connects, and finds what an argument names.
func (f *Factory) named(ctx context.Context, output *Output, arg string) (*Cluster, target, error) {
	if err := output.Validate(); err != nil {
		return nil, target{}, err
	}
	c, err := f.Cluster()
	if err != nil {
		return nil, target{}, err
	}
	found, err := c.find(ctx, arg)
	return c, found, err
}

// get reads an object of the cluster's namespace; false when there is none.
func (c *Cluster) get(ctx context.Context, name string, obj client.Object) (bool, error) {
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, obj)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
