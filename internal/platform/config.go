package platform

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Config is the platform configuration. Field names are those of the file.
type Config struct {
	// ClusterDomain is the DNS domain of the cluster's Services.
	ClusterDomain string `json:"clusterDomain"`
	// Images the operator runs besides those a SeiNode names.
	Images Images `json:"images"`
	// Scheduling places the pods, per mode over the default.
	Scheduling PerMode[Scheduling] `json:"scheduling"`
	// Storage shapes the data volumes, per mode over the default.
	Storage PerMode[Storage] `json:"storage"`
	// Resources of the containers.
	Resources Resources `json:"resources"`
	// Sidecar tunes how sidecars are called, and what they may do without an operator.
	Sidecar Sidecar `json:"sidecar"`
	// Buckets the sidecars read from and write to.
	Buckets Buckets `json:"buckets"`
	// Snapshots tunes how snapshots are published.
	Snapshots Snapshots `json:"snapshots"`
	// VolumeSnapshots are backups of data volumes before upgrades of the chain.
	VolumeSnapshots VolumeSnapshots `json:"volumeSnapshots"`
	// Gateway is where fleets publish their endpoints.
	Gateway Gateway `json:"gateway"`
	// P2P is how fleets publish the peer-to-peer ports of their nodes.
	P2P P2P `json:"p2p"`
	// NetworkPolicies are who may connect to nodes.
	NetworkPolicies NetworkPolicies `json:"networkPolicies"`
	// StateSync lists the witnesses of state sync.
	StateSync StateSync `json:"stateSync"`
	// Peers limits where the peers of nodes may come from.
	Peers Peers `json:"peers"`
}

// PerMode is a setting with a default and a value for single modes. The mode
// names are the fields of a SeiNode's spec.
type PerMode[T any] struct {
	// Default holds for every mode that says nothing else.
	Default T `json:"default"`
	// FullNode, Archive, Replayer, Validator and Seed are the values of one mode.
	FullNode  *T `json:"fullNode"`
	Archive   *T `json:"archive"`
	Replayer  *T `json:"replayer"`
	Validator *T `json:"validator"`
	Seed      *T `json:"seed"`
}

// Images the operator runs.
type Images struct {
	// Sidecar is the sidecar image of every SeiNode that names none.
	Sidecar string `json:"sidecar"`
}

// Scheduling places pods.
type Scheduling struct {
	NodeSelector              map[string]string                 `json:"nodeSelector"`
	Tolerations               []corev1.Toleration               `json:"tolerations"`
	Affinity                  *corev1.Affinity                  `json:"affinity"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints"`
	PriorityClassName         string                            `json:"priorityClassName"`
	// ServiceAccountName is the account of the pods, for cloud identities. The
	// pods need no permission in Kubernetes.
	ServiceAccountName string `json:"serviceAccountName"`
}

// Storage shapes a data volume.
type Storage struct {
	// ClassName is the storage class. Absent means the cluster's default class,
	// an empty string means no class at all.
	ClassName *string `json:"className"`
	// Size of the volume.
	Size *resource.Quantity `json:"size"`
}

// ContainerResources are the requests and limits of one container. They are
// taken or left as a whole.
type ContainerResources struct {
	Requests corev1.ResourceList `json:"requests"`
	Limits   corev1.ResourceList `json:"limits"`
}

// Resources of the containers of a pod: the chain's per mode, the sidecar's for all.
type Resources struct {
	// PerMode are the resources of the seid container.
	PerMode[ContainerResources] `json:",inline"`
	// Sidecar are the resources of the sidecar container.
	Sidecar ContainerResources `json:"sidecar"`
}

// Sidecar tunes how sidecars are called, and what they may do without an operator.
type Sidecar struct {
	// StandingPermission is for how long after the operator opened a node's gate a new sidecar
	// on the same volume may open it by itself when it hears of no operator. 0 means never;
	// nodes that sign blocks never may.
	StandingPermission *metav1.Duration `json:"standingPermission"`
	// TLS gives the sidecars of new pods a certificate, and has them called over TLS. Off, they are
	// called over plain HTTP, for sidecar images that are too old for it.
	TLS *bool `json:"tls"`
}

// ServesTLS reports whether the sidecars of new pods get a certificate.
func (s Sidecar) ServesTLS() bool { return s.TLS == nil || *s.TLS }

// Buckets are addresses such as s3://name?region=eu-central-1. Empty means none.
type Buckets struct {
	Snapshot     string `json:"snapshot"`
	Genesis      string `json:"genesis"`
	ResultExport string `json:"resultExport"`
}

// Snapshots tunes how snapshots are published.
type Snapshots struct {
	// UploadTimeout ends an upload that takes longer.
	UploadTimeout *metav1.Duration `json:"uploadTimeout"`
}

// VolumeSnapshots are backups of data volumes before upgrades of the chain.
type VolumeSnapshots struct {
	// BeforeUpgrades takes one for every entry of spec.upgrades that does not say otherwise.
	BeforeUpgrades bool `json:"beforeUpgrades"`
	// ClassName is the VolumeSnapshotClass. Empty means the default class of the volume's driver.
	ClassName string `json:"className"`
	// Keep is how many stay of each node.
	Keep int32 `json:"keep"`
	// Timeout is how long a halted node waits for its snapshot to be cut.
	Timeout *metav1.Duration `json:"timeout"`
}

// Gateway is where fleets publish their endpoints.
type Gateway struct {
	// Name and Namespace of the Gateway that HTTPRoutes attach to.
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// Domain is the parent of the routes' host names.
	Domain string `json:"domain"`
	// PublicDomain adds a second host name per route, below the namespace's name.
	PublicDomain string `json:"publicDomain"`
	// P2PDomain is the parent of the peer-to-peer addresses.
	P2PDomain string `json:"p2pDomain"`
	// Hostname is a route's host name below Domain. Its variables are $(NAME), $(NAMESPACE) and
	// $(PROTOCOL).
	Hostname string `json:"hostname"`
	// NLBTargetType is how AWS network load balancers reach pods: ip or instance.
	NLBTargetType string `json:"nlbTargetType"`
}

// P2P is how fleets publish the peer-to-peer ports of their nodes.
type P2P struct {
	// Type is what leads to a node from outside: LoadBalancer, NodePort or HostPort.
	Type string `json:"type"`
	// Preset is what the load balancers of a provider need beside Annotations: aws or none.
	Preset string `json:"preset"`
	// LoadBalancerClass of the Services; empty means the cluster's default.
	LoadBalancerClass string `json:"loadBalancerClass"`
	// Annotations of the Services. They win over those of the preset.
	Annotations map[string]string `json:"annotations"`
	// Hostname is a node's host name below the gateway's P2PDomain. Its variables are $(NAME),
	// $(NAMESPACE), $(ORDINAL) and $(CHAIN).
	Hostname string `json:"hostname"`
}

// NetworkPolicies are who may connect to nodes. A namespace that is named stands for all of its pods.
type NetworkPolicies struct {
	// Enabled makes a NetworkPolicy for every node.
	Enabled *bool `json:"enabled"`
	// OperatorPodLabels find the operator's pods in its own namespace.
	OperatorPodLabels map[string]string `json:"operatorPodLabels"`
	// SidecarNamespaces reach the sidecars beside the operator.
	SidecarNamespaces []string `json:"sidecarNamespaces"`
	// RPCNamespaces reach what nodes serve to clients; none means everybody.
	RPCNamespaces []string `json:"rpcNamespaces"`
	// MetricsNamespaces reach the metrics of seid; none means everybody.
	MetricsNamespaces []string `json:"metricsNamespaces"`
}

// On reports whether nodes get a NetworkPolicy.
func (p NetworkPolicies) On() bool { return p.Enabled == nil || *p.Enabled }

// Peers limits where the peers of nodes may come from.
type Peers struct {
	// EC2 is what peer sources of type ec2Tags may ask for. Nothing is, unless it is listed.
	EC2 EC2Peers `json:"ec2"`
	// Label is where peer sources of type label may look beside the node's own namespace.
	Label LabelPeers `json:"label"`
}

// AnyNamespace in place of a namespace's name stands for all of them.
const AnyNamespace = "*"

// LabelPeers is where nodes may be found by their labels.
type LabelPeers struct {
	// Namespaces whose nodes may be found from everywhere, or AnyNamespace.
	Namespaces []string `json:"namespaces"`
}

// MayFind reports whether nodes of one namespace may find those of another.
func (p LabelPeers) MayFind(from, in string) bool {
	return from == in || slices.Contains(p.Namespaces, in) || slices.Contains(p.Namespaces, AnyNamespace)
}

// EC2Peers is what may be asked of EC2.
type EC2Peers struct {
	// Regions that may be asked.
	Regions []string `json:"regions"`
	// Tags, as name or name=value, of which a source has to name one.
	Tags []string `json:"tags"`
}

// StateSync lists the witnesses of state sync.
type StateSync struct {
	// Syncers are RPC addresses, host:port or http(s) URLs, by chain id; at least two each.
	Syncers map[string][]string `json:"syncers"`
}
