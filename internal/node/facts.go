package node

import (
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Facts is all that one look found out about a node. What is not known is left empty and
// starts nothing.
type Facts struct {
	// Initialized: the node was brought up once.
	Initialized bool
	// Bootstrapped: the bootstrap Job has reached its height.
	Bootstrapped bool
	// Claim: the node's volume claim exists. Without one the home is empty.
	Claim bool
	// StatefulSet is what the next pod is made from; nil when nothing makes pods.
	StatefulSet *Build
	Service     bool
	// Pod is what the node's pod was made from; nil when there is none, or it is going.
	Pod *Build
	// SeidStarted: seid in that pod has passed its startup probe.
	SeidStarted bool
	// PodCurrent: the pod was made from the template that the StatefulSet has now.
	PodCurrent bool
	// AdoptedSpecHash is the SpecHash with which the StatefulSet of another operator was adopted while
	// its pod was left running; empty when it was not.
	AdoptedSpecHash string
	Job             JobState
	// Document is what the sidecar of the pod, or of the bootstrap Job's pod, told; nil when
	// nobody answered.
	Document *api.Node
	// Operation is the SeiNodeTask that has closed the gate and is not known to have opened it; empty when there
	// is none. A sidecar that has lost its store does not know of it.
	Operation string
	// Remembered: the sidecar is too old to tell, and the document's home is what the
	// operator remembers of it.
	Remembered bool
}

// Build is what a pod was, or would be, made from.
type Build struct {
	Image        string
	SidecarImage string
	TemplateHash string
	// SpecHash identifies the part of the template that comes from the node's spec.
	SpecHash string
	Restart  string
	// Foreign: another operator of kinds with the same names made it. It has no sidecar of ours.
	Foreign bool
	// Secrets: a StatefulSet's pod mounts Secrets, one of which may be a key that signs.
	Secrets bool
}

// JobState is the state of the node's bootstrap Job.
type JobState int

// The states of a bootstrap Job.
const (
	NoJob JobState = iota
	// JobOutdated: the Job runs another image than the spec asks for.
	JobOutdated
	JobCurrent
)

// homeEmpty reports whether the home is known to be unprepared.
func (f *Facts) homeEmpty() bool {
	if f.Document == nil {
		return !f.Claim && !f.Initialized
	}
	stage := f.Document.Home.Stage
	return stage == api.HomeEmpty || stage == "" && !f.Initialized
}

// neverStarted reports whether seid is known not to have run on this volume, and is not about to:
// behind an open gate it starts at any moment.
func (f *Facts) neverStarted() bool {
	return f.homeEmpty() || f.Document != nil && f.Document.Home.Stage == api.HomePrepared && f.gateClosed()
}

// gateClosed reports whether the gate is known to be closed and held by no operation.
func (f *Facts) gateClosed() bool {
	if f.Document == nil {
		return f.homeEmpty()
	}
	return f.Document.Gate.State == api.GateClosed && f.Operation == ""
}

// seidRuns reports whether there is a chain process that a restart could reach.
func (f *Facts) seidRuns() bool {
	return f.Document != nil && f.Document.Seid.State == api.SeidRunning
}

// otherVersion reports whether the files were last validated for another version of seid
// than the one in the pod.
func (f *Facts) otherVersion() bool {
	if f.Document == nil {
		return false
	}
	v, version := f.Document.Home.Validation, f.Document.Seid.Version
	return v != nil && v.SeidVersion != "" && version != "" && v.SeidVersion != version
}

// configValid reports whether seid may start on the files that are on disk. An older sidecar
// cannot tell.
func (f *Facts) configValid() bool {
	if f.Document == nil || f.Remembered {
		return false
	}
	v := f.Document.Home.Validation
	return v != nil && v.Valid && !f.otherVersion()
}

// held reports whether an operation keeps the gate closed.
func (f *Facts) held() bool {
	if f.Document == nil {
		return false
	}
	gate := f.Document.Gate.State
	return gate == api.GateHeld || gate == api.GateClosed && f.Operation != ""
}

// tellsResultExport reports whether the sidecar is known to tell whether it exports results.
func (f *Facts) tellsResultExport() bool {
	return f.Document != nil && f.Document.APILevel >= api.LevelResultExport
}

// Refused is why the sidecar refused a configuration for the version in the pod; empty when
// it did not.
func (f *Facts) Refused(configHash string) string {
	if f.Document == nil || f.Document.Home.Refused == nil {
		return ""
	}
	r, version := f.Document.Home.Refused, f.Document.Seid.Version
	if r.ConfigHash != configHash || r.SeidVersion != "" && version != "" && r.SeidVersion != version {
		return ""
	}
	return r.Error
}
