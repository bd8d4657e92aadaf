package node

import (
	"fmt"
	"slices"
)

// The steps of a node's plans. They are part of what users see.
const (
	StepEnsureDataPVC           = "ensure-data-pvc"
	StepValidateSigningKey      = "validate-signing-key"
	StepValidateNodeKey         = "validate-node-key"
	StepValidateOperatorKeyring = "validate-operator-keyring"
	StepReserveConsensusKey     = "reserve-consensus-key"
	StepApplyStatefulSet        = "apply-statefulset"
	StepApplyService            = "apply-service"
	StepReplacePod              = "replace-pod"
	StepObserveImage            = "observe-image"
	StepDeployBootstrapJob      = "deploy-bootstrap-job"
	StepAwaitBootstrap          = "await-bootstrap-complete"
	StepTeardownBootstrap       = "teardown-bootstrap"
	StepAwaitGenesis            = "await-genesis"
	StepSnapshotRestore         = "snapshot-restore"
	StepConfigureGenesis        = "configure-genesis"
	StepConfigApply             = "config-apply"
	StepConfigValidate          = "config-validate"
	StepConfigureStateSync      = "configure-state-sync"
	StepMarkReady               = "mark-ready"
	StepRestartSeid             = "restart-seid"
	StepGenerateIdentity        = "generate-identity"
	StepGenerateGentx           = "generate-gentx"
	StepSetGenesisPeers         = "set-genesis-peers"
	StepSetResultExport         = "set-result-export"
	StepPublishSnapshots        = "publish-snapshots"
)

// step is one result that a node can be missing.
type step struct {
	name string
	// asked reports whether the target calls for the result at all.
	asked func(*Target) bool
	// missing says why the result is not there; empty when it is, or when it cannot be determined.
	missing func(*Facts, *Target) string
	// undoes are results that are gone once this step was done.
	undoes []string
	// takes are steps that have to be done again whenever this one is.
	takes []string
	// needs are results without which this step cannot succeed: it is held back with them.
	needs []string
}

var keySteps = []string{StepValidateSigningKey, StepValidateNodeKey, StepValidateOperatorKeyring, StepReserveConsensusKey}

// preparation are the steps that lead to a prepared home. What tells whether they are missing is
// one fact for several of them, so a plan that has done one does not doubt it.
var preparation = []string{
	StepEnsureDataPVC, StepGenerateIdentity, StepGenerateGentx, StepAwaitGenesis, StepSnapshotRestore, StepConfigureGenesis, StepSetGenesisPeers,
}

// steps is the order in which a node comes to be. A bootstrap Job, which prepares the same
// home before the node itself does, is put in front by bootstrap.go.
var steps = []step{
	{name: StepEnsureDataPVC, asked: always, missing: claimMissing},
	{name: StepValidateSigningKey, asked: func(t *Target) bool { return t.SigningKey }, missing: never},
	{name: StepValidateNodeKey, asked: func(t *Target) bool { return t.NodeKey }, missing: never},
	{name: StepValidateOperatorKeyring, asked: func(t *Target) bool { return t.Keyring }, missing: never},
	{name: StepReserveConsensusKey, asked: func(t *Target) bool { return t.SigningKey }, missing: never},
	{name: StepTeardownBootstrap, asked: always, missing: jobLeft},
	{
		name: StepApplyStatefulSet, asked: func(t *Target) bool { return t.TemplateProblem == "" }, missing: statefulSetMissing,
		undoes: []string{StepReplacePod, StepObserveImage}, takes: keySteps, needs: []string{StepEnsureDataPVC, StepTeardownBootstrap},
	},
	{name: StepApplyService, asked: always, missing: serviceMissing},
	{
		name: StepReplacePod, asked: func(t *Target) bool { return t.TemplateProblem == "" }, missing: podOutdated,
		undoes: []string{StepObserveImage, StepConfigApply, StepConfigValidate, StepMarkReady}, needs: []string{StepApplyStatefulSet},
	},
	{name: StepObserveImage, asked: always, missing: never, needs: []string{StepReplacePod, StepApplyStatefulSet}},
	{name: StepGenerateIdentity, asked: ceremony, missing: unprepared, needs: []string{StepObserveImage}},
	{name: StepGenerateGentx, asked: ceremony, missing: unprepared, needs: []string{StepGenerateIdentity}},
	{name: StepAwaitGenesis, asked: ceremony, missing: unprepared, needs: []string{StepGenerateGentx}},
	{name: StepSnapshotRestore, asked: fromBucket, missing: restoreMissing, needs: []string{StepObserveImage}},
	{name: StepConfigureGenesis, asked: always, missing: unprepared, needs: []string{StepSnapshotRestore, StepAwaitGenesis}},
	{
		name: StepConfigApply, asked: func(t *Target) bool { return t.ConfigProblem == "" }, missing: configMissing,
		undoes: []string{StepConfigValidate, StepRestartSeid}, needs: []string{StepConfigureGenesis, StepObserveImage},
	},
	{name: StepConfigureStateSync, asked: withStateSync, missing: stateSyncMissing, undoes: []string{StepConfigValidate}, needs: []string{StepConfigApply}},
	{name: StepSetGenesisPeers, asked: ceremony, missing: neverStarted, undoes: []string{StepConfigValidate}, needs: []string{StepConfigApply}},
	{
		name: StepConfigValidate, asked: always, missing: validationMissing,
		takes: []string{StepConfigApply}, needs: []string{StepObserveImage, StepConfigureStateSync, StepSetGenesisPeers},
	},
	// A key that was made on the volume is known only now.
	{name: StepReserveConsensusKey, asked: func(t *Target) bool { return t.Signs && !t.SigningKey }, missing: never},
	{
		name: StepMarkReady, asked: always, missing: gateClosed,
		takes: append(slices.Clone(keySteps), StepConfigValidate), needs: append(slices.Clone(keySteps), StepObserveImage),
	},
	{name: StepRestartSeid, asked: always, missing: restartDue, needs: []string{StepConfigValidate}},
	{name: StepSetResultExport, asked: func(t *Target) bool { return t.ResultExport.Problem == "" }, missing: resultExportMissing},
	{name: StepPublishSnapshots, asked: always, missing: publishingDiffers},
}

func always(*Target) bool { return true }

func ceremony(t *Target) bool { return t.Ceremony }

func fromBucket(t *Target) bool { return t.Snapshot == BucketSnapshot }

func withStateSync(t *Target) bool { return t.Snapshot != NoSnapshot }

func never(*Facts, *Target) string { return "" }

func claimMissing(f *Facts, _ *Target) string {
	switch {
	case f.Initialized:
		return "" // an empty volume in the place of a lost one is never made unasked
	case !f.Claim:
		return "there is no volume claim yet"
	case f.StatefulSet == nil:
		return "the volume claim has not been checked yet"
	default:
		return ""
	}
}

func jobLeft(f *Facts, t *Target) string {
	if f.Job == NoJob || bootstrapPending(f, t) {
		return ""
	}
	return "the bootstrap Job is no longer needed"
}

func statefulSetMissing(f *Facts, t *Target) string {
	switch {
	case f.StatefulSet == nil && f.Initialized:
		return "" // the repair of what was deleted makes it again, from the template it had
	case f.StatefulSet == nil:
		return "there is no StatefulSet yet"
	case f.StatefulSet.SpecHash != t.SpecHash && f.KeepsAdoptedPod(t):
		return "another operator created the StatefulSet: it is adopted, and its pod keeps running"
	case f.StatefulSet.SpecHash != t.SpecHash:
		return templateChange(f.StatefulSet, t)
	default:
		return ""
	}
}

func serviceMissing(f *Facts, _ *Target) string {
	if f.Service || f.Initialized {
		return "" // the repair of what was deleted makes it again
	}
	return "there is no Service yet"
}

// podOutdated looks at the spec's part of the template, and at the StatefulSet's whole: what
// an operator of another version would render is nobody's wish.
func podOutdated(f *Facts, t *Target) string {
	switch {
	case f.Pod == nil || f.KeepsAdoptedPod(t):
		return ""
	case f.Pod.SpecHash != t.SpecHash:
		return templateChange(f.Pod, t)
	case f.StatefulSet != nil && f.Pod.TemplateHash != f.StatefulSet.TemplateHash:
		return "the pod is older than the StatefulSet's template"
	default:
		return ""
	}
}

func unprepared(f *Facts, t *Target) string {
	if !f.homeEmpty() || t.Bootstrap && f.Bootstrapped {
		return ""
	}
	return "the home directory is not prepared"
}

// restoreMissing: a snapshot that was restored once is gone with the data.
func restoreMissing(f *Facts, t *Target) string {
	if f.Document != nil && f.Document.Home.Emptied && f.gateClosed() && !t.Bootstrap {
		return "the chain data was deleted"
	}
	return unprepared(f, t)
}

func neverStarted(f *Facts, _ *Target) string {
	if f.neverStarted() {
		return "seid has not started yet"
	}
	return ""
}

func stateSyncMissing(f *Facts, t *Target) string {
	if t.Bootstrap && f.Bootstrapped || !f.neverStarted() {
		return ""
	}
	if f.Document != nil && f.Document.Home.StateSync {
		return ""
	}
	return "state sync is not set up"
}

func configMissing(f *Facts, t *Target) string {
	switch {
	case f.homeEmpty():
		return "the home directory has no configuration"
	case f.Document == nil:
		return ""
	case f.Refused(t.ConfigHash) != "" && !t.Retry:
		return "" // the same answer would follow; the last good configuration stays
	case SameConfig(f.Document.Home.ConfigHash, t.ConfigHash):
		return ""
	case SameSpecConfig(f.Document.Home.ConfigHash, t.ConfigHash):
		return "the addresses of peers changed"
	default:
		return "overrides, peers or the external address changed"
	}
}

func validationMissing(f *Facts, _ *Target) string {
	switch {
	case f.homeEmpty():
		return "the home directory has no configuration"
	case f.Document == nil || f.Remembered:
		return ""
	case f.otherVersion():
		return "the configuration was validated for another version of seid"
	case f.Document.Home.Validation == nil:
		return "the configuration has not been validated"
	case !f.Document.Home.Validation.Valid:
		return "the configuration on disk is not valid"
	default:
		return ""
	}
}

func gateClosed(f *Facts, _ *Target) string {
	if f.gateClosed() {
		return "the sidecar has just started and keeps the start gate closed"
	}
	return ""
}

func restartDue(f *Facts, _ *Target) string {
	if f.seidRuns() && len(f.Document.Seid.RestartDue) > 0 {
		return "seid runs with an older configuration"
	}
	return ""
}

// publishingDiffers leaves a node alone that is not up yet: it has nothing to publish, and
// nothing about publishing may keep it from coming up.
func publishingDiffers(f *Facts, t *Target) string {
	if !f.Initialized || f.Document == nil || f.Document.Published == nil || f.Document.Published.Keep == t.PublishKeep {
		return ""
	}
	if t.PublishKeep == 0 {
		return "the node publishes snapshots, but the spec does not ask for it"
	}
	return fmt.Sprintf("the spec asks to publish snapshots and keep %d in the bucket", t.PublishKeep)
}
