package node

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Pod is what a node's pod, or that of its bootstrap Job, shows of itself.
type Pod struct {
	Build Build
	// Bootstrap: it belongs to the bootstrap Job.
	Bootstrap bool
	// Leaving: it is being deleted.
	Leaving bool
	// Ready: its readiness probe succeeds.
	Ready bool
	// Lost: its kubelet has fallen silent.
	Lost bool
	// KubernetesNode is where it was scheduled to.
	KubernetesNode string
	// Pending: not all of its containers have started yet.
	Pending bool
	// Unschedulable says why no Kubernetes node takes it; empty when one does.
	Unschedulable string
	// SidecarRuns: its sidecar can be dialled.
	SidecarRuns bool
	// SharedAudience: it is from an older operator, and its sidecar accepts the token of all nodes.
	SharedAudience bool
	// Plaintext: its sidecar was given no certificate and is called over plain HTTP.
	Plaintext bool
	// SeidStarted: seid has passed the start gate.
	SeidStarted bool
	// Trouble is what keeps a container from starting or staying up.
	Trouble Trouble
}

// IsFailure reports whether a reason of condition Ready says that the pod does not run what it was
// given.
func IsFailure(reason string) bool {
	switch reason {
	case v1alpha1.ReasonInitFailed, v1alpha1.ReasonPodCrashLooping, v1alpha1.ReasonImagePullFailed,
		v1alpha1.ReasonContainerConfigFailed, v1alpha1.ReasonStartRefused:
		return true
	default:
		return false
	}
}

// Trouble is a reason of condition Ready, with its message. The zero value is none.
type Trouble struct {
	Reason, Message string
	// Until is when the container counts as well if it runs on; zero while it does not run.
	Until time.Time
}

// troubled reports whether there is no more to say of the pod than its trouble. With a container
// that runs again the pod may be ready, or it is unknown whether it is.
func (p *Pod) troubled() bool {
	return p != nil && p.Trouble.Reason != "" && (p.Trouble.Until.IsZero() || !p.Ready && !p.Lost)
}

// readiness is the readiness of a running node whose containers are not in trouble.
func (p *Pod) readiness() verdict {
	switch {
	case p == nil:
		return no(v1alpha1.ReasonPodPending, "there is no pod; waiting for the StatefulSet controller to create it")
	case p.Lost:
		return verdict{metav1.ConditionUnknown, v1alpha1.ReasonPodUnknown,
			fmt.Sprintf("Kubernetes node %s does not answer: it is unknown whether the pod is running", p.KubernetesNode)}
	case p.Leaving:
		return no(v1alpha1.ReasonPodNotReady, "the pod is being replaced")
	case p.Ready:
		return verdict{metav1.ConditionTrue, v1alpha1.ReasonInSync, ""}
	case p.Pending && p.Unschedulable != "":
		return no(v1alpha1.ReasonPodPending, "the pod cannot be scheduled: "+p.Unschedulable)
	case p.Pending:
		return no(v1alpha1.ReasonPodPending, "the pod is starting")
	case p.SeidStarted:
		return no(v1alpha1.ReasonNotInSync, "seid is running but not in sync")
	default:
		return no(v1alpha1.ReasonPodNotReady, "seid is starting")
	}
}
