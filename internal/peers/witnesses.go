package peers

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// maxWitnesses bounds how many nodes are asked: two agree, the others are there when one is not.
const maxWitnesses = 8

// Witnesses are the RPC servers that a node with label peers asks for a block to trust: those of its
// label peers that are in sync, by their names inside the cluster. A peer that is not in sync, such
// as a sibling that was made together with the node, knows nothing that could be trusted.
//
// Without any, the hosts of peers from other sources are asked. When there are none either, waiting
// says for whom the node waits. A node that finds no peers by label gets neither: its sidecar asks
// the peers it has. resolved are all peers of the node.
func Witnesses(
	ctx context.Context, nodes client.Reader, node *seiv1.SeiNode, resolved []string, settings *platform.Config,
) (servers []string, waiting string, err error) {
	var found []seiv1.SeiNode
	byLabel, clusterDomain := false, settings.ClusterDomain
	for _, source := range node.Spec.Peers {
		if source.Label == nil {
			continue
		}
		byLabel = true
		if refusedNamespace(node, source.Label, settings.Peers.Label) != "" {
			continue
		}
		more, err := labelled(ctx, nodes, node, source.Label)
		if err != nil {
			return nil, "", err
		}
		found = append(found, more...)
	}
	if !byLabel {
		return nil, "", nil
	}
	if servers = inSync(found, clusterDomain); len(servers) == 0 {
		servers = others(resolved, found, clusterDomain)
	}
	if len(servers) == 0 {
		waiting = fmt.Sprintf("none of the %d nodes that spec.peers finds by label is in sync, and there is no other source for a block to trust: "+
			"set rpcServers of the snapshot, stateSync.syncers of the operator's configuration, or add peers that are in sync", len(found))
	}
	return servers, waiting, nil
}

// inSync are the RPC servers of the nodes that keep up with the chain. Those that answer clients come
// before validators; seeds answer nobody.
func inSync(found []seiv1.SeiNode, clusterDomain string) []string {
	var serving, validators []string
	for i := range found {
		peer := &found[i]
		if !conditions.Is(peer.Status.Conditions, seiv1.ConditionInSync, metav1.ConditionTrue, "") {
			continue
		}
		switch server := rpcServer(render.P2PHost(peer, clusterDomain)); {
		case peer.Spec.Seed != nil:
		case peer.Spec.Validator != nil:
			validators = append(validators, server)
		default:
			serving = append(serving, server)
		}
	}
	return firstOf(append(sortedUnique(serving), sortedUnique(validators)...))
}

// others are the hosts of the resolved peers that were not found by label.
func others(resolved []string, found []seiv1.SeiNode, clusterDomain string) []string {
	var servers []string
	for _, peer := range resolved {
		_, hostPort, _ := strings.Cut(peer, "@")
		host, _, err := net.SplitHostPort(hostPort)
		ours := slices.ContainsFunc(found, func(n seiv1.SeiNode) bool { return render.P2PHost(&n, clusterDomain) == host })
		if err == nil && !ours {
			servers = append(servers, rpcServer(host))
		}
	}
	return firstOf(sortedUnique(servers))
}

func firstOf(servers []string) []string { return servers[:min(len(servers), maxWitnesses)] }

func rpcServer(host string) string { return net.JoinHostPort(host, strconv.Itoa(int(seid.PortRPC))) }
