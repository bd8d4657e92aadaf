package layout

import (
	"net/netip"
	"strings"
	"testing"
)

func TestNew_RefusesPlacesThatWouldDoHarm(t *testing.T) {
	tests := map[string]struct{ dir, network, want string }{
		"a private network":         {"x", "10.0.0.0/16", "198.18.0.0/16 or 198.19.0.0/16"},
		"too small a range":         {"x", "198.18.0.0/24", "198.18.0.0/16 or 198.19.0.0/16"},
		"an address in the range":   {"x", "198.18.0.7/16", "198.18.0.0/16 or 198.19.0.0/16"},
		"beyond the reserved range": {"x", "198.20.0.0/16", "198.18.0.0/16 or 198.19.0.0/16"},
		"no range at all":           {"x", "here", "parsing --network"},
		"a folder the node hides":   {"/run/cluster", "198.18.0.0/16", "--state-dir /run/cluster"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.dir, tc.network)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestLayout_RangesLieInTheNetworkAndApart(t *testing.T) {
	for _, network := range []string{"198.18.0.0/16", "198.19.0.0/16"} {
		l, err := New("state", network)
		if err != nil {
			t.Fatal(err)
		}
		ranges := []netip.Prefix{l.Link(), l.Services(), l.Pods()}
		for i, r := range ranges {
			if r != r.Masked() || !l.Network.Contains(r.Addr()) {
				t.Errorf("%s is not a proper part of %s", r, l.Network)
			}
			for _, other := range ranges[i+1:] {
				if r.Overlaps(other) {
					t.Errorf("%s overlaps %s", r, other)
				}
			}
		}
		if !l.Link().Contains(l.HostIP()) || !l.Link().Contains(l.NodeIP()) || !l.Services().Contains(l.APIService()) {
			t.Errorf("an address is outside its range: %s %s %s", l.HostIP(), l.NodeIP(), l.APIService())
		}
	}
}

func TestLayout_TheTwoNetworksShareNoName(t *testing.T) {
	a, _ := New("state", "198.18.0.0/16")
	b, _ := New("state", "198.19.0.0/16")
	if a.LinkName() == b.LinkName() || a.Cgroup() == b.Cgroup() {
		t.Errorf("both use %s and %s", a.LinkName(), a.Cgroup())
	}
	if len(a.LinkName()) > 15 {
		t.Errorf("%s is longer than the kernel allows", a.LinkName())
	}
}
