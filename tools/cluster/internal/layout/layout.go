// Package layout knows where a local cluster keeps things: its folder on disk and its addresses. It is the one
// place that names them; it only computes, and touches neither files nor interfaces.
package layout

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"time"
)

// Names that are the same in every local cluster.
const (
	NodeName      = "node-1"
	ClusterDomain = "cluster.local"
	PauseImage    = "localhost/pause:local"
	// ContainerdSocket is the path inside the node's mount namespace, where /run is private.
	ContainerdSocket = "/run/containerd/containerd.sock"
	APIPort          = 6443
)

// testRange is reserved for tests of network devices (RFC 2544), so it collides with no real network.
var testRange = netip.MustParsePrefix("198.18.0.0/15")

// Layout is one cluster's place on disk and on the network.
type Layout struct {
	// Dir is the state folder; everything the cluster writes is below it.
	Dir string
	// Network is a /16 of the test range that is cut into the ranges below.
	Network netip.Prefix
}

// New checks the network and makes the folder absolute.
func New(dir, network string) (Layout, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Layout{}, fmt.Errorf("resolving --state-dir: %w", err)
	}
	// The node has a /run of its own, which would hide a state folder there.
	if strings.HasPrefix(abs, "/run/") || strings.HasPrefix(abs, "/proc/") {
		return Layout{}, fmt.Errorf("--state-dir %s: choose a folder on a disk", abs)
	}
	prefix, err := netip.ParsePrefix(network)
	if err != nil {
		return Layout{}, fmt.Errorf("parsing --network: %w", err)
	}
	if prefix.Bits() != 16 || prefix != prefix.Masked() || !testRange.Contains(prefix.Addr()) {
		return Layout{}, fmt.Errorf("--network %s: use 198.18.0.0/16 or 198.19.0.0/16, the range reserved for tests", network)
	}
	return Layout{Dir: abs, Network: prefix}, nil
}

// Path joins names to the state folder.
func (l Layout) Path(names ...string) string {
	return filepath.Join(append([]string{l.Dir}, names...)...)
}

// Record is the file that says which process the cluster is.
func (l Layout) Record() string { return l.Path("cluster.json") }

// Kubeconfig is the administrator's.
func (l Layout) Kubeconfig() string { return l.Path("kubeconfig") }

// PKI is the path of a key or certificate.
func (l Layout) PKI(name string) string { return l.Path("pki", name) }

// Config is the path of a component's configuration file.
func (l Layout) Config(name string) string { return l.Path("config", name) }

// Log is the path of a component's log.
func (l Layout) Log(name string) string { return l.Path("log", name+".log") }

// AuditLog is where the API server writes down every request.
func (l Layout) AuditLog() string { return l.Path("audit", "audit.log") }

// Volumes is the folder that holds a folder per persistent volume.
func (l Layout) Volumes() string { return l.Path("volumes") }

// HostIP is the machine's address on the link to the node.
func (l Layout) HostIP() netip.Addr { return l.at(0, 1) }

// NodeIP is where the API server, the kubelet and the name server listen.
func (l Layout) NodeIP() netip.Addr { return l.at(0, 2) }

// Link is the range between the machine and the node.
func (l Layout) Link() netip.Prefix { return netip.PrefixFrom(l.at(0, 0), 24) }

// Services is the range of Service addresses.
func (l Layout) Services() netip.Prefix { return netip.PrefixFrom(l.at(64, 0), 18) }

// Pods is the range the pods' addresses come from.
func (l Layout) Pods() netip.Prefix { return netip.PrefixFrom(l.at(128, 0), 17) }

// APIService is the address of the Service "kubernetes": the first of its range.
func (l Layout) APIService() netip.Addr { return l.at(64, 1) }

// LinkName names the machine's end of the link. It differs between the two possible networks.
func (l Layout) LinkName() string { return fmt.Sprintf("sei-%d", l.Network.Addr().As4()[1]) }

// Cgroup is the parent of all pods' control groups.
func (l Layout) Cgroup() string { return "sei-cluster-" + l.LinkName() }

// Server is the API server's URL, from the machine as well as from the node.
func (l Layout) Server() string { return fmt.Sprintf("https://%s:%d", l.NodeIP(), APIPort) }

func (l Layout) at(third, fourth byte) netip.Addr {
	a := l.Network.Addr().As4()
	return netip.AddrFrom4([4]byte{a[0], a[1], third, fourth})
}

// StartTimeout bounds how long a cluster may take to become ready on a slow machine.
const StartTimeout = 3 * time.Minute
