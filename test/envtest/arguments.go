package envtest

import (
	"path/filepath"
	"strings"
)

func etcdArgs(dir, clientURL, peerURL string) []string {
	return []string{
		"--data-dir=" + filepath.Join(dir, "etcd"),
		"--listen-client-urls=" + clientURL,
		"--advertise-client-urls=" + clientURL,
		"--listen-peer-urls=" + peerURL,
		"--initial-advertise-peer-urls=" + peerURL,
		"--initial-cluster=default=" + peerURL,
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

// apiServerArgs leave admission and feature gates at the defaults of the
// version: what a test sees is what a cluster does.
func apiServerArgs(c *credentials, etcdURL, host, port string) []string {
	return []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		"--secure-port=" + port,
		"--tls-cert-file=" + c.servingCert,
		"--tls-private-key-file=" + c.servingKey,
		"--token-auth-file=" + c.tokens,
		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		"--service-account-issuer=" + host,
		"--service-account-key-file=" + c.serviceAccountKey,
		"--service-account-signing-key-file=" + c.serviceAccountKey,
		"--service-cluster-ip-range=198.18.0.0/16",
		"--endpoint-reconciler-type=none",
		"--profiling=false",
		"-v=1",
	}
}

func controllerManagerArgs(c *credentials, kubeconfig string, controllers []string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--controllers=" + strings.Join(controllers, ","),
		"--service-account-private-key-file=" + c.serviceAccountKey,
		"--root-ca-file=" + c.servingCert,
		"--leader-elect=false",
		"--secure-port=0",
		// The default of 20 requests a second would be the slowest thing in every test.
		"--kube-api-qps=2000",
		"--kube-api-burst=2000",
		"-v=1",
	}
}
