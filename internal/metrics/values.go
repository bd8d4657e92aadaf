package metrics

import (
	"slices"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// other stands for a value that this version of the operator does not know, such as
// the task of a plan that a newer one has stored.
const other = "Other"

// none is where an object comes from that was just seen for the first time.
const none = "None"

// values are all that a label can say.
type values = map[string][]string

var (
	kindValues    = []string{seiv1.KindSeiNode, seiv1.KindSeiNodeDeployment}
	resultValues  = words(statuspatch.Results()...)
	tokenValues   = words(TokenGranted, TokenFailed)
	probeValues   = words(ProbeReady, ProbeNotReady, ProbeUnreachable)
	planOutcomes  = words(seiv1.OutcomeComplete, seiv1.OutcomeFailed, seiv1.OutcomeSuperseded)
	taskOutcomes  = words(seiv1.TaskComplete, seiv1.TaskFailed)
	rolloutValues = words(seiv1.OutcomeComplete, seiv1.OutcomeSuperseded)
	stateValues   = []string{"desired", "present", "ready", "updated"}
	// definitionStates are how a field of a CRD differs from those of this version.
	definitionStates = []string{fieldMissing, fieldUnknown}
	definitionKinds  = []string{seiv1.KindSeiNode, seiv1.KindSeiNodeDeployment, seiv1.KindSeiNodeTask}
	// upgradeProgress is how far the nodes of a fleet are with an upgrade.
	upgradeProgress = []string{"halted", "moved", "producing"}
	nodePhases      = words(seiv1.NodePending, seiv1.NodeInitializing, seiv1.NodeRunning, seiv1.NodeFailed, seiv1.NodeTerminating)
	fleetPhases     = words(seiv1.DeploymentPending, seiv1.DeploymentInitializing, seiv1.DeploymentReady, seiv1.DeploymentUpgrading,
		seiv1.DeploymentPaused, seiv1.DeploymentDegraded, seiv1.DeploymentFailed, seiv1.DeploymentTerminating)

	nodeTaskPhases   = words(seiv1.NodeTaskPending, seiv1.NodeTaskRunning, seiv1.NodeTaskComplete, seiv1.NodeTaskFailed)
	nodeTaskOutcomes = words(seiv1.NodeTaskComplete, seiv1.NodeTaskFailed)
	nodeTaskKinds    = append(kindNames(), other)

	planReasons = append(domain.Reasons(), fleet.ReasonGenesisCeremony, fleet.ReasonGenesisMissing, other)
	taskTypes   = []string{
		domain.StepEnsureDataPVC, domain.StepValidateSigningKey, domain.StepValidateNodeKey, domain.StepValidateOperatorKeyring,
		domain.StepReserveConsensusKey, domain.StepApplyStatefulSet, domain.StepApplyService, domain.StepReplacePod,
		domain.StepObserveImage, domain.StepDeployBootstrapJob, domain.StepAwaitBootstrap, domain.StepTeardownBootstrap,
		domain.StepAwaitGenesis, domain.StepSnapshotRestore, domain.StepConfigureGenesis, domain.StepConfigApply,
		domain.StepConfigValidate, domain.StepConfigureStateSync, domain.StepMarkReady, domain.StepRestartSeid,
		domain.StepGenerateIdentity, domain.StepGenerateGentx, domain.StepSetGenesisPeers, domain.StepSetResultExport,
		domain.StepPublishSnapshots,
		fleet.TaskCollectGentxs, fleet.TaskAssembleGenesis, fleet.TaskPublishGenesis, fleet.TaskStoreGenesis,
		fleet.TaskRestoreGenesis, other,
	}
)

// kindNames are the kinds of SeiNodeTasks.
func kindNames() []string {
	names := make([]string, 0, len(operation.Kinds()))
	for _, kind := range operation.Kinds() {
		names = append(names, string(kind.Name))
	}
	return names
}

// among keeps a label to the values it may take.
func among(list []string, value string) string {
	if slices.Contains(list, value) {
		return value
	}
	return other
}

// words are the values of a list of constants.
func words[T ~string](list ...T) []string {
	all := make([]string, 0, len(list))
	for _, w := range list {
		all = append(all, string(w))
	}
	return all
}
