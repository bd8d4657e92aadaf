package nodetask

import (
	"context"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task"
)

// Env is what the steps of one task work with during one reconcile.
type Env struct {
	// Client writes to the API server.
	Client client.Client
	// Task is the owner and Node its target. Steps only read them.
	Task *v1alpha1.SeiNodeTask
	Node *v1alpha1.SeiNode
	// Objects are the node's StatefulSet and pod as they were seen.
	Objects *task.Objects
	// Sidecar talks to the sidecar of the node's pod; nil while there is none to talk to.
	Sidecar  sidecar.Sidecar
	Platform *platform.Config
	Clock    clock.PassiveClock
	// Wrote is notified of every object that was written.
	Wrote func(client.Object)
	// Outputs is what the steps found out; nil when they found out nothing new.
	Outputs *v1alpha1.TaskOutputs
}

type runFunc = func(ctx context.Context, env *Env, step *v1alpha1.PlannedTask) plan.Outcome

// Registry is every step of SeiNodeTasks. They have no time of their own: the task's counts.
func Registry() plan.Registry[*Env] {
	steps := map[string]runFunc{
		operation.StepGovVote:            transacting(api.GovVote, voteParams),
		operation.StepGovSoftwareUpgrade: transacting(api.GovSoftwareUpgrade, softwareUpgradeParams),
		operation.StepGovParamChange:     transacting(api.GovParamChange, paramChangeParams),
		operation.StepAwaitCondition:     onSidecar(api.AwaitCondition, awaitParams, conditionMet),
		operation.StepRestartSeid:        restartSeid,
		operation.StepMarkReady:          markReady,
		operation.StepUpdateImage:        updateImage,
		operation.StepAwaitImage:         awaitImage,

		operation.StepHoldGate:           holdGate,
		operation.StepStopSeid:           onSidecar(api.StopSeid, noParams, noMessage),
		operation.StepResetData:          onSidecar(api.ResetData, noParams, noMessage),
		operation.StepConfigureStateSync: configureStateSync,
		operation.StepConfigValidate:     onSidecar(api.ConfigValidate, noParams, noMessage),
		operation.StepAwaitSync:          awaitSync,
	}
	registry := plan.Registry[*Env]{}
	for name, run := range steps {
		registry[name] = plan.Definition[*Env]{Run: run}
	}
	return registry
}

// How soon to look again where an event usually tells first.
const (
	shortly  = 2 * time.Second
	someTime = 30 * time.Second
)
