package fleet

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
)

// Node is what the rollout rule knows of one of the fleet's nodes.
type Node struct {
	Name    string
	Ordinal int
	// Current: its spec holds what the template asks for.
	Current bool
	// InForce: it runs the spec it has: image, pod template and configuration.
	InForce bool
	// InFlight: something is being done to it that may take it down.
	InFlight bool
	// Task is the SeiNodeTask that restarts it now; empty when there is none.
	Task string
	// Soak is how long it still has to stay Ready before it counts; zero when it has.
	Soak time.Duration
	// Ready: it is in sync and serves.
	Ready bool
	// Unknown: it is unknown whether it serves, for example because its kubelet is silent.
	Unknown bool
	// Stopped: it is not meant to run.
	Stopped bool
	// Held: a partition keeps it from taking over the template.
	Held bool
	// Refused: the API server does not take what it was given.
	Refused bool
	// Failed says why it cannot get to the spec it has; empty when nothing is wrong.
	Failed string
	// FailedBefore: it failed with the spec it had when it was last looked at. Whether it fails
	// with the one it has is not known yet.
	FailedBefore bool
	// Resize says why its volume cannot grow; empty when nothing is wrong.
	Resize string
	// Why says what a node that is not done waits for.
	Why string
	// Upgrading: it still has to take the upgrade of the chain that the fleet goes through.
	Upgrading bool
	// FirstSync: it has never been in sync.
	FirstSync bool
	// NotInGenesis says why it is no validator of the chain that its fleet started; empty when
	// it is one, or none was asked for.
	NotInGenesis string
}

// outside is the node with why it is none of its chain's validators.
func (n Node) outside(why string) Node {
	n.NotInGenesis = why
	if why != "" {
		n.Why = why
	}
	return n
}

// Settled reports whether it runs the spec it has, has done so for long enough, and no task restarts
// it.
func (n Node) Settled() bool { return n.InForce && n.Soak == 0 && n.Task == "" }

// Available reports whether it serves and nothing is being done to it.
func (n Node) Available() bool { return n.Ready && n.Settled() }

// Done reports whether a rollout has nothing left to do, and nothing to wait for,
// with this node.
func (n Node) Done() bool {
	return n.Current && n.Settled() && (n.Ready || n.Stopped) && (!n.Upgrading || n.Stopped)
}

// look is what a node is judged by besides the node itself.
type look struct {
	// current: its spec holds what the template asks for.
	current bool
	// restarted is the value of the annotation sei.io/restart that its pod was made with: a
	// restart leaves no trace in the node's generation.
	restarted string
	partition int
	minReady  time.Duration
	now       time.Time
	// upgrade is the name of the upgrade of the chain that the fleet goes through; empty when
	// there is none.
	upgrade string
}

// observe judges a live node; nil when there is none.
func observe(target Child, live *v1alpha1.SeiNode, l look) Node {
	n := Node{Name: target.Name, Ordinal: target.Ordinal, Current: l.current, Held: target.Ordinal < l.partition && !l.current}
	if live == nil || live.DeletionTimestamp != nil {
		n.Why = "it is being created"
		n.Current, n.Held = true, false // it is made from the template
		return n
	}
	status := &live.Status
	n.Stopped = live.Spec.Paused
	n.Ready, n.Unknown = IsReady(live), isUnknown(live)
	n.Failed, n.FailedBefore, n.Resize = failure(live), failedBefore(live), resizeProblem(live)
	n.InFlight = status.ObservedGeneration != live.Generation || isBusy(status)
	n.InForce = n.Failed == "" && inForce(live, l.restarted)
	n.Upgrading = l.upgrade != "" && behindUpgrade(live, l.upgrade)
	if n.Ready {
		n.Soak = soak(live, l)
	}
	n.Why = why(n, live)
	return n
}

// inForce reports whether a node runs the spec it has. Images are not compared: webhooks
// rewrite them.
func inForce(live *v1alpha1.SeiNode, restarted string) bool {
	status := &live.Status
	if status.ObservedGeneration != live.Generation || specProblem(live) != nil {
		return false
	}
	if live.Spec.Paused {
		return true
	}
	if restart := live.Annotations[rolledAnnotation]; restart != "" && restart != restarted {
		return false
	}
	// The permission to take a minor upgrade early changes no generation: until the node has taken
	// it, it may go down at any moment.
	if upgrade := live.Annotations[v1alpha1.AnnotationMinorUpgrade]; upgrade != "" && behindUpgrade(live, upgrade) {
		return false
	}
	return !isBusy(status) && status.Phase == v1alpha1.NodeRunning && !inSyncOnAnotherSpec(live)
}

// isBusy reports whether a plan is under way that may take the node down.
func isBusy(status *v1alpha1.SeiNodeStatus) bool {
	return status.Plan != nil && status.Plan.Reason != node.ReasonPeersChanged
}

// inSyncOnAnotherSpec reports whether a node serves, but not what its spec asks for: an update is
// under way, or it failed.
func inSyncOnAnotherSpec(live *v1alpha1.SeiNode) bool {
	return IsReady(live) && !conditions.Is(live.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
}

// soak is how long a node still has to stay Ready. Ready turns False when a change is taken up,
// so that it counts from the end of the last one.
func soak(live *v1alpha1.SeiNode, l look) time.Duration {
	ready := conditions.Get(live.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue {
		return 0
	}
	return max(0, ready.LastTransitionTime.Add(l.minReady).Sub(l.now))
}

// syncCondition says whether a node serves. An operator of an older version knew only Ready.
func syncCondition(live *v1alpha1.SeiNode) *metav1.Condition {
	if inSync := conditions.Get(live.Status.Conditions, v1alpha1.ConditionInSync); inSync != nil {
		return inSync
	}
	return conditions.Get(live.Status.Conditions, v1alpha1.ConditionReady)
}

// IsReady reports whether a node is in sync and serves, whatever spec it runs.
func IsReady(live *v1alpha1.SeiNode) bool {
	inSync := syncCondition(live)
	return live.DeletionTimestamp == nil && inSync != nil && inSync.Status == metav1.ConditionTrue
}

// isUnknown reports whether a node may serve without anybody knowing.
func isUnknown(live *v1alpha1.SeiNode) bool {
	inSync := syncCondition(live)
	if inSync == nil {
		return live.Status.Phase == v1alpha1.NodeRunning
	}
	return inSync.Status == metav1.ConditionUnknown
}

// why says in stable words what a node waits for.
func why(n Node, live *v1alpha1.SeiNode) string {
	ready := conditions.Get(live.Status.Conditions, v1alpha1.ConditionReady)
	switch problem := specProblem(live); {
	case n.Held && n.Ready:
		return "updateStrategy.inPlace.partition holds it back"
	case !n.Current && n.Available():
		return "it is waiting for its turn"
	case problem != nil:
		return fmt.Sprintf("SpecValid is False: %s", problem.Message)
	case n.Failed != "":
		return n.Failed
	case ready == nil:
		return "it has not been observed yet"
	case ready.Status == metav1.ConditionTrue && n.InForce && n.Soak > 0:
		return "it has been Ready for less than minReadySeconds"
	case ready.Status == metav1.ConditionTrue:
		return "it is being updated"
	default:
		return conditionText(ready)
	}
}

// conditionText is a condition as text.
func conditionText(c *metav1.Condition) string {
	text := fmt.Sprintf("%s is %s: %s", c.Type, c.Status, c.Reason)
	if c.Message != "" {
		text += ": " + c.Message
	}
	return text
}
