package metrics

import "slices"

// Names of the metrics.
const (
	NameNodeStatusPatches       = "seinode_status_patches_total"
	NameDeploymentStatusPatches = "seinodedeployment_status_patches_total"
	NameNodeTaskStatusPatches   = "seinodetask_status_patches_total"
	NameNodeTaskPhase           = "seinodetask_phase"
	NameNodeTaskDuration        = "seinodetask_duration_seconds"
	NameSidecarProbes           = "sei_controller_seinode_sidecar_health_probes_total"
	NameSidecarReady            = "seinode_sidecar_ready"
	NameNodeReady               = "seinode_ready"
	NameFirstSyncAge            = "seinode_first_sync_age_seconds"
	NameNodePhase               = "seinode_phase"
	NamePhaseTransitions        = "seinode_phase_transitions_total"
	NamePhaseDuration           = "seinode_phase_duration_seconds"
	NameKeyReserved             = "seinode_consensus_key_reserved"
	NameResultsDiverged         = "seinode_results_diverged"
	NameSnapshotsPublished      = "seinode_snapshots_published"
	NamePublishedAge            = "seinode_snapshot_published_age_seconds"
	NameUpgradeHeight           = "seinode_upgrade_height"
	NameUpgradeEstimated        = "seinode_upgrade_estimated_timestamp_seconds"
	NameUpgradeHalted           = "seinode_upgrade_halted"
	NameUpgradeImageMissing     = "seinode_upgrade_image_missing"
	NameUpgradeFailed           = "seinode_upgrade_failed"
	NameFleetNodes              = "seinodedeployment_nodes"
	NameFleetUpgradeNodes       = "seinodedeployment_upgrade_nodes"
	NameFleetPhase              = "seinodedeployment_phase"
	NameFleetTransitions        = "seinodedeployment_phase_transitions_total"
	NameFleetPhaseDuration      = "seinodedeployment_phase_duration_seconds"
	NameRolloutAge              = "seinodedeployment_rollout_age_seconds"
	NameRolloutDuration         = "seinodedeployment_rollout_duration_seconds"
	NameFleetStalled            = "seinodedeployment_rollout_stalled"
	NameFleetRolloutFailed      = "seinodedeployment_rollout_failed"
	NamePlanActiveAge           = "sei_plan_active_age_seconds"
	NameTaskActiveAge           = "sei_plan_task_active_age_seconds"
	NamePlanLastFailed          = "sei_plan_last_failed"
	NamePlanDuration            = "sei_plan_duration_seconds"
	NameTaskDuration            = "sei_plan_task_duration_seconds"
	NameTaskRetries             = "sei_plan_task_retries_total"
	NameBuildInfo               = "sei_operator_build_info"
	NameDefinitionFields        = "sei_operator_crd_fields"
	NameTokenRequests           = "sei_operator_sidecar_token_requests_total"
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
	labelTaskKind  = "task_kind"
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
	// Values are all that a label can say, for every label but namespace, name and
	// those of the build.
	Values map[string][]string
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
	resultNotes = "A reconcile makes a few passes while there is something to do and one at rest; " +
		"every pass counts once, at its end, so `changed` is the number of status writes. " +
		"`noop` means that the status did not change and nothing was sent, `conflict` that another writer was first. " +
		"A settled object counts only `noop`. All four begin at 0 when the object is first seen."
	kindNotes       = "`kind` is the owner of the plan. "
	ageNotes        = "Computed at each scrape from the time in the object's status, so it survives a restart of the operator. "
	heldNotes       = "There is no series while the object is paused or being deleted. "
	transitionNotes = "`from` is `None` for an object that is seen for the first time."
	durationNotes   = "Taken from the times in status, so a restart of the operator neither adds nor shortens one."
	upgradeNotes    = "There is no series while the node is paused, and before anything is known of its chain's upgrades."
	expectedNotes   = "There is no series while nothing is to be expected: before the node runs, and while it is paused."
)

// Declarations lists every metric of the operator.
func Declarations() []Declaration {
	return slices.Concat(ofNodes(), ofFleets(), ofNodeTasks(), ofPlans(), []Declaration{{
		Name: NameBuildInfo, Type: Gauge, Labels: []string{labelVersion, labelCommit, labelGoVersion},
		Help: "Always 1; the labels are the version, the commit and the Go version.",
	}, {
		Name: NameDefinitionFields, Type: Gauge, Labels: []string{labelKind, labelState},
		Help: "Fields in which the cluster's CRD of a kind differs from that of this operator.",
		Notes: "`missing` are fields of this operator that the CRD lacks: the API server drops what is written into them, so apply the CRDs of this version. " +
			"`unknown` are fields of a newer CRD. Looked at when the operator starts, and every 10 minutes.",
		Values: values{labelKind: definitionKinds, labelState: definitionStates},
	}, {
		Name: NameTokenRequests, Type: Counter, Labels: []string{labelResult},
		Help:   "Token requests to the API server, for calls of sidecars, by result.",
		Notes:  "About 1.3 per node and hour; after `failed` all nodes wait for 1 to 30 seconds.",
		Values: values{labelResult: tokenValues},
	}})
}

func ofNodes() []Declaration {
	return []Declaration{
		{
			Name: NameNodeStatusPatches, Type: Counter, Labels: []string{labelNamespace, labelName, labelResult},
			Help: "SeiNode status patches by result, one per pass.", Notes: resultNotes,
			Values: values{labelResult: resultValues},
		}, {
			Name: NameSidecarProbes, Type: Counter, Labels: []string{labelNamespace, labelOutcome},
			Help:   "Health probes sent to sidecars by outcome.",
			Notes:  "`not_ready` means that the sidecar holds the start gate closed.",
			Values: values{labelOutcome: probeValues},
		}, {
			Name: NameSidecarReady, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help: "Whether the node's sidecar holds the start gate open (1) or not (0).", Notes: "Unreachable counts as 0. " + expectedNotes,
		}, {
			Name: NameNodeReady, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help: "Whether the node is in sync (1) or not (0), as its condition InSync says.", Notes: expectedNotes,
		}, {
			Name: NameFirstSyncAge, Type: Gauge, Labels: []string{labelNamespace, labelName}, Age: true,
			Help:  "How long a node has been on its first sync, since it was brought up.",
			Notes: ageNotes + "No series means that it has been in sync, is not brought up yet, or is paused.",
		}, {
			Name: NameNodePhase, Type: Gauge, Labels: []string{labelNamespace, labelName, labelPhase},
			Help:   "The phase of the node: 1 for the phase it is in, 0 for the others.",
			Notes:  "Sum over `phase=\"Failed\"` to count failed nodes.",
			Values: values{labelPhase: nodePhases},
		}, {
			Name: NamePhaseTransitions, Type: Counter, Labels: []string{labelNamespace, labelFrom, labelTo},
			Help: "Changes of SeiNode phases.", Notes: transitionNotes,
			Values: values{labelFrom: append([]string{none}, nodePhases...), labelTo: nodePhases},
		}, {
			Name: NamePhaseDuration, Type: Histogram, Labels: []string{labelNamespace, labelPhase}, Buckets: longBuckets,
			Help: "How long nodes stayed in a phase, recorded when they leave it.", Notes: durationNotes,
			Values: values{labelPhase: nodePhases},
		}, {
			Name: NameKeyReserved, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help: "1 for a node whose consensus key is reserved for it.", Notes: "No series means no reservation.",
		}, {
			Name: NameResultsDiverged, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help:  "Whether a block of a replayer differs from that of its canonical node (1) or none does (0).",
			Notes: "There is no series while it is unknown: the spec asks for no comparison, nothing is compared, or the node is paused.",
		}, {
			Name: NameSnapshotsPublished, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help:  "Whether the snapshots of a running node reach the bucket (1) or not (0).",
			Notes: "Only nodes whose spec asks for it have a series.",
		}, {
			Name: NamePublishedAge, Type: Gauge, Labels: []string{labelNamespace, labelName}, Age: true,
			Help:  "How long ago a snapshot of a running node was last seen to reach the bucket.",
			Notes: "Only nodes whose spec asks for it have a series. Before the first it counts from when publishing was asked for.",
		}, {
			Name: NameUpgradeHeight, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help:  "Height of the upgrade that is scheduled on the node's chain, or that the node has stopped for.",
			Notes: "No series means that none is. `sei_node_height` of the sidecar is how far the node is.",
		}, {
			Name: NameUpgradeEstimated, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help:  "When the node's chain reaches the height of the scheduled upgrade, estimated from its latest blocks.",
			Notes: "Renewed every few minutes. No series means that no upgrade is ahead, that the node has stopped for it, or that it is unknown.",
		}, {
			Name: NameUpgradeHalted, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help:  "Whether the node has stopped for an upgrade that is not applied yet (1) or not (0).",
			Notes: upgradeNotes,
		}, {
			Name: NameUpgradeImageMissing, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help:  "Whether no entry of spec.upgrades names an upgrade that is ahead or needed (1) or not (0).",
			Notes: upgradeNotes,
		}, {
			Name: NameUpgradeFailed, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help:  "Whether the image of an upgrade turned out to be the wrong one (1) or not (0).",
			Notes: upgradeNotes,
		},
	}
}

func ofFleets() []Declaration {
	return []Declaration{
		{
			Name: NameDeploymentStatusPatches, Type: Counter, Labels: []string{labelNamespace, labelName, labelResult},
			Help: "SeiNodeDeployment status patches by result, one per pass.", Notes: resultNotes,
			Values: values{labelResult: resultValues},
		}, {
			Name: NameFleetNodes, Type: Gauge, Labels: []string{labelNamespace, labelName, labelState},
			Help: "Nodes of a fleet by state.",
			Notes: "`ready` nodes are in sync, so available; `updated` ones run the current template. " +
				"During a rollout, `updated` over `desired` is how far it has come.",
			Values: values{labelState: stateValues},
		}, {
			Name: NameFleetUpgradeNodes, Type: Gauge, Labels: []string{labelNamespace, labelName, labelState},
			Help: "Nodes of a fleet during an upgrade of its chain, by progress.",
			Notes: "`halted` nodes have stopped for the upgrade, `moved` ones have its image, and `producing` ones of those are in sync. " +
				"No series means that there is no upgrade.",
			Values: values{labelState: upgradeProgress},
		}, {
			Name: NameFleetPhase, Type: Gauge, Labels: []string{labelNamespace, labelName, labelPhase},
			Help:   "The phase of the fleet: 1 for the phase it is in, 0 for the others.",
			Values: values{labelPhase: fleetPhases},
		}, {
			Name: NameFleetTransitions, Type: Counter, Labels: []string{labelNamespace, labelFrom, labelTo},
			Help: "Changes of SeiNodeDeployment phases.", Notes: transitionNotes,
			Values: values{labelFrom: append([]string{none}, fleetPhases...), labelTo: fleetPhases},
		}, {
			Name: NameFleetPhaseDuration, Type: Histogram, Labels: []string{labelNamespace, labelPhase}, Buckets: longBuckets,
			Help: "How long fleets stayed in a phase, recorded when they leave it.", Notes: durationNotes,
			Values: values{labelPhase: fleetPhases},
		}, {
			Name: NameRolloutAge, Type: Gauge, Labels: []string{labelNamespace, labelName}, Age: true,
			Help: "Age of the fleet's rollout. No series means there is none.", Notes: ageNotes,
		}, {
			Name: NameRolloutDuration, Type: Histogram, Labels: []string{labelNamespace, labelOutcome}, Buckets: longBuckets,
			Help:   "Duration of rollouts, by outcome.",
			Notes:  "`Superseded` means that the template changed again before the end. " + durationNotes,
			Values: values{labelOutcome: rolloutValues},
		}, {
			Name: NameFleetStalled, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help: "Whether a rollout of the fleet has exceeded its progress deadline (1) or not (0).",
		}, {
			Name: NameFleetRolloutFailed, Type: Gauge, Labels: []string{labelNamespace, labelName},
			Help:  "Whether a node that failed has halted a rollout of the fleet (1) or not (0).",
			Notes: "0 while the fleet is paused.",
		},
	}
}

func ofNodeTasks() []Declaration {
	return []Declaration{
		{
			Name: NameNodeTaskStatusPatches, Type: Counter, Labels: []string{labelNamespace, labelName, labelResult},
			Help: "SeiNodeTask status patches by result, one per pass.", Notes: resultNotes,
			Values: values{labelResult: resultValues},
		}, {
			Name: NameNodeTaskPhase, Type: Gauge, Labels: []string{labelNamespace, labelName, labelPhase},
			Help:   "The phase of the task: 1 for the phase it is in, 0 for the others.",
			Notes:  "The series are removed with the task, for example by `spec.ttlSecondsAfterFinished`.",
			Values: values{labelPhase: nodeTaskPhases},
		}, {
			Name: NameNodeTaskDuration, Type: Histogram, Labels: []string{labelNamespace, labelTaskKind, labelOutcome}, Buckets: longBuckets,
			Help:   "Duration of SeiNodeTasks, from start to end, by kind and outcome.",
			Notes:  "A task that failed before it started is not counted, nor is a task for several nodes: its children are. " + durationNotes,
			Values: values{labelTaskKind: nodeTaskKinds, labelOutcome: nodeTaskOutcomes},
		},
	}
}

func ofPlans() []Declaration {
	return []Declaration{
		{
			Name: NamePlanActiveAge, Type: Gauge, Labels: []string{labelKind, labelNamespace, labelName, labelReason}, Age: true,
			Help: "Age of the plan an object works on. No series means there is none.", Notes: kindNotes + ageNotes + heldNotes,
			Values: values{labelKind: kindValues, labelReason: planReasons},
		}, {
			Name: NameTaskActiveAge, Type: Gauge, Labels: []string{labelKind, labelNamespace, labelName, labelReason, labelTask}, Age: true,
			Help:   "How long the plan of an object has been at its current step. No series means there is none.",
			Notes:  kindNotes + ageNotes + heldNotes,
			Values: values{labelKind: kindValues, labelReason: planReasons, labelTask: taskTypes},
		}, {
			Name: NamePlanLastFailed, Type: Gauge, Labels: []string{labelKind, labelNamespace, labelName, labelReason},
			Help: "1 for an object whose last finished plan failed. No series means that it did not.",
			Notes: kindNotes + "A node's stays while the next attempt runs, until one succeeds; a fleet's until the next attempt begins. " +
				heldNotes,
			Values: values{labelKind: kindValues, labelReason: planReasons},
		}, {
			Name: NamePlanDuration, Type: Histogram, Labels: []string{labelKind, labelReason, labelOutcome}, Buckets: longBuckets,
			Help: "Duration of plans, by reason and outcome.", Notes: kindNotes + durationNotes,
			Values: values{labelKind: kindValues, labelReason: planReasons, labelOutcome: planOutcomes},
		}, {
			Name: NameTaskDuration, Type: Histogram, Labels: []string{labelKind, labelTask, labelOutcome}, Buckets: longBuckets,
			Help: "Duration of the steps of plans, from the first attempt to the end.", Notes: kindNotes + durationNotes,
			Values: values{labelKind: kindValues, labelTask: taskTypes, labelOutcome: taskOutcomes},
		}, {
			Name: NameTaskRetries, Type: Counter, Labels: []string{labelKind, labelTask},
			Help: "Retries of the steps of plans.", Notes: kindNotes,
			Values: values{labelKind: kindValues, labelTask: taskTypes},
		},
	}
}
