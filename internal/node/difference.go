package node

import "slices"

// Missing is a step whose result a node does not have.
type Missing struct {
	Step string
	// Because says why, for people. A step that only follows from another one has none.
	Because string
}

// Difference lists the steps that lead from the facts to the target, in order: those whose
// result is missing, and those whose result another one of them undoes.
func Difference(f *Facts, t *Target) []Missing {
	if bootstrapPending(f, t) {
		return bootstrap(f, t)
	}
	found := map[int]string{}
	for i := range steps {
		if because := steps[i].missing(f, t); because != "" && steps[i].asked(t) {
			found[i] = because
		}
	}
	closeOver(found, f, t)
	list := make([]Missing, 0, len(found))
	for i := range steps {
		if because, ok := found[i]; ok {
			list = append(list, Missing{Step: steps[i].name, Because: because})
		}
	}
	return list
}

// closeOver adds what the steps found undo and what has to be done again with them.
func closeOver(found map[int]string, f *Facts, t *Target) {
	for changed := true; changed; {
		changed = false
		for i := range steps {
			if _, in := found[i]; !in {
				continue
			}
			for j := range steps {
				if _, in := found[j]; in || !steps[j].asked(t) || !follows(&steps[i], &steps[j], found, f, t) {
					continue
				}
				found[j] = ""
				changed = true
			}
		}
	}
	// A process that is about to be replaced, or waits behind its gate, needs no restart.
	for i := range steps {
		if steps[i].name == StepRestartSeid && (has(found, StepReplacePod) || has(found, StepMarkReady)) {
			delete(found, i)
		}
	}
}

// follows reports whether a step that is done makes another one necessary.
func follows(done, other *step, found map[int]string, f *Facts, t *Target) bool {
	if slices.Contains(done.takes, other.name) {
		switch other.name {
		case StepConfigApply:
			return f.otherVersion() // it rewrites the configuration, with its own defaults
		case StepConfigValidate:
			return f.Remembered // what an older sidecar has on disk may have failed
		default:
			return true
		}
	}
	if !slices.Contains(done.undoes, other.name) {
		return false
	}
	switch other.name {
	case StepReplacePod:
		// Without a pod, and without anything that may be making one, there is none to replace.
		return (f.Pod != nil || f.StatefulSet != nil) && !f.KeepsAdoptedPod(t)
	case StepObserveImage:
		return !f.KeepsAdoptedPod(t)
	case StepRestartSeid:
		return f.seidRuns() && !has(found, StepReplacePod)
	default:
		return true
	}
}

func has(found map[int]string, name string) bool {
	for i := range found {
		if steps[i].name == name {
			return true
		}
	}
	return false
}

// needs are the results that a step cannot do without.
func needs(name string) []string {
	var list []string
	for i := range steps {
		if steps[i].name == name {
			list = append(list, steps[i].needs...)
		}
	}
	return list
}

// asked reports whether a target calls for a step.
func asked(f *Facts, t *Target, name string) bool {
	if slices.Contains(bootstrapSteps, name) {
		return bootstrapPending(f, t) || name == StepTeardownBootstrap
	}
	return slices.ContainsFunc(steps, func(s step) bool { return s.name == name && s.asked(t) })
}
