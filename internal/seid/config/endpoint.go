package config

import (
	"net"
	"path/filepath"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// Endpoint is where a node's own RPC can be asked from within its pod.
type Endpoint struct {
	URL string
	// CertFile is the certificate that the node shows; empty means plain HTTP.
	CertFile string
}

// defaultRPCPort is where seid listens when its configuration does not say.
const defaultRPCPort = "26657"

// LocalEndpoint is where the node with these files listens. ipv4 says whether the pod
// has an IPv4 loopback; without one the IPv6 loopback is asked.
func LocalEndpoint(files Files, dir home.Dir, ipv4 bool) Endpoint {
	loopback := "127.0.0.1"
	if !ipv4 {
		loopback = "::1"
	}
	address, cert, key := files.text("rpc", "laddr"), files.text("rpc", "tls-cert-file"), files.text("rpc", "tls-key-file")
	host, port, err := net.SplitHostPort(strings.TrimPrefix(address, "tcp://"))
	if err != nil || port == "" {
		host, port = "", defaultRPCPort
	}
	if ip := net.ParseIP(host); host == "" || host == "localhost" || (ip != nil && ip.IsUnspecified()) {
		host = loopback
	}
	// seid serves TLS only if it has both files.
	if cert == "" || key == "" {
		return Endpoint{URL: "http://" + net.JoinHostPort(host, port)}
	}
	if !filepath.IsAbs(cert) {
		cert = dir.ConfigFile(cert)
	}
	return Endpoint{URL: "https://" + net.JoinHostPort(host, port), CertFile: cert}
}

// text is a string in a section of config.toml.
func (f Files) text(section, key string) string {
	if found := texts(f.Config, section+"."+key); len(found) > 0 {
		return found[0]
	}
	return ""
}
