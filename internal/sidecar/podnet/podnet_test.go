package podnet_test

import (
	"net"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/podnet"
)

func TestOf_TellsPodsByTheirAddresses(t *testing.T) {
	for name, tc := range map[string]struct {
		addresses []string
		want      podnet.Families
	}{
		"IPv4":                       {[]string{"127.0.0.1/8", "10.0.0.7/24"}, podnet.Families{IPv4Loopback: true}},
		"IPv4, link-local IPv6":      {[]string{"127.0.0.1/8", "::1/128", "10.0.0.7/24", "fe80::1/64"}, podnet.Families{IPv4Loopback: true}},
		"both":                       {[]string{"127.0.0.1/8", "::1/128", "10.0.0.7/24", "2001:db8::7/64"}, podnet.Families{IPv4Loopback: true}},
		"IPv6":                       {[]string{"127.0.0.1/8", "::1/128", "2001:db8::7/64"}, podnet.Families{IPv4Loopback: true, IPv6Only: true}},
		"IPv6, link-local IPv4":      {[]string{"127.0.0.1/8", "169.254.1.1/16", "2001:db8::7/64"}, podnet.Families{IPv4Loopback: true, IPv6Only: true}},
		"IPv6 without IPv4 loopback": {[]string{"::1/128", "fd00::7/64"}, podnet.Families{IPv6Only: true}},
	} {
		addresses := make([]net.Addr, 0, len(tc.addresses))
		for _, text := range tc.addresses {
			ip, network, err := net.ParseCIDR(text)
			if err != nil {
				t.Fatal(err)
			}
			addresses = append(addresses, &net.IPNet{IP: ip, Mask: network.Mask})
		}
		if got := podnet.Of(addresses); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}
