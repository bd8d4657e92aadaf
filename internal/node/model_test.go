package node_test

import (
	"fmt"
	"slices"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// model is a node whose steps can be run without a cluster: a volume, what makes pods, a pod
// with its sidecar and seid.
type model struct {
	claim, service, bootstrapped, initialized bool

	statefulSet, pod *node.Build
	job              node.JobState
	silent           bool // the sidecar does not answer

	home     api.Home
	lastGood string // hash@version
	gate     api.GateState
	seid     api.SeidState
	started  string // configuration seid was started with

	export string // hash of the standing export

	keysChecked bool
	violations  []string
}

// bad configurations crash every version of seid.
func bad(configHash string) bool { return configHash == "bad-bad" }

func (m *model) facts() node.Facts {
	f := node.Facts{
		Initialized: m.initialized, Bootstrapped: m.bootstrapped, Claim: m.claim, Service: m.service,
		StatefulSet: m.statefulSet, Pod: m.pod, Job: m.job,
	}
	if m.silent || m.pod == nil && m.job != node.JobCurrent {
		return f
	}
	f.Document = &api.Node{APILevel: api.Level, Gate: api.Gate{State: m.gate}, Home: m.home}
	f.Document.Seid = api.Seid{State: m.seid, Version: m.version(), ConfigHash: m.started}
	if m.seid == api.SeidRunning && m.started != m.home.ConfigHash {
		f.Document.Seid.RestartDue = []string{"config.toml:x"}
	}
	if m.export != "" {
		f.Document.ResultExport = &api.StandingExport{Hash: m.export}
	}
	return f
}

func (m *model) version() string {
	if m.pod == nil {
		return "bootstrap"
	}
	return m.pod.Image
}

func (m *model) violatedf(format string, args ...any) {
	m.violations = append(m.violations, fmt.Sprintf(format, args...))
}

// losePod is what an eviction does: the StatefulSet makes another one.
func (m *model) losePod() {
	m.gate, m.seid, m.started, m.silent = api.GateClosed, api.SeidWaiting, "", false
	if m.pod != nil && m.statefulSet != nil {
		b := *m.statefulSet
		m.pod = &b
	}
}

// run does one step for a plan's target and reports whether it succeeded.
func (m *model) run(step string, t *node.Target, pinned *v1alpha1.PlanTarget) bool {
	switch step {
	case node.StepEnsureDataPVC:
		m.claim = true
	case node.StepApplyStatefulSet:
		m.applyStatefulSet(t)
	case node.StepApplyService:
		m.service = true
	case node.StepReplacePod:
		if m.pod != nil && m.pod.TemplateHash != m.statefulSet.TemplateHash {
			m.losePod()
		}
	case node.StepDeployBootstrapJob:
		if m.statefulSet != nil {
			m.violatedf("S7: a Job was started beside the StatefulSet")
		}
		m.job = node.JobCurrent
		m.gate, m.seid = api.GateClosed, api.SeidWaiting
	case node.StepAwaitBootstrap:
		if m.seid != api.SeidRunning {
			return false
		}
		m.bootstrapped = true
	case node.StepTeardownBootstrap:
		m.job, m.seid, m.gate = node.NoJob, api.SeidWaiting, api.GateClosed
	case node.StepValidateSigningKey, node.StepReserveConsensusKey:
		m.keysChecked = true
	default:
		return m.runOnSidecar(step, t, pinned)
	}
	return true
}

func (m *model) applyStatefulSet(t *node.Target) {
	if m.job != node.NoJob {
		m.violatedf("S7: the StatefulSet was made beside a Job")
	}
	b := node.Build{Image: t.Image, SpecHash: t.SpecHash, TemplateHash: t.PodTemplateHash, Restart: t.Restart}
	m.statefulSet = &b
	if m.pod == nil {
		p := b
		m.pod, m.gate, m.seid = &p, api.GateClosed, api.SeidWaiting
	}
}

func (m *model) runOnSidecar(step string, t *node.Target, pinned *v1alpha1.PlanTarget) bool {
	if m.silent || m.pod == nil && m.job != node.JobCurrent {
		return false
	}
	switch step {
	case node.StepConfigApply:
		if m.home.ConfigHash != t.ConfigHash {
			m.home.ConfigHash, m.home.Validation, m.home.Refused = t.ConfigHash, nil, nil
		}
		pinned.ConfigHash = t.ConfigHash
	case node.StepConfigureStateSync:
		m.home.StateSync, m.home.Validation = true, nil
	case node.StepConfigValidate:
		return m.validate()
	case node.StepConfigureGenesis:
		if m.home.Stage == api.HomeEmpty {
			m.home.Stage = api.HomePrepared
		}
	case node.StepMarkReady:
		return m.markReady(t)
	case node.StepSetResultExport:
		m.export = t.ResultExport.Hash
	case node.StepRestartSeid:
		if m.seid == api.SeidWaiting {
			return false // the real one waits for a process that the gate holds
		}
		m.start()
	}
	return true
}

func (m *model) validate() bool {
	if !bad(m.home.ConfigHash) {
		m.home.Validation = &api.Validation{Valid: true, SeidVersion: m.version()}
		m.lastGood = m.home.ConfigHash + "@" + m.version()
		return true
	}
	var good, version string
	if i := slices.Index([]byte(m.lastGood), '@'); i > 0 {
		good, version = m.lastGood[:i], m.lastGood[i+1:]
	}
	m.home.Refused = &api.Refusal{ConfigHash: m.home.ConfigHash, SeidVersion: m.version(), Error: "seid crashes on it"}
	m.home.Validation = &api.Validation{SeidVersion: m.version(), Error: "seid crashes on it"}
	if good != "" && version == m.version() {
		m.home.ConfigHash = good
		m.home.Validation = &api.Validation{Valid: true, SeidVersion: version}
	}
	return false
}

func (m *model) markReady(t *node.Target) bool {
	v := m.home.Validation
	if v == nil || !v.Valid || v.SeidVersion != m.version() {
		return false // the sidecar refuses
	}
	if t.Signs && !m.keysChecked {
		m.violatedf("S1: the gate was opened without a look at the keys")
	}
	m.gate = api.GateOpen
	m.start()
	return true
}

func (m *model) start() {
	v := m.home.Validation
	if v == nil || !v.Valid || v.SeidVersion != m.version() {
		m.violatedf("S2: seid started on configuration %s, validated %+v, version %s", m.home.ConfigHash, v, m.version())
	}
	m.seid, m.started = api.SeidRunning, m.home.ConfigHash
	if m.home.Stage == api.HomePrepared {
		m.home.Stage = api.HomeSynced
	}
}
