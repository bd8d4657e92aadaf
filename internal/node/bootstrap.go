package node

// bootstrapSteps are the steps that only a bootstrap Job has.
var bootstrapSteps = []string{StepDeployBootstrapJob, StepAwaitBootstrap, StepTeardownBootstrap}

// bootstrapPending reports whether a Job still has to prepare the volume. Once there is a
// StatefulSet there is no way back: the two would use the volume at the same time.
func bootstrapPending(f *Facts, t *Target) bool {
	return t.Bootstrap && !f.Bootstrapped && !f.Initialized && f.StatefulSet == nil
}

// bootstrap lists what is missing of the Job's part and, after it, of the node's own. The Job
// prepares the home on its own sidecar; the StatefulSet comes after it, because two pods must
// never share the volume.
func bootstrap(f *Facts, t *Target) []Missing {
	list := jobPart(f, t)
	add := adder(f, t, &list)
	add("the chain has not been replayed", StepAwaitBootstrap, StepTeardownBootstrap)
	add("there is no StatefulSet yet", StepApplyStatefulSet)
	add("", StepObserveImage, StepConfigureGenesis, StepConfigApply, StepConfigValidate)
	if t.Signs && !t.SigningKey {
		add("", StepReserveConsensusKey)
	}
	add("the node's own pod is waiting for its start gate to open", StepMarkReady)
	return list
}

func jobPart(f *Facts, t *Target) []Missing {
	list := make([]Missing, 0, len(steps))
	add := adder(f, t, &list)
	if f.Job != JobCurrent {
		add(claimMissing(f, t), StepEnsureDataPVC)
	}
	add("", StepValidateSigningKey, StepValidateNodeKey, StepValidateOperatorKeyring)
	if t.SigningKey {
		add("", StepReserveConsensusKey)
	}
	if f.Job == JobOutdated {
		add("the bootstrap Job runs another image", StepTeardownBootstrap)
	}
	if f.Job != JobCurrent {
		add("there is no bootstrap Job yet", StepDeployBootstrapJob)
	}
	if !f.Service {
		add("the Job's pod has no address yet", StepApplyService)
	}
	return append(list, jobHome(f, t)...)
}

// jobHome lists what is missing behind the Job's gate. Before the Job's pod tells otherwise,
// nothing is known to be there; while it is silent, nothing is known to be missing.
func jobHome(f *Facts, t *Target) []Missing {
	var list []Missing
	add := adder(f, t, &list)
	if f.Job != JobCurrent {
		add("the home directory is not prepared", StepSnapshotRestore, StepConfigureGenesis, StepConfigApply, StepConfigureStateSync, StepConfigValidate)
		add("the Job is waiting for its start gate to open", StepMarkReady)
		return list
	}
	if f.Document == nil {
		return nil
	}
	if because := unprepared(f, t); because != "" {
		add(because, StepSnapshotRestore, StepConfigureGenesis)
	}
	written := false
	for _, s := range []struct{ name, because string }{
		{StepConfigApply, configMissing(f, t)}, {StepConfigureStateSync, stateSyncMissing(f, t)}, {StepConfigValidate, validationMissing(f, t)},
	} {
		if s.because == "" && (s.name != StepConfigValidate || !written) {
			continue
		}
		add(s.because, s.name)
		written = true
	}
	if f.gateClosed() {
		add("the Job is waiting for its start gate to open", StepMarkReady)
	}
	return list
}

func adder(f *Facts, t *Target, list *[]Missing) func(because string, names ...string) {
	return func(because string, names ...string) {
		for _, name := range names {
			if asked(f, t, name) {
				*list = append(*list, Missing{Step: name, Because: because})
			}
		}
	}
}
