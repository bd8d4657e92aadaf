package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// SeiNodeDeploymentSpec is what a user wants of a fleet.
// +kubebuilder:validation:XValidation:rule="!has(self.genesis) || has(self.template.spec.validator)",message="genesis needs a validator template: set template.spec.validator"
// +kubebuilder:validation:XValidation:rule="!has(self.genesis) || self.genesis.chainId == self.template.spec.chainId",message="genesis.chainId and template.spec.chainId must be the same chain"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.genesis) || (has(self.genesis) && self.genesis == oldSelf.genesis)",message="genesis can be neither changed nor removed: the chain exists; make a new SeiNodeDeployment with another chainId"
// +kubebuilder:validation:XValidation:rule="has(oldSelf.genesis) || !has(self.genesis)",message="genesis cannot be added later: the nodes run without it, and a ceremony needs new ones; make a new SeiNodeDeployment"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.genesis) || !has(self.genesis) || self.replicas == oldSelf.replicas",message="replicas cannot change while a genesis is set: each validator of the ceremony is part of the chain"
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec.validator) || !has(self.template.spec.validator.signingKey) || self.replicas == 1 || self.template.spec.validator.signingKey.secret.secretName.contains('$(ORDINAL)')",message="a signing key without $(ORDINAL) demands replicas: 1, or two nodes would sign with the same key: give every validator a Secret of its own, and put $(ORDINAL) into template.spec.validator.signingKey.secret.secretName"
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec.validator) || !has(self.template.spec.validator.nodeKey) || self.replicas == 1 || self.template.spec.validator.nodeKey.secret.secretName.contains('$(ORDINAL)')",message="a node key without $(ORDINAL) demands replicas: 1, or two nodes would have the same identity: put $(ORDINAL) into template.spec.validator.nodeKey.secret.secretName"
// +kubebuilder:validation:XValidation:rule="!has(self.genesis) || !has(self.template.spec.validator) || !has(self.template.spec.validator.signingKey)",message="genesis excludes template.spec.validator.signingKey: a ceremony generates the signing keys in the pods"
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec.seed) || self.replicas == 1 || self.template.spec.seed.nodeKey.secret.secretName.contains('$(ORDINAL)')",message="a seed's node key without $(ORDINAL) demands replicas: 1, or two nodes would have the same identity: put $(ORDINAL) into template.spec.seed.nodeKey.secret.secretName"
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec.dataVolume) || !has(self.template.spec.dataVolume.__import__) || self.replicas == 1",message="dataVolume.import in the template demands replicas: 1, or two nodes would share a volume"
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec.externalAddress) || size(self.template.spec.externalAddress) == 0 || self.replicas == 1",message="template.spec.externalAddress is the address of one node and demands replicas: 1: set networking.tcp, which gives every node an address of its own, or nodes[].externalAddress"
// +kubebuilder:validation:XValidation:rule="!self.template.spec.image.contains('$(ORDINAL)') && (!has(self.template.spec.sidecar) || !has(self.template.spec.sidecar.image) || !self.template.spec.sidecar.image.contains('$(ORDINAL)'))",message="$(ORDINAL) means nothing in template.spec.image and template.spec.sidecar.image: all nodes of a fleet run the same images; write the image out"
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec.externalAddress) || !self.template.spec.externalAddress.contains('$(ORDINAL)')",message="$(ORDINAL) means nothing in template.spec.externalAddress: set networking.tcp, which gives every node an address of its own, or nodes[].externalAddress"
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec.validator) || !has(self.template.spec.validator.operatorKeyring) || !has(self.template.spec.validator.operatorKeyring.secret) || !self.template.spec.validator.operatorKeyring.secret.passphraseSecretRef.key.contains('$(ORDINAL)')",message="$(ORDINAL) means nothing in template.spec.validator.operatorKeyring.secret.passphraseSecretRef.key: put it into secretName beside it"
type SeiNodeDeploymentSpec struct {
	// replicas is how many nodes the fleet has.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=1
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// template is what every node of the fleet looks like.
	Template SeiNodeTemplate `json:"template"`
	// nodes are settings of single nodes, over the template.
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=ordinal
	// +optional
	Nodes []NodeSettings `json:"nodes,omitempty"`
	// deletionPolicy says whether nodes and networking go (Delete) or stay
	// (Retain) when the fleet is deleted. Volumes follow their own policy.
	// +kubebuilder:validation:Enum=Delete;Retain
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy VolumeDeletionPolicy `json:"deletionPolicy,omitempty"`
	// genesis starts a new chain with the fleet's validators. It can be
	// neither added later, nor changed, nor removed.
	// +optional
	Genesis *GenesisCeremony `json:"genesis,omitempty"`
	// networking publishes the fleet. Absent keeps it private; {} publishes http.
	// +optional
	Networking *NetworkingSpec `json:"networking,omitempty"`
	// updateStrategy says how changes reach the nodes.
	// +optional
	UpdateStrategy *UpdateStrategy `json:"updateStrategy,omitempty"`
	// revisionHistoryLimit is how many earlier templates are kept to go back to, besides those that
	// nodes still have. 0 keeps none of them; unset means 10.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
	// paused freezes orchestration: nothing is created, changed or rolled. Pods
	// keep running; to stop them set template.spec.paused.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// SeiNodeTemplate is the metadata and spec of a fleet's nodes.
type SeiNodeTemplate struct {
	// metadata of the nodes.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitempty"`
	// spec of the nodes.
	Spec SeiNodeSpec `json:"spec"`
}

// TemplateMetadata goes onto a fleet's nodes.
type TemplateMetadata struct {
	// labels of the nodes. Keys of sei.io are the operator's.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('sei.io/'))",message="labels of sei.io are the operator's: it finds the nodes of a fleet by them; take a key of your own, for example example.com/team"
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations of the nodes. Of sei.io those that ask for something: restart, retry and
	// remove-first.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('sei.io/') || k in ['sei.io/restart', 'sei.io/retry', 'sei.io/remove-first'])",message="annotations of sei.io are the operator's, besides sei.io/restart, sei.io/retry and sei.io/remove-first: take a key of your own, for example example.com/team"
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// NodeSettings are settings of one node of a fleet, over the template.
type NodeSettings struct {
	// ordinal of the node: the number that its name ends with.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=99
	Ordinal int32 `json:"ordinal"`
	// paused stops the node's pod, or lets it run although the template is paused.
	// +optional
	Paused *bool `json:"paused,omitempty"`
	// overrides change single settings of the node over the overrides of the template.
	// +kubebuilder:validation:MaxProperties=1024
	// +kubebuilder:validation:XValidation:rule="!('mode' in self || 'config.toml:mode' in self || 'app.toml:sei.mode' in self)",message="overrides cannot set the mode: it is the field that selects it, one of fullNode, archive, replayer, validator and seed; remove the override"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('priv_validator.') && !k.startsWith('config.toml:priv-validator'))",message="overrides cannot set what is below priv_validator: a validator whose key, signing state or signer is elsewhere may sign a height twice; remove the override"
	// +optional
	Overrides map[string]string `json:"overrides,omitempty"`
	// externalAddress is the host:port other nodes reach this one at, in place of the
	// template's and of the one that networking gives it.
	// +kubebuilder:validation:MaxLength=261
	// +kubebuilder:validation:Pattern=`^([^\s:/,@]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}$`
	// +optional
	ExternalAddress string `json:"externalAddress,omitempty"`
	// resources of the node's seid container, in place of the template's.
	// +optional
	Resources *NodeResources `json:"resources,omitempty"`
}

// NodeResources are what one node's seid container asks for.
type NodeResources struct {
	// requests are what the container is scheduled by.
	// +optional
	Requests *ResourceAmounts `json:"requests,omitempty"`
	// limits are what the container may use.
	// +optional
	Limits *ResourceAmounts `json:"limits,omitempty"`
}

// ResourceAmounts are quantities of what a container uses.
type ResourceAmounts struct {
	// cpu is a number of cores, for example "2" or 500m.
	// +optional
	CPU Amount `json:"cpu,omitempty"`
	// memory is an amount in bytes, for example 2Gi.
	// +optional
	Memory Amount `json:"memory,omitempty"`
	// ephemeral-storage is an amount of local disk in bytes, for example 10Gi.
	// +optional
	EphemeralStorage Amount `json:"ephemeral-storage,omitempty"`
}

// Amount is a quantity as text, for example "2", 500m or 2Gi.
// +kubebuilder:validation:MaxLength=24
// +kubebuilder:validation:Pattern=`^[0-9]{1,15}(\.[0-9]{1,3})?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$`
type Amount string

// NetworkingSpec publishes a fleet.
type NetworkingSpec struct {
	// http publishes RPC, REST, gRPC and EVM through the platform's Gateway.
	// +optional
	HTTP *HTTPNetworking `json:"http,omitempty"`
	// tcp gives every node an address outside the cluster for peer-to-peer traffic: a load
	// balancer, or what else the operator's configuration says.
	// +optional
	TCP *TCPNetworking `json:"tcp,omitempty"`
}

// HTTPNetworking has no fields.
type HTTPNetworking struct{}

// TCPNetworking gives every node an address outside the cluster.
type TCPNetworking struct {
	// firstNodePort is the node port of the node with ordinal 0; the one with ordinal N has
	// firstNodePort + N. It counts where the operator's configuration publishes nodes by node ports.
	// Default: Kubernetes chooses each.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65436
	// +optional
	FirstNodePort int32 `json:"firstNodePort,omitempty"`
}

// UpdateStrategyType is how changes reach the nodes.
// +kubebuilder:validation:Enum=InPlace
type UpdateStrategyType string

// UpdateInPlace replaces pods on their volumes, a few at a time.
const UpdateInPlace UpdateStrategyType = "InPlace"

// UpdateStrategy says how changes reach the nodes.
type UpdateStrategy struct {
	// type is InPlace: pods are replaced on their volumes, a few at a time.
	// +kubebuilder:default=InPlace
	// +optional
	Type UpdateStrategyType `json:"type,omitempty"`
	// inPlace tunes the strategy.
	// +optional
	InPlace *InPlaceUpdate `json:"inPlace,omitempty"`
}

// InPlaceUpdate tunes in-place updates.
type InPlaceUpdate struct {
	// maxUnavailable is how many nodes, or what share of them, may be down
	// because of a rollout. Nodes that are down already always move.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 100 : self.matches('^([1-9][0-9]?|100)%$')",message="maxUnavailable is a number from 1 to 100 or a percentage from 1% to 100%"
	// +kubebuilder:default=1
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// minReadySeconds is how long a node has to stay Ready before a rollout counts it
	// as done and the next one moves.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +kubebuilder:default=10
	// +optional
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`
	// partition holds back the nodes with a lower ordinal: only the others take over
	// changes of the template, so that a change can be tried on a few nodes first.
	// Nodes that are recreated always use the template.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Partition int32 `json:"partition,omitempty"`
	// progressDeadlineSeconds is how long a rollout may make no progress before it
	// is reported as stalled.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +kubebuilder:default=600
	// +optional
	ProgressDeadlineSeconds int32 `json:"progressDeadlineSeconds,omitempty"`
}

// SeiNodeDeployment is a fleet of SeiNodes made from one template.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=snd,categories=sei
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="Up-to-date",type=integer,JSONPath=`.status.updatedReplicas`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Next-upgrade",type=string,JSONPath=`.status.nextUpgrade.name`
// +kubebuilder:printcolumn:name="Upgrade-height",type=integer,JSONPath=`.status.nextUpgrade.height`,priority=1
// +kubebuilder:printcolumn:name="Paused",type=boolean,JSONPath=`.spec.paused`
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.status.rollout.targetHash`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 49",message="the name is longer than 49 characters: the names of its nodes, Services and pods would pass what Kubernetes allows"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="the name must start with a letter and hold only a-z, 0-9 and '-': Services are named after it"
type SeiNodeDeployment struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is wanted.
	// +required
	Spec SeiNodeDeploymentSpec `json:"spec"`
	// status is what was observed. Its observedGeneration is -1 until an operator has looked.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status SeiNodeDeploymentStatus `json:"status,omitempty"`
}

// SeiNodeDeploymentList is a list of SeiNodeDeployments.
// +kubebuilder:object:root=true
type SeiNodeDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SeiNodeDeployment `json:"items"`
}

// HTTPEnabled reports whether the fleet is published over HTTP: it is by
// default, unless only tcp was asked for.
func (n *NetworkingSpec) HTTPEnabled() bool { return n != nil && (n.HTTP != nil || n.TCP == nil) }

// TCPEnabled reports whether the nodes get peer-to-peer load balancers.
func (n *NetworkingSpec) TCPEnabled() bool { return n != nil && n.TCP != nil }

// FirstNodePort is the node port of the node with ordinal 0; 0 when Kubernetes chooses.
func (n *NetworkingSpec) FirstNodePort() int32 {
	if !n.TCPEnabled() {
		return 0
	}
	return n.TCP.FirstNodePort
}
