package peers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/seid"
)

func staticPeers(source *seiv1.StaticPeers) answer {
	var got answer
	for i, text := range source.Addresses {
		peer, err := parse(string(text))
		if err != nil {
			got.problemf("static.addresses[%d]: %v", i, err)
			continue
		}
		got.peers = append(got.peers, peer)
	}
	return got
}

func (r *Resolver) labelPeers(ctx context.Context, node *seiv1.SeiNode, source *seiv1.LabelPeers, previous []string) answer {
	var got answer
	if _, err := labels.ValidatedSelectorFromSet(source.Selector); err != nil {
		got.problemf("label.selector: %v", err)
		return got
	}
	if refused := refusedNamespace(node, source, r.Label); refused != "" {
		got.problemf("%s", refused)
		got.lost = true
		return got
	}
	if in := cmp.Or(source.Namespace, node.Namespace); len(r.Watched) > 0 && !slices.Contains(r.Watched, in) {
		got.problemf("label.namespace: the operator does not watch namespace %s: add --watch-namespace=%s to its flags", in, in)
		got.lost = true
		return got
	}
	found, err := labelled(ctx, r.Nodes, node, source)
	if err != nil {
		got.problemf("%v", err)
		got.lost = true
	}
	for i := range found {
		r.addNode(&got, &found[i], previous)
	}
	return got
}

// labelled lists the nodes that a node finds by their labels: others, and not those that go.
func labelled(ctx context.Context, nodes client.Reader, node *seiv1.SeiNode, source *seiv1.LabelPeers) ([]seiv1.SeiNode, error) {
	namespace := cmp.Or(source.Namespace, node.Namespace)
	var list seiv1.SeiNodeList
	if err := nodes.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels(source.Selector)); err != nil {
		return nil, fmt.Errorf("listing SeiNodes in namespace %s: %w", namespace, err)
	}
	return slices.DeleteFunc(list.Items, func(peer seiv1.SeiNode) bool {
		return client.ObjectKeyFromObject(&peer) == client.ObjectKeyFromObject(node) || peer.DeletionTimestamp != nil
	}), nil
}

// addNode adds a node of this cluster under its name inside the cluster, also when it has an
// address outside: a load balancer sends traffic to nodes that are in sync only, and nodes that
// start together would wait for each other forever. One whose id is not known keeps the id it had: the
// pod of another operator does not tell its own.
func (r *Resolver) addNode(got *answer, peer *seiv1.SeiNode, previous []string) {
	host := render.P2PHost(peer, r.ClusterDomain)
	if peer.Status.NodeID == "" {
		got.problemf("%sthe node id of SeiNode %s/%s", waitingPrefix, peer.Namespace, peer.Name)
		if old := peerAt(previous, host, seid.PortP2P); old != "" {
			got.peers = append(got.peers, old)
		}
		return
	}
	text, err := address(peer.Status.NodeID, host, seid.PortP2P)
	if err != nil {
		got.problemf("SeiNode %s/%s: %v", peer.Namespace, peer.Name, err)
		return
	}
	got.peers = append(got.peers, text)
}

func (r *Resolver) instancePeers(ctx context.Context, source *seiv1.EC2TagPeers, previous []string) answer {
	var got answer
	if r.Instances == nil {
		got.problemf("ec2Tags: the operator runs without access to EC2: start it with --ec2-peers")
		got.lost = true
		return got
	}
	instances, err := r.Instances.Find(ctx, source.Region, source.Tags)
	if err != nil {
		got.problemf("ec2Tags: %v", err)
		got.lost = instances == nil
	}
	for _, instance := range instances {
		text, problem := instancePeer(instance, previous)
		if problem != "" {
			got.problemf("ec2Tags: instance %s: %s", instance.ID, problem)
		}
		if text != "" {
			got.peers = append(got.peers, text)
		}
	}
	return got
}

// instancePeer is the address of an instance. One whose id cannot be had just
// now keeps the id it had at the same address.
func instancePeer(instance Instance, previous []string) (text, problem string) {
	if instance.NodeID != "" {
		text, err := address(instance.NodeID, instance.Host, instance.Port)
		if err != nil {
			return "", err.Error()
		}
		return text, ""
	}
	return peerAt(previous, instance.Host, instance.Port), instance.Problem
}

// peerAt is the peer that was at an address so far; empty when there was none.
func peerAt(previous []string, host string, port int32) string {
	for _, old := range previous {
		nodeID, _, _ := strings.Cut(old, "@")
		if text, err := address(nodeID, host, port); err == nil && text == old {
			return old
		}
	}
	return ""
}
