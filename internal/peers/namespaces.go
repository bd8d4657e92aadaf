package peers

import (
	"cmp"
	"fmt"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// Refused names the first peer source that looks where the platform does not let it, with the way
// out; empty when there is none. The ids and addresses of nodes are their namespace's own.
func Refused(node *seiv1.SeiNode, allowed platform.LabelPeers) string {
	for i, source := range node.Spec.Peers {
		if source.Label == nil {
			continue
		}
		if refused := refusedNamespace(node, source.Label, allowed); refused != "" {
			return fmt.Sprintf("spec.peers[%d].%s", i, refused)
		}
	}
	return ""
}

func refusedNamespace(node *seiv1.SeiNode, source *seiv1.LabelPeers, allowed platform.LabelPeers) string {
	namespace := cmp.Or(source.Namespace, node.Namespace)
	if allowed.MayFind(node.Namespace, namespace) {
		return ""
	}
	return fmt.Sprintf("label.namespace: the operator's configuration does not let other namespaces find the nodes of %s: "+
		"add it to peers.label.namespaces there, or name the peers by static addresses", namespace)
}
