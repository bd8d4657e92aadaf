package task

import (
	"time"

	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/planner"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Timeouts. A person can repair a missing Secret or volume within inputTimeout and
// the node goes on by itself; podTimeout covers pulling a large image.
const (
	inputTimeout    = time.Hour
	applyTimeout    = 15 * time.Minute
	podTimeout      = 30 * time.Minute
	downloadTimeout = 24 * time.Hour
	replayTimeout   = 7 * 24 * time.Hour
)

// Registry is every task of a node's plans.
func Registry() plan.Registry[*Env] {
	def := func(run runFunc, timeout time.Duration, retries int32) plan.Definition[*Env] {
		return plan.Definition[*Env]{Run: run, Timeout: timeout, MaxRetries: retries}
	}
	return plan.Registry[*Env]{
		planner.TaskEnsureDataPVC:           def(ensureDataPVC, inputTimeout, 0),
		planner.TaskValidateSigningKey:      def(validateSigningKey, inputTimeout, 0),
		planner.TaskValidateNodeKey:         def(validateNodeKey, inputTimeout, 0),
		planner.TaskValidateOperatorKeyring: def(validateOperatorKeyring, inputTimeout, 0),
		planner.TaskReserveConsensusKey:     def(reserveConsensusKey, inputTimeout, 0),
		planner.TaskApplyStatefulSet:        def(applyStatefulSet, inputTimeout, 0),
		planner.TaskApplyService:            def(applyService, applyTimeout, 0),
		planner.TaskReplacePod:              def(replacePod, podTimeout, 0),
		planner.TaskObserveImage:            def(observeImage, podTimeout, 0),
		planner.TaskDeployBootstrapJob:      def(deployBootstrapJob, applyTimeout, 0),
		planner.TaskAwaitBootstrap:          def(awaitBootstrap, replayTimeout, 0),
		planner.TaskTeardownBootstrap:       def(teardownBootstrap, podTimeout, 0),
		planner.TaskAwaitGenesis:            def(awaitGenesis, inputTimeout, 0),

		planner.TaskSnapshotRestore:    def(onSidecar(api.SnapshotRestore, snapshotRestoreParams), downloadTimeout, 5),
		planner.TaskConfigureGenesis:   def(onSidecar(api.ConfigureGenesis, configureGenesisParams), podTimeout, 10),
		planner.TaskConfigApply:        def(onSidecar(api.ConfigApply, configApplyParams), podTimeout, 3),
		planner.TaskConfigValidate:     def(onSidecar(api.ConfigValidate, noParams), podTimeout, 3),
		planner.TaskConfigureStateSync: def(onSidecar(api.ConfigureStateSync, stateSyncParams), podTimeout, 20),
		planner.TaskMarkReady:          def(onSidecar(api.MarkReady, noParams), podTimeout, 5),
		planner.TaskGenerateIdentity:   def(onSidecar(api.GenerateIdentity, identityParams), podTimeout, 3),
		planner.TaskGenerateGentx:      def(onSidecar(api.GenerateGentx, gentxParams), podTimeout, 3),
		planner.TaskSetGenesisPeers:    def(onSidecar(api.SetGenesisPeers, genesisPeersParams), podTimeout, 10),
		planner.TaskRestartSeid:        def(restartSeid, podTimeout, 3),
	}
}
