package operation

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// The steps of tasks. Most are the sidecar task of the same name.
const (
	StepGovVote            = "gov-vote"
	StepGovSoftwareUpgrade = "gov-software-upgrade"
	StepGovParamChange     = "gov-param-change"
	StepAwaitCondition     = "await-condition"
	StepRestartSeid        = "restart-seid"
	StepMarkReady          = "mark-ready"
	StepUpdateImage        = "update-image"
	StepAwaitImage         = "await-image"
	StepHoldGate           = "mark-not-ready"
	StepStopSeid           = "stop-seid"
	StepResetData          = "reset-data"
	StepConfigureStateSync = "configure-state-sync"
	StepConfigValidate     = "config-validate"
	StepAwaitSync          = "await-sync"
)

// Kind is what there is to know of one kind of SeiNodeTask.
type Kind struct {
	// Name is the value of spec.kind.
	Name v1alpha1.SeiNodeTaskKind
	// Timeout is how long a task may take whose spec does not say.
	Timeout time.Duration
	// Steps are the steps of its plan.
	Steps []string
	// OnFleet are steps that follow where the task is done on a fleet: the next node is begun with
	// when they are done.
	OnFleet []string
	// OnSidecar: the node's sidecar works on it, so there is something to cancel.
	OnSidecar bool
	// Transacts: it puts a transaction on chain, which nobody can undo.
	Transacts bool
	// Holds: it holds the node's gate closed while it runs, and leaves it so when it fails.
	Holds bool
	// Restarts: it takes the node down for a while, so that on a fleet it needs the budget.
	Restarts bool
	// changes reports whether a task changes its node; nil means that every one does.
	changes func(*v1alpha1.SeiNodeTaskSpec) bool
	// refusal says why a task cannot be done on a node; empty when it can. nil refuses none.
	refusal func(*v1alpha1.SeiNodeTaskSpec, *v1alpha1.SeiNode) string
}

// How long tasks may take by default. A wait for a height or for a node that catches up takes as
// long as the chain does.
const (
	transactionTimeout = 10 * time.Minute
	gateTimeout        = 10 * time.Minute
	restartTimeout     = 30 * time.Minute
	updateTimeout      = time.Hour
	resetTimeout       = 2 * time.Hour
	waitTimeout        = 24 * time.Hour
)

// kinds is every kind that this version does.
var kinds = []Kind{
	{
		Name: v1alpha1.TaskKindGovSoftwareUpgrade, Timeout: transactionTimeout, Steps: []string{StepGovSoftwareUpgrade},
		OnSidecar: true, Transacts: true, refusal: cannotSign,
	}, {
		Name: v1alpha1.TaskKindGovVote, Timeout: transactionTimeout, Steps: []string{StepGovVote},
		OnSidecar: true, Transacts: true, refusal: cannotSign,
	}, {
		Name: v1alpha1.TaskKindGovParamChange, Timeout: transactionTimeout, Steps: []string{StepGovParamChange},
		OnSidecar: true, Transacts: true, refusal: cannotSign,
	}, {
		Name: v1alpha1.TaskKindAwaitCondition, Timeout: waitTimeout, Steps: []string{StepAwaitCondition},
		OnSidecar: true, changes: endsSeid,
	}, {
		Name: v1alpha1.TaskKindAwaitNodesAtHeight, Timeout: waitTimeout, Steps: []string{StepAwaitCondition},
		OnSidecar: true, changes: func(*v1alpha1.SeiNodeTaskSpec) bool { return false },
	}, {
		Name: v1alpha1.TaskKindRestartSeid, Timeout: restartTimeout, Steps: []string{StepRestartSeid},
		OnFleet: []string{StepAwaitSync}, OnSidecar: true, Restarts: true,
	}, {
		Name: v1alpha1.TaskKindMarkReady, Timeout: gateTimeout, Steps: []string{StepMarkReady}, OnSidecar: true,
	}, {
		Name: v1alpha1.TaskKindUpdateNodeImage, Timeout: updateTimeout, Steps: []string{StepUpdateImage, StepAwaitImage},
		refusal: ofFleet,
	}, {
		Name: v1alpha1.TaskKindStateSync, Timeout: resetTimeout,
		Steps:     []string{StepHoldGate, StepStopSeid, StepResetData, StepConfigureStateSync, StepConfigValidate, StepMarkReady, StepAwaitSync},
		OnSidecar: true, Holds: true, Restarts: true, refusal: cannotStateSync,
	},
}

// Kinds lists every kind that this version does.
func Kinds() []Kind { return kinds }

// KindOf is the kind of a task. One that is not known is an error and never taken for another.
func KindOf(spec *v1alpha1.SeiNodeTaskSpec) (Kind, error) {
	for i := range kinds {
		if kinds[i].Name == spec.Kind {
			return kinds[i], nil
		}
	}
	return Kind{}, fmt.Errorf("this version of the operator does not support tasks of kind %q: upgrade the operator, then create the task again", spec.Kind)
}

// Changes reports whether a task changes its node. Such tasks of one node are done one after the
// other; all others run side by side.
func Changes(spec *v1alpha1.SeiNodeTaskSpec) bool {
	kind, err := KindOf(spec)
	return err == nil && (kind.changes == nil || kind.changes(spec))
}

// timeout is how long a task may take once it runs.
func (k Kind) timeout(spec *v1alpha1.SeiNodeTaskSpec) time.Duration {
	if spec.TimeoutSeconds > 0 {
		return time.Duration(spec.TimeoutSeconds) * time.Second
	}
	return k.Timeout
}

func endsSeid(spec *v1alpha1.SeiNodeTaskSpec) bool {
	return spec.AwaitCondition != nil && spec.AwaitCondition.Action != ""
}
