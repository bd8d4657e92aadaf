package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SeiNodePhase is where a node is in its life.
// +kubebuilder:validation:Enum=Pending;Initializing;Running;Failed;Terminating
type SeiNodePhase string

// The phases of a SeiNode.
const (
	// NodePending: seen, nothing done yet.
	NodePending SeiNodePhase = "Pending"
	// NodeInitializing: the first plan runs.
	NodeInitializing SeiNodePhase = "Initializing"
	// NodeRunning: the node was brought up; condition Ready says how it is.
	NodeRunning SeiNodePhase = "Running"
	// NodeFailed: the first plan failed. A spec change or the annotation
	// sei.io/retry starts another.
	NodeFailed SeiNodePhase = "Failed"
	// NodeTerminating: the node is being deleted.
	NodeTerminating SeiNodePhase = "Terminating"
)

// SeiNodeStatus is what was observed of a node.
type SeiNodeStatus struct {
	// observedGeneration is the generation of the spec most recently observed by the operator.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// phase is where the node is in its life.
	// +optional
	Phase SeiNodePhase `json:"phase,omitempty"`
	// phaseTransitionTime is when the phase last changed.
	// +optional
	PhaseTransitionTime *metav1.Time `json:"phaseTransitionTime,omitempty"`
	// mode is the field of the spec that selects the node's mode, for example fullNode.
	// +optional
	Mode string `json:"mode,omitempty"`
	// problem is what is wrong with the node, in one line: the reason and the shortened message of
	// the condition that says so. Absent: nothing is.
	// +optional
	Problem string `json:"problem,omitempty"`
	// initializedAt is when the node was brought up for the first time.
	// +optional
	InitializedAt *metav1.Time `json:"initializedAt,omitempty"`

	// bootstrapped is true once the bootstrap Job has reached its height.
	// +optional
	Bootstrapped bool `json:"bootstrapped,omitempty"`

	// currentImage is the seid image the pod runs.
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
	// currentSidecarImage is the sidecar image the pod runs.
	// +optional
	CurrentSidecarImage string `json:"currentSidecarImage,omitempty"`
	// podTemplateHash identifies the pod template the pod was made from.
	// +optional
	PodTemplateHash string `json:"podTemplateHash,omitempty"`
	// configHash identifies the configuration that is on the node's volume.
	// +optional
	ConfigHash string `json:"configHash,omitempty"`
	// retriedFor is the value of the annotation sei.io/retry that was last acted on.
	// +optional
	RetriedFor string `json:"retriedFor,omitempty"`
	// retriedForFleet is the value of the annotation sei.io/fleet-retry that was last acted on.
	// +optional
	RetriedForFleet string `json:"retriedForFleet,omitempty"`
	// statefulSet is the identity of the StatefulSet the operator made.
	// +optional
	StatefulSet *ObjectIdentity `json:"statefulSet,omitempty"`
	// plan is the work in progress. Absent means there is none.
	// +optional
	Plan *TaskPlan `json:"plan,omitempty"`
	// lastPlan is how the work before ended.
	// +optional
	LastPlan *PlanSummary `json:"lastPlan,omitempty"`
	// resolvedPeers are the peers the node is given, sorted.
	// +listType=atomic
	// +optional
	ResolvedPeers []string `json:"resolvedPeers,omitempty"`
	// nodeId is the node's identity in the peer-to-peer network.
	// +optional
	NodeID string `json:"nodeId,omitempty"`
	// consensusAddress is the address of the validator's consensus key, as it
	// is reserved for this node.
	// +optional
	ConsensusAddress string `json:"consensusAddress,omitempty"`
	// lastPublished is the newest snapshot of this node that is in the snapshot
	// bucket.
	// +optional
	LastPublished *PublishedSnapshot `json:"lastPublished,omitempty"`
	// upgrade is the state of the node with regard to upgrades of its chain. Absent: it has none.
	// +optional
	Upgrade *UpgradeStatus `json:"upgrade,omitempty"`
	// pulledAhead is the image of the next upgrade that was pulled on the node's machine. Absent: no
	// upgrade is ahead, or its image is not there yet.
	// +optional
	PulledAhead *PulledImage `json:"pulledAhead,omitempty"`
	// endpoint lists the addresses the node serves inside the cluster.
	// +optional
	Endpoint *NodeEndpoint `json:"endpoint,omitempty"`
	// conditions say how the node is.
	// +listType=atomic
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PublishedSnapshot is a snapshot in the snapshot bucket.
type PublishedSnapshot struct {
	// height of the snapshot's block.
	Height int64 `json:"height"`
	// time when the snapshot was seen to be in the bucket.
	Time metav1.Time `json:"time"`
}

// ObjectIdentity is an object's name and UID.
type ObjectIdentity struct {
	// name of the object.
	Name string `json:"name"`
	// uid of the object.
	UID types.UID `json:"uid"`
}

// NodeEndpoint lists the addresses of a node inside the cluster.
type NodeEndpoint struct {
	// tendermintRpc is the address of the RPC, for example http://rpc-0.sei.svc:26657.
	// +optional
	TendermintRPC string `json:"tendermintRpc,omitempty"`
	// tendermintRest is the address of the REST API, for example http://rpc-0.sei.svc:1317.
	// +optional
	TendermintREST string `json:"tendermintRest,omitempty"`
	// evmJsonRpc is the address of the EVM RPC, for example http://rpc-0.sei.svc:8545.
	// +optional
	EVMJSONRPC string `json:"evmJsonRpc,omitempty"`
	// evmWs is the address of the EVM WebSocket, for example ws://rpc-0.sei.svc:8546.
	// +optional
	EVMWS string `json:"evmWs,omitempty"`
	// p2p is the address of the peer-to-peer port, for example rpc-0-0.rpc-0.sei.svc.cluster.local:26656.
	// +optional
	P2P string `json:"p2p,omitempty"`
}
