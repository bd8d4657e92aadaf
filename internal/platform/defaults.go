package platform

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultSidecarImage is the sidecar image of an operator that is told no other.
// Release builds set it at link time to the image of the same version. Until then
// it is one that make up loads and that no registry has.
var DefaultSidecarImage = "localhost/sei-operator/sidecar:dev"

// The target types of a network load balancer.
const (
	TargetTypeIP       = "ip"
	TargetTypeInstance = "instance"
)

// What leads to a node's peer-to-peer port from outside.
const (
	P2PLoadBalancer = "LoadBalancer"
	P2PNodePort     = "NodePort"
	P2PHostPort     = "HostPort"
)

// The presets of load balancers.
const (
	PresetAWS  = "aws"
	PresetNone = "none"
)

const (
	// defaultHostname tells fleets of one name in two namespaces apart.
	defaultHostname = "$(NAME)-$(NAMESPACE)-$(PROTOCOL)"
	// defaultP2PHostname has no namespace: nodes announce it, and peers have written it down. Two
	// fleets that would share one are told apart by refusing the younger.
	defaultP2PHostname = "$(NAME)-$(ORDINAL)-p2p.$(CHAIN)"
)

const (
	defaultClusterDomain = "cluster.local"
	defaultUploadTimeout = 2 * time.Hour
	defaultPermission    = 24 * time.Hour
	// A point in time is fixed within seconds by most drivers.
	defaultSnapshotTimeout = 2 * time.Minute
	defaultSnapshotsKept   = 2
)

// Default is the configuration without a file. It fits any cluster, a laptop's
// included: it is enough to start every mode, not to follow a large chain.
func Default() *Config {
	cfg := &Config{}
	cfg.applyDefaults()
	return cfg
}

// applyDefaults fills what the file left out. Resources and sizes are filled in
// the default entry only, so that a user's default is never beaten by a
// built-in value for a mode.
func (c *Config) applyDefaults() {
	setDefault(&c.ClusterDomain, defaultClusterDomain)
	setDefault(&c.Images.Sidecar, DefaultSidecarImage)
	setDefault(&c.Gateway.NLBTargetType, TargetTypeIP)
	setDefault(&c.Gateway.Hostname, defaultHostname)
	setDefault(&c.P2P.Type, P2PLoadBalancer)
	setDefault(&c.P2P.Preset, PresetAWS)
	setDefault(&c.P2P.Hostname, defaultP2PHostname)
	setDefault(&c.VolumeSnapshots.Keep, defaultSnapshotsKept)
	if c.VolumeSnapshots.Timeout == nil {
		c.VolumeSnapshots.Timeout = &metav1.Duration{Duration: defaultSnapshotTimeout}
	}
	if c.Snapshots.UploadTimeout == nil {
		c.Snapshots.UploadTimeout = &metav1.Duration{Duration: defaultUploadTimeout}
	}
	if c.Sidecar.StandingPermission == nil {
		c.Sidecar.StandingPermission = &metav1.Duration{Duration: defaultPermission}
	}
	if c.NetworkPolicies.OperatorPodLabels == nil {
		c.NetworkPolicies.OperatorPodLabels = map[string]string{"app.kubernetes.io/name": "sei-operator"}
	}
	if c.Storage.Default.Size == nil {
		c.Storage.Default.Size = new(resource.MustParse("50Gi"))
	}
	if c.Resources.Default.unset() {
		c.Resources.Default = requests("100m", "512Mi")
	}
	if c.Resources.Sidecar.unset() {
		c.Resources.Sidecar = requests("10m", "64Mi")
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// requests without limits: a memory limit that is too low kills a node in the
// middle of a commit, and only the user knows the chain's size.
func requests(cpu, memory string) ContainerResources {
	return ContainerResources{Requests: corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
	}}
}

// unset tells nothing written from an empty list, with which a user asks for
// no requests at all.
func (r ContainerResources) unset() bool { return r.Requests == nil && r.Limits == nil }
