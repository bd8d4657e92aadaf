package render

import (
	"fmt"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

// Component is one process of the cluster.
type Component struct {
	// Name is the process's name, and that of its log.
	Name string
	// Path is the program; empty for those that the multi-call binary holds.
	Path string
	Args []string
	// Ready is an address, or the path of a socket, that accepts connections once those that come after may start.
	Ready string
}

// Components lists the processes in the order they start.
func Components(l layout.Layout) []Component {
	api := fmt.Sprintf("%s:%d", l.NodeIP(), layout.APIPort)
	return []Component{
		{Name: "containerd", Path: "containerd", Args: []string{"--config", l.Config("containerd.toml")}, Ready: layout.ContainerdSocket},
		{Name: "etcd", Args: etcd(l), Ready: "127.0.0.1:2379"},
		{Name: "kube-apiserver", Args: apiserver(l), Ready: api},
		{Name: "kube-controller-manager", Args: controllerManager(l)},
		{Name: "kube-scheduler", Args: withKubeconfig(l, "kube-scheduler", "--leader-elect=false", "--bind-address=127.0.0.1")},
		{Name: "kubelet", Args: withKubeconfig(l, "kubelet",
			"--config="+l.Config("kubelet.yaml"), "--hostname-override="+layout.NodeName, "--node-ip="+l.NodeIP().String())},
		{Name: "kube-proxy", Args: kubeProxy(l)},
		{Name: "coredns", Args: []string{"-conf", l.Config("Corefile")}},
		{Name: "provisioner", Args: withKubeconfig(l, "provisioner", "--volumes="+l.Volumes(), "--node="+layout.NodeName)},
	}
}

// etcd does not sync to disk: the state outlives killed processes, which is all a test cluster needs, and writes
// do not compete with the chain for the disk.
func etcd(l layout.Layout) []string {
	return []string{
		"--data-dir=" + l.Path("etcd"),
		"--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
		"--listen-peer-urls=http://127.0.0.1:2380",
		"--unsafe-no-fsync", "--log-level=warn",
	}
}

func apiserver(l layout.Layout) []string {
	return []string{
		"--etcd-servers=http://127.0.0.1:2379",
		"--advertise-address=" + l.NodeIP().String(),
		fmt.Sprintf("--secure-port=%d", layout.APIPort),
		"--service-cluster-ip-range=" + l.Services().String(),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--client-ca-file=" + l.PKI("ca.crt"),
		"--tls-cert-file=" + l.PKI("apiserver.crt"), "--tls-private-key-file=" + l.PKI("apiserver.key"),
		"--kubelet-client-certificate=" + l.PKI("kubelet-client.crt"), "--kubelet-client-key=" + l.PKI("kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc." + layout.ClusterDomain,
		"--service-account-signing-key-file=" + l.PKI("service-accounts.key"),
		"--service-account-key-file=" + l.PKI("service-accounts.pub"),
		"--audit-policy-file=" + l.Config("audit-policy.yaml"),
		"--audit-log-path=" + l.AuditLog(), "--audit-log-maxsize=200", "--audit-log-maxbackup=5",
	}
}

func controllerManager(l layout.Layout) []string {
	return withKubeconfig(l, "kube-controller-manager",
		"--leader-elect=false", "--bind-address=127.0.0.1",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+l.PKI("service-accounts.key"),
		"--root-ca-file="+l.PKI("ca.crt"),
		"--cluster-signing-cert-file="+l.PKI("ca.crt"), "--cluster-signing-key-file="+l.PKI("ca.key"),
	)
}

// kubeProxy leaves the connection tracking limits alone: they belong to the machine, not to the node's namespace.
func kubeProxy(l layout.Layout) []string {
	return withKubeconfig(l, "kube-proxy",
		"--proxy-mode=iptables", "--cluster-cidr="+l.Pods().String(), "--hostname-override="+layout.NodeName,
		"--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0s", "--conntrack-tcp-timeout-close-wait=0s",
	)
}

func withKubeconfig(l layout.Layout, name string, args ...string) []string {
	return append([]string{"--kubeconfig=" + l.Config(name+".kubeconfig")}, args...)
}
