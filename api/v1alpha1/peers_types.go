package v1alpha1

// PeerSource is one place peers come from.
// +kubebuilder:validation:XValidation:rule="[has(self.static), has(self.label), has(self.ec2Tags)].filter(x, x).size() == 1",message="a peer source is exactly one of static, label and ec2Tags: make one list entry per source"
type PeerSource struct {
	// static lists addresses that are used as they are.
	// +optional
	Static *StaticPeers `json:"static,omitempty"`
	// label finds other SeiNodes of the cluster by their labels.
	// +optional
	Label *LabelPeers `json:"label,omitempty"`
	// ec2Tags finds running EC2 instances by their tags.
	// +optional
	EC2Tags *EC2TagPeers `json:"ec2Tags,omitempty"`
}

// PeerAddress is nodeid@host:port.
// +kubebuilder:validation:MaxLength=320
// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9a-fA-F]{40}@([^ @:/,]+|\\\\[[0-9a-fA-F:.]+\\\\]):[0-9]{1,5}$')",message="a peer address is nodeid@host:port: 40 hexadecimal digits, an @, a host and a port"
type PeerAddress string

// StaticPeers lists peers by address.
type StaticPeers struct {
	// addresses are nodeid@host:port each; the node id is 40 hexadecimal digits.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	Addresses []PeerAddress `json:"addresses"`
}

// LabelPeers finds SeiNodes by label. The node itself is skipped.
type LabelPeers struct {
	// selector holds labels that a peer's SeiNode must carry, all of them.
	// +kubebuilder:validation:MinProperties=1
	Selector map[string]string `json:"selector"`
	// namespace of the peers. Empty means the node's own. Another one has to be allowed by
	// peers.label.namespaces of the operator's configuration.
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// EC2TagPeers finds running EC2 instances by tag. An instance's node id comes
// from its tag sei.io/node-id or from its RPC.
type EC2TagPeers struct {
	// region to search, for example eu-central-1.
	// +kubebuilder:validation:MinLength=1
	Region string `json:"region"`
	// tags an instance must carry, all of them.
	// +kubebuilder:validation:MinProperties=1
	Tags map[string]string `json:"tags"`
}
