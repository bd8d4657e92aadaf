package task

import (
	"time"

	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Timeouts. A person can repair a missing Secret or volume within inputTimeout and
// the node continues by itself; podTimeout covers pulling a large image.
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
		domain.StepEnsureDataPVC:           def(ensureDataPVC, inputTimeout, 0),
		domain.StepValidateSigningKey:      def(validateSigningKey, inputTimeout, 0),
		domain.StepValidateNodeKey:         def(validateNodeKey, inputTimeout, 0),
		domain.StepValidateOperatorKeyring: def(validateOperatorKeyring, inputTimeout, 0),
		domain.StepReserveConsensusKey:     def(reserveConsensusKey, inputTimeout, 0),
		domain.StepApplyStatefulSet:        def(applyStatefulSet, inputTimeout, 0),
		domain.StepApplyService:            def(applyService, applyTimeout, 0),
		domain.StepReplacePod:              def(replacePod, podTimeout, 0),
		domain.StepObserveImage:            def(observeImage, podTimeout, 0),
		domain.StepDeployBootstrapJob:      def(deployBootstrapJob, applyTimeout, 0),
		domain.StepAwaitBootstrap:          def(awaitBootstrap, replayTimeout, 0),
		domain.StepTeardownBootstrap:       def(teardownBootstrap, podTimeout, 0),
		// The ceremony that makes the genesis has a deadline of its own.
		domain.StepAwaitGenesis: def(awaitGenesis, 0, 0),

		domain.StepSnapshotRestore:    def(onSidecar(api.SnapshotRestore, snapshotRestoreParams), downloadTimeout, 5),
		domain.StepConfigureGenesis:   def(onSidecar(api.ConfigureGenesis, configureGenesisParams), podTimeout, 10),
		domain.StepConfigApply:        def(onSidecar(api.ConfigApply, configApplyParams), podTimeout, 3),
		domain.StepConfigValidate:     def(onSidecar(api.ConfigValidate, noParams), podTimeout, 3),
		domain.StepConfigureStateSync: def(onSidecar(api.ConfigureStateSync, stateSyncParams), podTimeout, 20),
		domain.StepMarkReady:          def(markReady, podTimeout, 5),
		domain.StepGenerateIdentity:   def(onSidecar(api.GenerateIdentity, identityParams), podTimeout, 3),
		domain.StepGenerateGentx:      def(onSidecar(api.GenerateGentx, gentxParams), podTimeout, 3),
		domain.StepSetGenesisPeers:    def(onSidecar(api.SetGenesisPeers, genesisPeersParams), podTimeout, 10),
		domain.StepRestartSeid:        def(restartSeid, podTimeout, 3),
		domain.StepSetResultExport:    def(onSidecar(api.SetResultExport, resultExportParams), podTimeout, 3),
		domain.StepPublishSnapshots:   def(publishSnapshots, podTimeout, 3),
	}
}
