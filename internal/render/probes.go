package render

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Paths that are probed.
const (
	pathStartupz = "/v0/startupz"
	pathLivez    = "/v0/livez"
)

// How often the kubelet asks whether a node is in sync, in seconds, and how many times it
// has to hear no.
const (
	readinessPeriod   = 5
	readinessFailures = 3
)

// seidStartup holds the other probes back until the gate has been opened, for
// days if need be: restoring a large snapshot takes that long.
func seidStartup(node *v1alpha1.SeiNode) *corev1ac.ProbeApplyConfiguration {
	return httpProbe(pathStartupz, SidecarPort(node)).
		WithPeriodSeconds(5).
		WithTimeoutSeconds(3).
		WithFailureThreshold(86400)
}

// seidReadiness asks whether the node keeps up with the chain. The sidecar knows:
// to the chain's own /lag_status a node without a peer is never behind, not even
// without a block. A pod whose sidecar is down is not ready anyhow. Seeds close
// their RPC, so there an open peer-to-peer port has to do.
//
// There is no liveness probe on seid: a node that is held, halted at an upgrade
// height or replaying is as it should be, and killing it would only lose work.
func seidReadiness(node *v1alpha1.SeiNode) *corev1ac.ProbeApplyConfiguration {
	probe := httpProbe(api.PathInSync, SidecarPort(node))
	if modeOf(node) == seid.ModeSeed {
		probe = corev1ac.Probe().WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromInt32(seid.PortP2P)))
	}
	return probe.WithPeriodSeconds(readinessPeriod).WithTimeoutSeconds(5).WithFailureThreshold(readinessFailures)
}

// sidecarStartup lets seid's container start as soon as the sidecar answers.
func sidecarStartup(node *v1alpha1.SeiNode) *corev1ac.ProbeApplyConfiguration {
	return httpProbe(pathLivez, SidecarPort(node)).
		WithPeriodSeconds(1).
		WithTimeoutSeconds(3).
		WithFailureThreshold(300)
}

// sidecarLiveness is patient: a restarted sidecar closes the gate.
func sidecarLiveness(node *v1alpha1.SeiNode) *corev1ac.ProbeApplyConfiguration {
	return httpProbe(pathLivez, SidecarPort(node)).
		WithPeriodSeconds(10).
		WithTimeoutSeconds(5).
		WithFailureThreshold(6)
}

func httpProbe(path string, port int32) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().WithHTTPGet(corev1ac.HTTPGetAction().WithPath(path).WithPort(intstr.FromInt32(port)))
}
