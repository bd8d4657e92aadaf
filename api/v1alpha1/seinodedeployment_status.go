package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SeiNodeDeploymentPhase sums up how a fleet is.
// +kubebuilder:validation:Enum=Pending;Initializing;Ready;Upgrading;Paused;Degraded;Failed;Terminating
type SeiNodeDeploymentPhase string

// The phases of a SeiNodeDeployment.
const (
	// DeploymentPending: no node is there yet.
	DeploymentPending SeiNodeDeploymentPhase = "Pending"
	// DeploymentInitializing: all nodes that are not in sync have never been.
	DeploymentInitializing SeiNodeDeploymentPhase = "Initializing"
	// DeploymentReady: all nodes that are meant to run are in sync.
	DeploymentReady SeiNodeDeploymentPhase = "Ready"
	// DeploymentUpgrading: a rollout is under way.
	DeploymentUpgrading SeiNodeDeploymentPhase = "Upgrading"
	// DeploymentPaused: the fleet is frozen, or its nodes are stopped.
	DeploymentPaused SeiNodeDeploymentPhase = "Paused"
	// DeploymentDegraded: a node that was in sync is not, or a node failed.
	DeploymentDegraded SeiNodeDeploymentPhase = "Degraded"
	// DeploymentFailed: all nodes failed, or the chain has no genesis and gets none.
	DeploymentFailed SeiNodeDeploymentPhase = "Failed"
	// DeploymentTerminating: the fleet is being deleted.
	DeploymentTerminating SeiNodeDeploymentPhase = "Terminating"
)

// SeiNodeDeploymentStatus is what was observed of a fleet.
type SeiNodeDeploymentStatus struct {
	// observedGeneration is the generation of the spec most recently observed by the operator.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// phase sums up how the fleet is.
	// +optional
	Phase SeiNodeDeploymentPhase `json:"phase,omitempty"`
	// phaseTransitionTime is when the phase last changed.
	// +optional
	PhaseTransitionTime *metav1.Time `json:"phaseTransitionTime,omitempty"`
	// replicas is how many nodes exist.
	// +optional
	Replicas int32 `json:"replicas"`
	// readyReplicas is how many nodes are in sync.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// updatedReplicas is how many nodes run the template as it is now.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`
	// selector finds the fleet's pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`
	// nodes lists the fleet's nodes by ordinal.
	// +listType=atomic
	// +optional
	Nodes []FleetNode `json:"nodes,omitempty"`
	// ordinals are those of the nodes the fleet should have. Absent means the first ones: it is
	// there after a node was removed by the annotation sei.io/remove-first.
	// +listType=atomic
	// +optional
	Ordinals []int32 `json:"ordinals,omitempty"`
	// templateHash identifies the template all nodes were last brought to; with @PARTITION behind it,
	// all but those that this partition holds back.
	// +optional
	TemplateHash string `json:"templateHash,omitempty"`
	// nextUpgrade is the upgrade that the chain has scheduled, as the fleet's nodes tell. Absent means
	// there is none.
	// +optional
	NextUpgrade *NextUpgrade `json:"nextUpgrade,omitempty"`
	// rollout is the change going on. Absent means there is none.
	// +optional
	Rollout *RolloutStatus `json:"rollout,omitempty"`
	// plan is the fleet's own work in progress, for example a genesis ceremony.
	// +optional
	Plan *TaskPlan `json:"plan,omitempty"`
	// lastPlan is how the fleet's own work before ended.
	// +optional
	LastPlan *PlanSummary `json:"lastPlan,omitempty"`
	// retriedFor is the value of the annotation sei.io/retry that was last acted on.
	// +optional
	RetriedFor string `json:"retriedFor,omitempty"`
	// genesisHash is the SHA-256 of the chain's genesis file.
	// +optional
	GenesisHash string `json:"genesisHash,omitempty"`
	// genesisConfigMap holds the chain's genesis file, gzipped. Without a genesisHash, another operator has
	// started the chain, and its genesis is still to be read from a validator.
	// +optional
	GenesisConfigMap string `json:"genesisConfigMap,omitempty"`
	// genesisS3URI is where the genesis was published.
	// +optional
	GenesisS3URI string `json:"genesisS3URI,omitempty"`
	// incumbentNodes are the names of the nodes that exist, sorted.
	// +listType=atomic
	// +optional
	IncumbentNodes []string `json:"incumbentNodes,omitempty"`
	// internalService is the fleet's Service inside the cluster.
	// +optional
	InternalService *InternalServiceStatus `json:"internalService,omitempty"`
	// perPodServices are the nodes' own Services.
	// +listType=atomic
	// +optional
	PerPodServices []PerPodServiceStatus `json:"perPodServices,omitempty"`
	// endpoints are the fleet's addresses inside the cluster.
	// +optional
	Endpoints *FleetEndpoints `json:"endpoints,omitempty"`
	// networkingStatus is what was published.
	// +optional
	NetworkingStatus *NetworkingStatus `json:"networkingStatus,omitempty"`
	// conditions say how the fleet is.
	// +listType=atomic
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FleetNode is one node of a fleet.
type FleetNode struct {
	// name of the SeiNode.
	Name string `json:"name"`
	// phase of the SeiNode.
	// +optional
	Phase SeiNodePhase `json:"phase,omitempty"`
	// ready reports whether the node is in sync.
	// +optional
	Ready bool `json:"ready"`
	// synced is true once the node was in sync for the first time.
	// +optional
	Synced bool `json:"synced,omitempty"`
	// currentImage is the seid image the node's pod runs.
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
}

// NextUpgrade is an upgrade of the chain that is ahead of a fleet.
type NextUpgrade struct {
	ScheduledUpgrade `json:",inline"`
	// image that template.spec.upgrades has for it. Absent: no entry names it.
	// +optional
	Image string `json:"image,omitempty"`
}

// RolloutReason is why a change goes through a fleet.
// +kubebuilder:validation:Enum=TemplateChanged;ChainUpgrade
type RolloutReason string

// The reasons of rollouts.
const (
	RolloutTemplateChanged RolloutReason = "TemplateChanged"
	RolloutChainUpgrade    RolloutReason = "ChainUpgrade"
)

// UpgradeRollout is how far a fleet has come with an upgrade of its chain.
type UpgradeRollout struct {
	// name of the upgrade.
	Name string `json:"name"`
	// height of the first block that needs it. Absent: not known.
	// +optional
	Height int64 `json:"height,omitempty"`
	// halted is how many nodes have stopped for the upgrade and do not have its image yet.
	// +optional
	Halted int32 `json:"halted"`
	// moved is how many nodes have its image, or are past it.
	// +optional
	Moved int32 `json:"moved"`
	// producing is how many of those are in sync with the chain again.
	// +optional
	Producing int32 `json:"producing"`
}

// RolloutStatus is a change on its way through a fleet.
type RolloutStatus struct {
	// reason is why there is a rollout: the template changed, or the chain is upgraded. Absent in
	// rollouts of older operators.
	// +optional
	Reason RolloutReason `json:"reason,omitempty"`
	// upgrade is the upgrade of the chain that the fleet goes through.
	// +optional
	Upgrade *UpgradeRollout `json:"upgrade,omitempty"`
	// targetHash identifies the template the nodes are brought to.
	TargetHash string `json:"targetHash"`
	// startedAt is when the rollout began.
	StartedAt metav1.Time `json:"startedAt"`
	// progressedAt is when a node last finished.
	// +optional
	ProgressedAt *metav1.Time `json:"progressedAt,omitempty"`
	// updated is how many nodes are done.
	// +optional
	Updated int32 `json:"updated"`
	// total is how many nodes take part: all but those that a partition holds back.
	// +optional
	Total int32 `json:"total"`
	// mostUpdated is the most nodes that were done at the same time. Only more than that is
	// progress: a node that comes and goes makes none.
	// +optional
	MostUpdated int32 `json:"mostUpdated,omitempty"`
	// pausedAt is when the fleet was paused during the rollout.
	// +optional
	PausedAt *metav1.Time `json:"pausedAt,omitempty"`
	// pausedFor is how long the fleet was paused since the last progress. That time does not
	// count for progressDeadlineSeconds.
	// +optional
	PausedFor *metav1.Duration `json:"pausedFor,omitempty"`
	// waitingOn says which node the rollout waits for, and why.
	// +optional
	WaitingOn string `json:"waitingOn,omitempty"`
}

// InternalServiceStatus describes the fleet's Service inside the cluster.
type InternalServiceStatus struct {
	// name of the Service.
	Name string `json:"name"`
	// namespace of the Service.
	Namespace string `json:"namespace"`
	// ports of the Service.
	Ports InternalServicePorts `json:"ports"`
}

// InternalServicePorts are the ports of the fleet's Service.
type InternalServicePorts struct {
	// rpc port.
	RPC int32 `json:"rpc"`
	// evmHttp port.
	EVMHTTP int32 `json:"evmHttp"`
	// rest port.
	REST int32 `json:"rest"`
}

// PerPodServiceStatus describes a node's own Service.
type PerPodServiceStatus struct {
	// name of the Service.
	Name string `json:"name"`
	// namespace of the Service.
	Namespace string `json:"namespace"`
	// ports of the Service.
	Ports PerPodServicePorts `json:"ports"`
}

// PerPodServicePorts are the ports of a node's own Service.
type PerPodServicePorts struct {
	// evmHttp port.
	EVMHTTP int32 `json:"evmHttp"`
	// evmWs port.
	EVMWS int32 `json:"evmWs"`
}

// FleetEndpoints are a fleet's addresses inside the cluster.
type FleetEndpoints struct {
	// tendermintRpc of the fleet.
	// +optional
	TendermintRPC string `json:"tendermintRpc,omitempty"`
	// tendermintRest of the fleet.
	// +optional
	TendermintREST string `json:"tendermintRest,omitempty"`
	// nodes lists the addresses of the single nodes: EVM sessions are bound to one.
	// +listType=atomic
	// +optional
	Nodes []FleetNodeEndpoints `json:"nodes,omitempty"`
}

// FleetNodeEndpoints are the EVM addresses of one node.
type FleetNodeEndpoints struct {
	// name of the SeiNode.
	Name string `json:"name"`
	// evmJsonRpc of the node.
	// +optional
	EVMJSONRPC string `json:"evmJsonRpc,omitempty"`
	// evmWs of the node.
	// +optional
	EVMWS string `json:"evmWs,omitempty"`
}

// NetworkingStatus is what was published.
type NetworkingStatus struct {
	// routes are the published host names.
	// +listType=atomic
	// +optional
	Routes []RouteStatus `json:"routes,omitempty"`
	// p2pEndpoints are the nodes' peer-to-peer addresses.
	// +listType=atomic
	// +optional
	P2PEndpoints []P2PEndpointStatus `json:"p2pEndpoints,omitempty"`
}

// RouteStatus is one published host name.
type RouteStatus struct {
	// hostname that is routed.
	Hostname string `json:"hostname"`
	// protocol that is served there.
	Protocol string `json:"protocol"`
}

// P2PEndpointStatus is one node's peer-to-peer address.
type P2PEndpointStatus struct {
	// ordinal of the node.
	Ordinal int32 `json:"ordinal"`
	// seiNodeName is the node's name.
	SeiNodeName string `json:"seiNodeName"`
	// hostname is the host:port that the node announces.
	Hostname string `json:"hostname"`
	// address is what the hostname leads to, as the cluster knows it: the address of the load
	// balancer, the port of the machine, or the machine. Empty while there is none.
	// +optional
	Address string `json:"address,omitempty"`
}
