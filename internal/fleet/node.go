package fleet

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// Observe judges a live node. current says whether its spec holds what the template asks
// for; restarted is the value of the annotation sei.io/restart that its pod was made with: a
// restart leaves no trace in the node's generation.
func Observe(target Child, live *v1alpha1.SeiNode, restarted string, current bool) Node {
	n := Node{Name: target.Name, Ordinal: target.Ordinal, Current: current}
	if live == nil || live.DeletionTimestamp != nil {
		n.Why = "it is being made"
		n.Current = true // it is made from the template
		return n
	}
	n.Stopped = live.Spec.Paused
	n.Settled = settled(live, restarted)
	n.Ready = IsReady(live)
	n.Why = why(n, live)
	return n
}

// settled reports whether a node runs the spec it has and nothing is being done to it.
func settled(live *v1alpha1.SeiNode, restarted string) bool {
	status := &live.Status
	if status.ObservedGeneration != live.Generation || conditions.Is(status.Conditions, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, "") {
		return false
	}
	if live.Spec.Paused {
		return true
	}
	if restart := live.Annotations[rolledAnnotation]; restart != "" && restart != restarted {
		return false
	}
	return status.Plan == nil && status.Phase == v1alpha1.NodeRunning && !inSyncOnAnotherSpec(live)
}

// inSyncOnAnotherSpec reports whether a node serves, but not what its spec asks for: an update is
// under way, or it failed. Images are not compared: webhooks rewrite them.
func inSyncOnAnotherSpec(live *v1alpha1.SeiNode) bool {
	return IsReady(live) && !conditions.Is(live.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
}

// IsReady reports whether a node is in sync and serves, whatever spec it runs. An operator of an
// older version knew only Ready.
func IsReady(live *v1alpha1.SeiNode) bool {
	inSync := conditions.Get(live.Status.Conditions, v1alpha1.ConditionInSync)
	if inSync == nil {
		inSync = conditions.Get(live.Status.Conditions, v1alpha1.ConditionReady)
	}
	return live.DeletionTimestamp == nil && inSync != nil && inSync.Status == metav1.ConditionTrue
}

// why says in stable words what a node waits for.
func why(n Node, live *v1alpha1.SeiNode) string {
	if !n.Current && n.Available() {
		return "it waits for its turn"
	}
	if c := conditions.Get(live.Status.Conditions, v1alpha1.ConditionSpecValid); c != nil && c.Status == metav1.ConditionFalse {
		return fmt.Sprintf("SpecValid is False: %s", c.Message)
	}
	ready := conditions.Get(live.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		return "it was not looked at yet"
	case ready.Status == metav1.ConditionTrue:
		return "it is being updated"
	case ready.Message == "":
		return fmt.Sprintf("Ready is %s: %s", ready.Status, ready.Reason)
	default:
		return fmt.Sprintf("Ready is %s: %s: %s", ready.Status, ready.Reason, ready.Message)
	}
}
