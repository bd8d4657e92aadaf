package render

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// farewellSeconds is how long a node that is told to stop still answers. Its address is
// taken out of the Services at the same moment, but every machine learns of it in its
// own time, and a client that is sent there meanwhile must find somebody.
const farewellSeconds = 5

// lifecycle lets nodes with clients stop late; nil for nodes without. The kubelet itself
// waits: there is no shell in the image.
func lifecycle(node *v1alpha1.SeiNode) *corev1ac.LifecycleApplyConfiguration {
	if !modeOf(node).ServesRPC() {
		return nil
	}
	return corev1ac.Lifecycle().WithPreStop(corev1ac.LifecycleHandler().WithSleep(corev1ac.SleepAction().WithSeconds(farewellSeconds)))
}
