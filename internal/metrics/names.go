package metrics

import (
	"slices"
	"strings"
)

// Names of the metrics.
const (
	NameNodeStatusPatches       = "seinode_status_patches_total"
	NameDeploymentStatusPatches = "seinodedeployment_status_patches_total"
	NameSidecarProbes           = "sei_controller_seinode_sidecar_health_probes_total"
	NameSidecarReady            = "seinode_sidecar_ready"
	NameNodeReady               = "seinode_ready"
	NameNodeUpdate              = "seinode_update_unfinished"
	NameNodePhase               = "seinode_phase"
	NamePhaseTransitions        = "seinode_phase_transitions_total"
	NamePhaseDuration           = "seinode_phase_duration_seconds"
	NameKeyReserved             = "seinode_consensus_key_reserved"
	NameFleetNodes              = "seinodedeployment_nodes"
	NameFleetPhase              = "seinodedeployment_phase"
	NameFleetTransitions        = "seinodedeployment_phase_transitions_total"
	NameFleetPhaseDuration      = "seinodedeployment_phase_duration_seconds"
	NameRolloutAge              = "seinodedeployment_rollout_age_seconds"
	NameRolloutDuration         = "seinodedeployment_rollout_duration_seconds"
	NameFleetStalled            = "seinodedeployment_rollout_stalled"
	NamePlanActiveAge           = "sei_plan_active_age_seconds"
	NamePlanDuration            = "sei_plan_duration_seconds"
	NameTaskDuration            = "sei_plan_task_duration_seconds"
	NameTaskRetries             = "sei_plan_task_retries_total"
	NameBuildInfo               = "sei_operator_build_info"
)

// Labels of the metrics.
const (
	labelNamespace = "namespace"
	labelName      = "name"
	labelResult    = "result"
	labelOutcome   = "outcome"
	labelPhase     = "phase"
	labelState     = "state"
	labelFrom      = "from"
	labelTo        = "to"
	labelKind      = "kind"
	labelReason    = "reason"
	labelTask      = "task"
	labelVersion   = "version"
	labelCommit    = "commit"
	labelGoVersion = "go_version"
)

// Type is the type of a metric.
type Type string

// The types of metrics.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Declaration describes one metric.
type Declaration struct {
	Name    string
	Type    Type
	Help    string
	Labels  []string
	Buckets []float64
	// Age: the gauge is the time since a moment, computed at each scrape.
	Age bool
	// Notes says in the documentation what the help text is too short for.
	Notes string
}

// PerObject reports whether the metric has series per object.
func (d Declaration) PerObject() bool {
	return slices.Contains(d.Labels, labelName)
}

// Namespaced reports whether the metric has series per namespace.
func (d Declaration) Namespaced() bool {
	return slices.Contains(d.Labels, labelNamespace)
}

// From a second to a day: a first sync may take hours.
var longBuckets = []float64{1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400}

const (
	resultNotes = "`result` is `noop` (the status is what it was, nothing was sent), `changed`, `conflict` (someone else wrote first) or `error`. " +
		"A settled object counts only `noop`."
	kindNotes       = "`kind` is the owner of the plan: `SeiNode` or `SeiNodeDeployment`. "
	ageNotes        = "Computed at each scrape from the time in the object's status, so a restart of the operator changes nothing."
	transitionNotes = "`from` is `None` for one that was just seen for the first time."
	durationNotes   = "Taken from the times in status, so a restart of the operator neither adds nor shortens one."
)

// Declarations lists every metric of the operator.
func Declarations() []Declaration {
	return []Declaration{
		{
			Name: NameNodeStatusPatches, Type: Counter, Labels: []string{labelNamespace, labelName, labelResult},
			Help: "Ends of SeiNode reconciles by what became of the status.", Notes: resultNotes,
		}, {
			Name: NameDeploymentStatusPatches, Type: Counter, Labels: []string{labelNamespace, labelName, labelResult},
			Help: "Ends of SeiNodeDeployment reconciles by what became of the status.", Notes: resultNotes,
		}, {
			Name: NameSidecarProbes, Type: Counter, Labels: []string{labelNamespace, labelOutcome},
			Help:  "Health probes sent to sidecars by outcome.",
			Notes: "`outcome` is `ready`, `not_ready` (the sidecar holds the start gate closed) or `unreachable`.",
		}, {
			Name: NameSidecarReady, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help:  "Whether the node's sidecar holds the start gate open (1) or not (0).",
			Notes: "Unreachable counts as 0. There is no series while nothing is to be expected: before the node runs, and while it is paused.",
		}, {
			Name: NameNodeReady, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help:  "Whether the node is in sync (1) or not (0), as its condition Ready says.",
			Notes: "There is no series before the node runs, and while it is paused.",
		}, {
			Name: NameNodeUpdate, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help:  "Whether an update of the node is under way or has failed and waits for its next attempt (1) or not (0).",
			Notes: "There is no series before the node runs, and while it is paused.",
		}, {
			Name: NameNodePhase, Type: Gauge, Labels: []string{labelNamespace, labelName, labelPhase},
			Help:  "The phase of the node: 1 for the phase it is in, 0 for the others.",
			Notes: "Sum over `phase=\"Failed\"` to count failed nodes.",
		}, {
			Name: NamePhaseTransitions, Type: Counter, Labels: []string{labelNamespace, labelFrom, labelTo},
			Help: "Changes of SeiNode phases.", Notes: transitionNotes,
		}, {
			Name: NamePhaseDuration, Type: Histogram, Labels: []string{labelNamespace, labelPhase}, Buckets: longBuckets,
			Help: "How long nodes stayed in a phase, recorded when they leave it.", Notes: durationNotes,
		}, {
			Name: NameKeyReserved, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help: "1 for a node whose consensus key is reserved for it.", Notes: "No series means no reservation.",
		}, {
			Name: NameFleetNodes, Type: Gauge, Labels: []string{labelNamespace, labelName, labelState},
			Help: "Nodes of a fleet by state.",
			Notes: "`state` is `desired`, `present`, `ready` (in sync, so available) or `updated` (runs the template as it is now). " +
				"During a rollout, `updated` over `desired` is how far it has come.",
		}, {
			Name: NameFleetPhase, Type: Gauge, Labels: []string{labelNamespace, labelName, labelPhase},
			Help: "The phase of the fleet: 1 for the phase it is in, 0 for the others.",
		}, {
			Name: NameFleetTransitions, Type: Counter, Labels: []string{labelNamespace, labelFrom, labelTo},
			Help: "Changes of SeiNodeDeployment phases.", Notes: transitionNotes,
		}, {
			Name: NameFleetPhaseDuration, Type: Histogram, Labels: []string{labelNamespace, labelPhase}, Buckets: longBuckets,
			Help: "How long fleets stayed in a phase, recorded when they leave it.", Notes: durationNotes,
		}, {
			Name: NameRolloutAge, Type: Gauge, Labels: []string{labelNamespace, labelName}, Age: true,
			Help: "Age of the fleet's rollout. No series means there is none.", Notes: ageNotes,
		}, {
			Name: NameRolloutDuration, Type: Histogram, Labels: []string{labelNamespace, labelOutcome}, Buckets: longBuckets,
			Help:  "How long rollouts took, by how they ended.",
			Notes: "`outcome` is `Complete` or `Superseded` (the template changed again before the end). " + durationNotes,
		}, {
			Name: NameFleetStalled, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help: "Whether a rollout of the fleet stands still for longer than its deadline (1) or not (0).",
		}, {
			Name: NamePlanActiveAge, Type: Gauge, Labels: []string{labelKind, labelNamespace, labelName, labelReason}, Age: true,
			Help: "Age of the plan an object works on. No series means there is none.", Notes: kindNotes + ageNotes,
		}, {
			Name: NamePlanDuration, Type: Histogram, Labels: []string{labelKind, labelReason, labelOutcome}, Buckets: longBuckets,
			Help: "How long plans took, by why they were made and how they ended.", Notes: kindNotes + "`outcome` is `Complete`, `Failed` or `Superseded`. " + durationNotes,
		}, {
			Name: NameTaskDuration, Type: Histogram, Labels: []string{labelKind, labelTask, labelOutcome}, Buckets: longBuckets,
			Help: "How long tasks of plans took, from the first attempt to the end.", Notes: kindNotes + "`outcome` is `Complete` or `Failed`.",
		}, {
			Name: NameTaskRetries, Type: Counter, Labels: []string{labelKind, labelTask},
			Help: "Attempts of tasks beyond the first.", Notes: strings.TrimSpace(kindNotes),
		}, {
			Name: NameBuildInfo, Type: Gauge, Labels: []string{labelVersion, labelCommit, labelGoVersion},
			Help: "1; the labels say what is running.",
		},
	}
}
