package operation

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// verdict is the status of a condition with its reason and message.
type verdict struct {
	status          metav1.ConditionStatus
	reason, message string
}

// defaultPhaseTimeout is what the API server fills in.
const defaultPhaseTimeout = 5 * time.Minute

func requiredPhase(spec *v1alpha1.SeiNodeTaskSpec) v1alpha1.SeiNodePhase {
	return cmp.Or(spec.Target.RequirePhase, v1alpha1.NodeRunning)
}

func phaseTimeout(spec *v1alpha1.SeiNodeTaskSpec) time.Duration {
	if spec.Target.RequirePhaseTimeout == nil {
		return defaultPhaseTimeout
	}
	return spec.Target.RequirePhaseTimeout.Duration
}

// phaseDeadline is until when the target has to be in the required phase.
func (o *Observation) phaseDeadline() time.Time {
	since := o.Now
	if first := o.Task.Status.TargetFirstObservedAt; first != nil {
		since = first.Time
	}
	return since.Add(phaseTimeout(&o.Task.Spec))
}

// target is what condition TargetReady says of a task that has not begun.
func (o *Observation) target() verdict {
	name, phase := o.Task.Spec.Target.NodeRef.Name, requiredPhase(&o.Task.Spec)
	switch {
	case o.Node == nil:
		return verdict{metav1.ConditionFalse, v1alpha1.ReasonTargetNotFound, fmt.Sprintf("there is no SeiNode %s in this namespace", name)}
	case o.Node.Status.Phase != phase:
		is := cmp.Or(o.Node.Status.Phase, v1alpha1.NodePending)
		return verdict{metav1.ConditionFalse, v1alpha1.ReasonPhaseNotMet, fmt.Sprintf("SeiNode %s is in phase %s, but the task needs %s", name, is, phase)}
	default:
		return verdict{metav1.ConditionTrue, v1alpha1.ReasonPhaseMet, fmt.Sprintf("SeiNode %s is in phase %s", name, phase)}
	}
}

// lost says why the node that a task runs on is not there any more; empty while it is.
func (o *Observation) lost() string {
	name := o.Task.Spec.Target.NodeRef.Name
	switch {
	case o.Node == nil:
		return fmt.Sprintf("SeiNode %s was deleted while the task ran", name)
	case o.Node.UID != o.Task.Status.TargetUID:
		return fmt.Sprintf("SeiNode %s was deleted while the task ran and was recreated under the same name", name)
	case o.Node.DeletionTimestamp != nil:
		return fmt.Sprintf("SeiNode %s is being deleted", name)
	default:
		return ""
	}
}
