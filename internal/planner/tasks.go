package planner

import (
	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// The task types of a node's plans. They are part of what users see.
const (
	TaskEnsureDataPVC           = "ensure-data-pvc"
	TaskValidateSigningKey      = "validate-signing-key"
	TaskValidateNodeKey         = "validate-node-key"
	TaskValidateOperatorKeyring = "validate-operator-keyring"
	TaskReserveConsensusKey     = "reserve-consensus-key"
	TaskApplyStatefulSet        = "apply-statefulset"
	TaskApplyService            = "apply-service"
	TaskReplacePod              = "replace-pod"
	TaskObserveImage            = "observe-image"
	TaskDeployBootstrapJob      = "deploy-bootstrap-job"
	TaskAwaitBootstrap          = "await-bootstrap-complete"
	TaskTeardownBootstrap       = "teardown-bootstrap"
	TaskAwaitGenesis            = "await-genesis"
	TaskSnapshotRestore         = "snapshot-restore"
	TaskConfigureGenesis        = "configure-genesis"
	TaskConfigApply             = "config-apply"
	TaskConfigValidate          = "config-validate"
	TaskConfigureStateSync      = "configure-state-sync"
	TaskMarkReady               = "mark-ready"
	TaskRestartSeid             = "restart-seid"
	TaskGenerateIdentity        = "generate-identity"
	TaskGenerateGentx           = "generate-gentx"
	TaskSetGenesisPeers         = "set-genesis-peers"
)

// initTasks brings a node up from nothing, or from wherever an earlier try got to:
// every task looks at what is there first.
func initTasks(in Input) []string {
	node := in.Node
	tasks := []string{TaskEnsureDataPVC}
	tasks = append(tasks, keyTasks(node)...)
	if needsBootstrap(node) {
		tasks = append(tasks, bootstrapTasks(node)...)
	}
	tasks = append(tasks, TaskApplyStatefulSet, TaskApplyService)
	if leftover(in) {
		tasks = append(tasks, TaskReplacePod)
	}
	return append(tasks, prepareTasks(node)...)
}

// leftover reports whether an earlier try may leave a pod made from something else: a
// StatefulSet with OnDelete would keep it for ever. There need not be one yet: the
// StatefulSet controller may be making it from the old template right now.
func leftover(in Input) bool {
	if running, ok := in.Observed.running(); ok && running.templateHash != in.Wanted.PodTemplateHash {
		return true
	}
	next, ok := in.Observed.next()
	return ok && next.templateHash != in.Wanted.PodTemplateHash
}

// keyTasks check the keys that are handed in, and make sure that no other node
// signs with the same one.
func keyTasks(node *v1alpha1.SeiNode) []string {
	var tasks []string
	if node.Spec.SigningKeySecret() != "" {
		tasks = append(tasks, TaskValidateSigningKey)
	}
	if node.Spec.NodeKeySecret() != "" {
		tasks = append(tasks, TaskValidateNodeKey)
	}
	if node.Spec.OperatorKeyringSecret() != nil {
		tasks = append(tasks, TaskValidateOperatorKeyring)
	}
	if node.Spec.SigningKeySecret() != "" {
		tasks = append(tasks, TaskReserveConsensusKey)
	}
	return tasks
}

func needsBootstrap(node *v1alpha1.SeiNode) bool {
	s := node.Spec.Snapshot()
	return s != nil && s.BootstrapImage != ""
}

// bootstrapTasks run the bootstrap image to its height in a Job. The StatefulSet
// comes after them: two pods must never share the volume.
func bootstrapTasks(node *v1alpha1.SeiNode) []string {
	tasks := []string{TaskDeployBootstrapJob, TaskApplyService}
	tasks = append(tasks, preparation(node, node.Spec.Snapshot())...)
	return append(tasks, TaskMarkReady, TaskAwaitBootstrap, TaskTeardownBootstrap)
}

// prepareTasks get the home directory into shape behind the closed gate and open it.
func prepareTasks(node *v1alpha1.SeiNode) []string {
	if v := node.Spec.Validator; v != nil && v.GenesisCeremony != nil {
		return []string{
			TaskGenerateIdentity, TaskGenerateGentx, TaskAwaitGenesis, TaskConfigureGenesis, TaskConfigApply,
			TaskSetGenesisPeers, TaskConfigValidate, TaskMarkReady, TaskObserveImage,
		}
	}
	snapshot := node.Spec.Snapshot()
	if needsBootstrap(node) {
		snapshot = nil // the Job has restored it already
	}
	return append(preparation(node, snapshot), TaskMarkReady, TaskObserveImage)
}

func preparation(_ *v1alpha1.SeiNode, snapshot *v1alpha1.SnapshotSource) []string {
	var tasks []string
	if snapshot != nil && snapshot.S3 != nil {
		tasks = append(tasks, TaskSnapshotRestore)
	}
	tasks = append(tasks, TaskConfigureGenesis, TaskConfigApply)
	if snapshot != nil {
		tasks = append(tasks, TaskConfigureStateSync)
	}
	return append(tasks, TaskConfigValidate)
}

// updateTasks replace the pod. Configuration is written after that, behind the
// closed gate of the new pod, so that a broken old sidecar can be rolled away. It is
// written whole and by the new version: an override that was removed goes back to
// its default, which a patch of single keys could not know.
func updateTasks(node *v1alpha1.SeiNode) []string {
	return append(keyTasks(node),
		TaskApplyStatefulSet, TaskApplyService, TaskReplacePod, TaskObserveImage,
		TaskConfigApply, TaskConfigValidate, TaskMarkReady)
}

// reconfigureTasks write the configuration of a node that runs. The last one restarts
// seid only if a changed key needs it.
func reconfigureTasks() []string {
	return []string{TaskConfigApply, TaskConfigValidate, TaskRestartSeid}
}

func markReadyTasks() []string { return []string{TaskMarkReady} }
