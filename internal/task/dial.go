package task

import (
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// Dial gives the sidecar of the node's pod; nil while it does not run, and when the pod is not the
// node's own. It is reached by the pod's own address, because DNS lags behind a replaced pod, and
// told which node and pod are meant, because addresses are reused. There is no other way to a
// sidecar: whoever is dialled is handed a token.
func (o *Objects) Dial(dialer sidecar.Dialer, node *v1alpha1.SeiNode) sidecar.Sidecar {
	if _, running := SidecarStarted(o.Pod); !running || !o.IsNodesPod(node, o.Pod) {
		return nil
	}
	target := sidecar.Target{
		Address:  net.JoinHostPort(o.Pod.Status.PodIP, strconv.Itoa(int(render.SidecarPort(node)))),
		Node:     node.Namespace + "/" + node.Name,
		PodUID:   string(o.Pod.UID),
		Audience: audienceOf(node, o.Pod),
	}
	if render.ServesTLS(o.Pod.Spec) {
		target.ServerName = render.ServerName(node)
	}
	return dialer.Sidecar(target)
}

// maxUID is longer than any UID.
const maxUID = 64

// audienceOf is the audience of the tokens that a pod's sidecar accepts. The UID is the one that the
// pod was told: the pod of a StatefulSet that was adopted has that of the node before. Namespace and
// name are the node's own, so that no pod can ask for another node's token. What cannot be a UID is
// not asked for: a request that the API server refuses holds up those of all nodes.
func audienceOf(node *v1alpha1.SeiNode, pod *corev1.Pod) string {
	uid := render.NodeUID(pod.Spec)
	switch {
	case uid == "":
		return api.TokenAudience
	case len(uid) > maxUID:
		return api.NodeAudience(node.Namespace, node.Name, string(node.UID))
	default:
		return api.NodeAudience(node.Namespace, node.Name, uid)
	}
}
