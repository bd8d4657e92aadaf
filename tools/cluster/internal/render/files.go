// Package render turns a layout into the configuration files and command lines of the cluster's components.
// It decides and formats; it starts nothing and reads nothing.
package render

import (
	"fmt"
	"strings"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/pki"
)

// Files returns the configuration files by their path.
func Files(l layout.Layout) map[string]string {
	files := map[string]string{
		l.Config("containerd.toml"):       containerd(l),
		l.Config("cni/10-pods.conflist"):  cni(l),
		l.Config("kubelet.yaml"):          kubelet(l),
		l.Config("Corefile"):              corefile(l),
		l.Config("audit-policy.yaml"):     auditPolicy,
		l.Config("resolv.conf"):           fmt.Sprintf("nameserver %s\n", l.NodeIP()),
		l.Kubeconfig():                    kubeconfig(l, "admin"),
		l.Config("kube-proxy.kubeconfig"): kubeconfig(l, "kube-proxy"),
	}
	for _, user := range []string{"kube-controller-manager", "kube-scheduler", "kubelet", "coredns", "provisioner"} {
		files[l.Config(user+".kubeconfig")] = kubeconfig(l, user)
	}
	return files
}

// containerd keeps its run-time state in the node's private /run, which is empty after every start, as after a
// reboot. restrict_oom_score_adj: without CAP_SYS_RESOURCE no sandbox would start.
func containerd(l layout.Layout) string {
	return fmt.Sprintf(`version = 2
root = %q
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs",
]

[grpc]
  address = %q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  restrict_oom_score_adj = true
  disable_hugetlb_controller = true
  disable_apparmor = true

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = %q

  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`, l.Path("containerd"), layout.ContainerdSocket, layout.PauseImage, l.Config("cni"))
}

// cni gives every pod its own routed link. On a shared bridge, answers of a Service's pod would go straight to the
// asking pod and never pass the address translation on their way back.
func cni(l layout.Layout) string {
	return fmt.Sprintf(`{
  "cniVersion": "0.4.0",
  "name": "pods",
  "plugins": [
    {
      "type": "ptp",
      "ipMasq": false,
      "ipam": {"type": "host-local", "ranges": [[{"subnet": %q}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "/run/cni"}
    }
  ]
}
`, l.Pods())
}

// kubelet evicts only on a nearly full machine: a demo on a laptop should not lose pods to the laptop's own load.
func kubelet(l layout.Layout) string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %[1]s
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %[2]q}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: /%[3]s
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix://%[4]s
clusterDNS: [%[1]s]
clusterDomain: %[5]s
resolvConf: %[6]q
podLogsDir: %[7]q
makeIPTablesUtilChains: false
oomScoreAdj: 0
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard:
  memory.available: 50Mi
  nodefs.available: 1%%
  imagefs.available: 1%%
  nodefs.inodesFree: 1%%
`, l.NodeIP(), l.PKI("ca.crt"), l.Cgroup(), layout.ContainerdSocket, layout.ClusterDomain,
		l.Config("resolv.conf"), l.Path("log", "pods"))
}

// corefile answers for the cluster and says at once that nothing else exists: pods have no way out.
func corefile(l layout.Layout) string {
	return fmt.Sprintf(`%[1]s:53 in-addr.arpa:53 ip6.arpa:53 {
    bind %[2]s
    errors
    kubernetes %[1]s in-addr.arpa ip6.arpa {
        kubeconfig %[3]q
        ttl 5
    }
}
.:53 {
    bind %[2]s
    errors
    template IN ANY . {
        rcode NXDOMAIN
    }
}
`, layout.ClusterDomain, l.NodeIP(), l.Config("coredns.kubeconfig"))
}

// auditPolicy records who wrote what, without bodies: tests prove with it that a steady state writes nothing.
// Leases and events are in it as well; a reader filters.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    nonResourceURLs: ["/healthz*", "/livez*", "/readyz*", "/openapi*", "/version"]
  - level: Metadata
`

// kubeconfig names the certificate files, so no key is stored twice.
func kubeconfig(l layout.Layout, user string) string {
	client := pki.FilesOf(l.Path("pki"), user)
	return strings.TrimLeft(fmt.Sprintf(`
apiVersion: v1
kind: Config
current-context: local
clusters:
  - name: local
    cluster: {server: %q, certificate-authority: %q}
users:
  - name: %[3]s
    user: {client-certificate: %[4]q, client-key: %[5]q}
contexts:
  - name: local
    context: {cluster: local, user: %[3]s}
`, l.Server(), l.PKI("ca.crt"), user, client.Cert, client.Key), "\n")
}
