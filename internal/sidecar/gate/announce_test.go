package gate

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// names answers lookups, in turn; the last answer stays.
type names struct {
	answers []error
	asked   []string
}

func (n *names) LookupHost(_ context.Context, host string) ([]string, error) {
	err := n.answers[min(len(n.asked), len(n.answers)-1)]
	n.asked = append(n.asked, host)
	if err != nil || strings.HasPrefix(host, "empty.") {
		return nil, err
	}
	return []string{"192.0.2.1"}, nil
}

// F7: neither DNS nor a load balancer keeps a node down. seid ends over an external address that it
// cannot look up.
func TestAnnounce_AnAddressThatCannotBeLookedUp_IsReplacedForThisStart(t *testing.T) {
	missing := &net.DNSError{Err: "no such host", IsNotFound: true}
	silent := &net.DNSError{Err: "i/o timeout", IsTimeout: true}
	cases := map[string]struct {
		address  string
		answers  []error
		asked    int
		replaced bool
	}{
		"none":                   {"", nil, 0, false},
		"an IP address":          {"192.0.2.7:26656", nil, 0, false},
		"an IPv6 address":        {"[2001:db8::1]:26656", nil, 0, false},
		"malformed":              {"a b", nil, 0, false},
		"known":                  {"v-0.example:26656", []error{nil}, 1, false},
		"not there yet":          {"v-0.example:26656", []error{missing}, 1, true},
		"without an address":     {"empty.v-0.example:26656", []error{nil}, 1, true},
		"with a protocol":        {"tcp://v-0.example:26656", []error{missing}, 1, true},
		"no answer":              {"v-0.example:26656", []error{silent}, 3, true},
		"an answer in the end":   {"v-0.example:26656", []error{silent, silent, nil}, 3, false},
		"no resolver at all":     {"v-0.example:26656", []error{errors.New("refused")}, 3, true},
		"gone while being asked": {"v-0.example:26656", []error{silent, missing}, 2, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n := &names{answers: tc.answers}
			env, why := Announce(t.Context(), n, tc.address)
			if len(n.asked) != tc.asked || (len(env) == 1) != tc.replaced || (why != nil) != tc.replaced {
				t.Fatalf("asked for %v, environment %v, %v", n.asked, env, why)
			}
			if !tc.replaced {
				return
			}
			value, ok := strings.CutPrefix(env[0], "SEID_P2P_EXTERNAL_ADDRESS=")
			if _, err := netip.ParseAddrPort(value); !ok || err != nil || !strings.HasSuffix(value, ":26656") {
				t.Errorf("environment %v", env)
			}
			if !strings.Contains(why.Error(), "v-0.example") {
				t.Errorf("why: %v, want %q in it", why, "v-0.example")
			}
		})
	}
}

func TestRun_GivesSeidItsEnvironment(t *testing.T) {
	g, _ := gateAt(t, opened)
	out := filepath.Join(t.TempDir(), "out")
	t.Setenv("GATE_TEST_OWN", "kept")
	t.Setenv("SEID_MODE", "validator") // of an image; what decides about signing is in the files alone
	t.Setenv("SEID_PRIV_VALIDATOR_STATE_FILE", "/forgetful")
	g.Rules.Environment = func(context.Context) []string { return []string{"GATE_TEST_MORE=added"} }
	if err := g.Run(t.Context(), []string{"sh", "-c", "echo $GATE_TEST_OWN $GATE_TEST_MORE $SEID_MODE$SEID_PRIV_VALIDATOR_STATE_FILE > " + out}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(out); err != nil || strings.TrimSpace(string(got)) != "kept added" {
		t.Errorf("seid saw %q, %v", got, err)
	}
}
