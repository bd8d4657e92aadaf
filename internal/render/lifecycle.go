package render

import (
	"time"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// drainSeconds is how long a node that is told to stop still answers. Its address is
// taken out of the Services at the same moment, but every machine learns of it in its
// own time, and a client that is sent there meanwhile must find somebody.
const drainSeconds = 5

// lifecycle lets nodes with clients stop late; nil for nodes without. The kubelet itself
// waits: there is no shell in the image.
func lifecycle(node *v1alpha1.SeiNode) *corev1ac.LifecycleApplyConfiguration {
	if !modeOf(node).ServesRPC() {
		return nil
	}
	return corev1ac.Lifecycle().WithPreStop(corev1ac.LifecycleHandler().WithSleep(corev1ac.SleepAction().WithSeconds(drainSeconds)))
}

// RestartDrain is how long before the end of seid its sidecar has to say that the node
// is leaving, when seid alone is restarted; 0 for nodes without clients. Nobody takes the
// pod out of the Services at once then: the kubelet has to hear it as often as its probe
// asks for, and from there on it is as with a pod that ends.
func RestartDrain(node *v1alpha1.SeiNode) time.Duration {
	if !modeOf(node).ServesRPC() {
		return 0
	}
	return (readinessPeriod*readinessFailures + drainSeconds) * time.Second
}
