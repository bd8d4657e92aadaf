package fleet

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// The defaults of an update strategy.
const (
	defaultMaxUnavailable   = 1
	defaultProgressDeadline = 10 * time.Minute
	defaultMinReady         = 10 * time.Second
)

// inPlace is what the fleet says about updates; empty when it says nothing.
func inPlace(snd *v1alpha1.SeiNodeDeployment) v1alpha1.InPlaceUpdate {
	if s := snd.Spec.UpdateStrategy; s != nil && s.InPlace != nil {
		return *s.InPlace
	}
	return v1alpha1.InPlaceUpdate{}
}

// MaxUnavailable is how many nodes a rollout may take down: at least one, or nothing
// would ever move. A percentage is rounded down.
func MaxUnavailable(snd *v1alpha1.SeiNodeDeployment) int {
	asked := inPlace(snd).MaxUnavailable
	if asked == nil {
		return defaultMaxUnavailable
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(asked, int(snd.Spec.Replicas), false)
	if err != nil {
		return defaultMaxUnavailable // admission lets nothing else through
	}
	return max(n, defaultMaxUnavailable)
}

// ProgressDeadline is how long a rollout may make no progress before that is reported.
func ProgressDeadline(snd *v1alpha1.SeiNodeDeployment) time.Duration {
	if seconds := inPlace(snd).ProgressDeadlineSeconds; seconds != 0 {
		return time.Duration(seconds) * time.Second
	}
	return defaultProgressDeadline
}

// MinReady is how long a node has to stay Ready before a rollout counts it as done.
func MinReady(snd *v1alpha1.SeiNodeDeployment) time.Duration {
	if seconds := inPlace(snd).MinReadySeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return defaultMinReady
}

// Partition is the lowest ordinal that takes over changes of the template.
func Partition(snd *v1alpha1.SeiNodeDeployment) int { return int(inPlace(snd).Partition) }
