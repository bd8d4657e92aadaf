package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/config"
)

func TestLocalEndpoint_FollowsListenAddressCertificateAndAddressFamily(t *testing.T) {
	for name, tc := range map[string]struct {
		rpc  map[string]any
		ipv4 bool
		want config.Endpoint
	}{
		"nothing set":                 {nil, true, config.Endpoint{URL: "http://127.0.0.1:26657"}},
		"all of IPv4":                 {map[string]any{"laddr": "tcp://0.0.0.0:1234"}, true, config.Endpoint{URL: "http://127.0.0.1:1234"}},
		"all addresses":               {map[string]any{"laddr": "tcp://[::]:1234"}, true, config.Endpoint{URL: "http://127.0.0.1:1234"}},
		"all addresses, no IPv4":      {map[string]any{"laddr": "tcp://[::]:1234"}, false, config.Endpoint{URL: "http://[::1]:1234"}},
		"nothing set, no IPv4":        {nil, false, config.Endpoint{URL: "http://[::1]:26657"}},
		"one IPv6 address":            {map[string]any{"laddr": "tcp://[2001:db8::1]:1234"}, true, config.Endpoint{URL: "http://[2001:db8::1]:1234"}},
		"TLS, below the config":       {map[string]any{"tls-cert-file": "rpc.pem", "tls-key-file": "rpc.key"}, true, config.Endpoint{URL: "https://127.0.0.1:26657", CertFile: "/h/config/rpc.pem"}},
		"TLS, elsewhere":              {map[string]any{"tls-cert-file": "/tls/rpc.pem", "tls-key-file": "/tls/rpc.key"}, true, config.Endpoint{URL: "https://127.0.0.1:26657", CertFile: "/tls/rpc.pem"}},
		"certificate without its key": {map[string]any{"tls-cert-file": "rpc.pem"}, true, config.Endpoint{URL: "http://127.0.0.1:26657"}},
	} {
		got := config.LocalEndpoint(config.Files{Config: config.Tree{"rpc": tc.rpc}}, "/h", tc.ipv4)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
