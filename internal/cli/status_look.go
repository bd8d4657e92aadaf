package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/cli/live"
	"github.com/sei-operator/sei-operator/internal/render"
)

// look gathers what `status` shows: of everything in the namespace, or of one fleet or node.
func (c *Cluster) look(ctx context.Context, args []string, allNamespaces bool) (*seen, error) {
	scope := client.InNamespace(c.Namespace)
	if allNamespaces {
		scope = ""
	}
	s := &seen{}
	if err := c.lookAtObjects(ctx, s, args, scope); err != nil {
		return nil, err
	}
	if err := c.lookAtPods(ctx, s, scope); err != nil {
		return nil, err
	}
	claims := &corev1.PersistentVolumeClaimList{}
	s.claims = map[types.NamespacedName]*corev1.PersistentVolumeClaim{}
	if err := c.Client.List(ctx, claims, scope); err != nil {
		s.notes = append(s.notes, "days left: "+err.Error())
	}
	for i := range claims.Items {
		s.claims[client.ObjectKeyFromObject(&claims.Items[i])] = &claims.Items[i]
	}
	c.ask(ctx, s)
	return s, nil
}

func (c *Cluster) lookAtObjects(ctx context.Context, s *seen, args []string, scope client.InNamespace) error {
	if len(args) == 0 {
		return c.lookAtAll(ctx, s, scope)
	}
	found, err := c.find(ctx, args[0])
	if err != nil {
		return err
	}
	if found.node != nil {
		s.nodes = []*seiv1.SeiNode{found.node}
		return nil
	}
	s.fleets = []*seiv1.SeiNodeDeployment{found.fleet}
	return c.listNodes(ctx, s, scope, client.MatchingLabels{seiv1.LabelDeployment: found.fleet.Name})
}

func (c *Cluster) lookAtAll(ctx context.Context, s *seen, scope client.InNamespace) error {
	fleets := &seiv1.SeiNodeDeploymentList{}
	if err := c.Client.List(ctx, fleets, scope); err != nil {
		return fmt.Errorf("listing fleets: %w", err)
	}
	for i := range fleets.Items {
		s.fleets = append(s.fleets, &fleets.Items[i])
	}
	slices.SortFunc(s.fleets, byName)
	return c.listNodes(ctx, s, scope)
}

func (c *Cluster) listNodes(ctx context.Context, s *seen, opts ...client.ListOption) error {
	nodes := &seiv1.SeiNodeList{}
	if err := c.Client.List(ctx, nodes, opts...); err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	for i := range nodes.Items {
		s.nodes = append(s.nodes, &nodes.Items[i])
	}
	slices.SortFunc(s.nodes, byName)
	return nil
}

func byName[T client.Object](a, b T) int {
	return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
}

func (c *Cluster) lookAtPods(ctx context.Context, s *seen, scope client.InNamespace) error {
	pods := &corev1.PodList{}
	if err := c.Client.List(ctx, pods, scope, client.HasLabels{seiv1.LabelNode}); err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	s.pods = map[types.NamespacedName][]*corev1.Pod{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		node := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels[seiv1.LabelNode]}
		s.pods[node] = append(s.pods[node], pod)
	}
	return nil
}

// ask asks the nodes whose pod runs.
func (c *Cluster) ask(ctx context.Context, s *seen) {
	var running []*seiv1.SeiNode
	missing := map[types.NamespacedName]*live.Facts{}
	for _, node := range s.nodes {
		if why := notRunning(node, s.pods[client.ObjectKeyFromObject(node)]); why != "" {
			missing[client.ObjectKeyFromObject(node)] = &live.Facts{Missing: []live.Missing{{What: "all", Why: why}}}
			continue
		}
		running = append(running, node)
	}
	s.facts = live.AskAll(ctx, c.Pods, running)
	s.verdicts = live.Agreement(ctx, c.Pods, running, s.facts)
	maps.Copy(s.facts, missing)
	for _, node := range s.nodes {
		for _, m := range s.facts[client.ObjectKeyFromObject(node)].Missing {
			s.notes = append(s.notes, fmt.Sprintf("%s: %s: %s", node.Name, m.What, m.Why))
		}
	}
}

func notRunning(node *seiv1.SeiNode, pods []*corev1.Pod) string {
	for _, pod := range pods {
		switch {
		case pod.Name != render.PodName(node):
			continue
		case pod.Status.PodIP == "":
			return "pod " + pod.Name + " is " + string(pod.Status.Phase)
		default:
			return ""
		}
	}
	if node.Spec.Paused {
		return "the node is paused"
	}
	return "there is no pod " + render.PodName(node)
}
