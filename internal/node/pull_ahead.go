package node

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Pull is an image that should be on a machine before it is needed there. Without an image or a
// machine there is nothing to pull.
type Pull struct{ Image, Machine string }

func (p Pull) isAsked() bool { return p.Image != "" && p.Machine != "" }

// PullPod is a pod that only pulls.
type PullPod struct {
	Pull
	// Leaving: it is being deleted.
	Leaving bool
	// Pulled: the image is on the machine. How the command ended does not matter.
	Pulled bool
	// Refused says why the image cannot be pulled; empty when nothing is wrong.
	Refused string
	// Ended says how the pod ended without a look at the image; empty when it did not.
	Ended string
	// Unschedulable says why the machine does not take the pod; empty when it does.
	Unschedulable string
	Made          time.Time
}

// PullAction is what becomes of the pod that pulls.
type PullAction int

// The actions.
const (
	PullNothing PullAction = iota
	PullStart
	PullEnd
)

// PullDecision is what to do about pulling ahead, and what is known of it.
type PullDecision struct {
	Action PullAction
	// Done is what was pulled for the upgrade that is scheduled; nil when nothing was, or none is.
	Done *v1alpha1.PulledImage
	// Problem says why the image is not on the machine yet; empty when it is, or is on its way.
	Problem string
	// RecheckAfter is when the pod is removed: one that has pulled once that is stored, one that
	// ended without a result after a while.
	RecheckAfter time.Duration
}

// pullEndsAfter is when a pod that has pulled is removed: its result is stored first.
const pullEndsAfter = 100 * time.Millisecond

// pullAgainAfter is how long a pod that the machine has thrown out is left alone.
const pullAgainAfter = 10 * time.Minute

// DecidePull compares what should be on the machine with what was pulled. done is what is remembered:
// the pod is removed once it has pulled.
func DecidePull(want Pull, pod *PullPod, done *v1alpha1.PulledImage, now time.Time) PullDecision {
	remove := PullNothing
	if pod != nil && !pod.Leaving {
		remove = PullEnd
	}
	switch {
	case !want.isAsked():
		return PullDecision{Action: remove, Done: stillThere(want, done)}
	case done != nil && *done == v1alpha1.PulledImage(want):
		return PullDecision{Action: remove, Done: done}
	case pod == nil:
		return PullDecision{Action: PullStart}
	case pod.Pull != want || pod.Leaving:
		return PullDecision{Action: remove}
	case pod.Pulled:
		return PullDecision{Done: new(v1alpha1.PulledImage(want)), RecheckAfter: pullEndsAfter}
	case pod.Refused != "":
		return PullDecision{Problem: fmt.Sprintf("image %s cannot be pulled on machine %s: check its name and the pull secrets", want.Image, want.Machine)}
	case pod.Ended != "":
		return ended(pod, now)
	case pod.Unschedulable != "":
		return PullDecision{Problem: fmt.Sprintf("image %s is not pulled ahead: machine %s does not accept the pod: %s", want.Image, want.Machine, pod.Unschedulable)}
	default:
		return PullDecision{}
	}
}

// stillThere keeps what is remembered while the node has no machine: it may come back to it.
func stillThere(want Pull, done *v1alpha1.PulledImage) *v1alpha1.PulledImage {
	if done != nil && done.Image == want.Image {
		return done
	}
	return nil
}

// ended tries again after a while: whatever threw the pod out may do so again.
func ended(pod *PullPod, now time.Time) PullDecision {
	if wait := pod.Made.Add(pullAgainAfter).Sub(now); wait > 0 {
		return PullDecision{
			Problem:      fmt.Sprintf("image %s is not pulled ahead: the pull pod exited on machine %s: %s", pod.Image, pod.Machine, pod.Ended),
			RecheckAfter: wait,
		}
	}
	return PullDecision{Action: PullEnd}
}
