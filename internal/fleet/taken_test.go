package fleet_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// F9: host names of fleets in two namespaces never meet.
func TestWithoutTaken_AHostNameBelongsToTheOldestFleet(t *testing.T) {
	at := func(namespace, name string, age time.Duration, change ...func(*v1alpha1.SeiNodeDeployment)) v1alpha1.SeiNodeDeployment {
		snd := publishedFleet(2)
		snd.Spec.Networking.HTTP = &v1alpha1.HTTPNetworking{}
		snd.Namespace, snd.Name = namespace, name
		snd.CreationTimestamp = metav1.NewTime(time.Unix(1_000_000, 0).Add(-age))
		for _, c := range change {
			c(snd)
		}
		return *snd
	}
	chain := func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.ChainID = "other-1" }
	private := func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Networking = nil }
	oldForm := func(c *platform.Config) { c.Gateway.Hostname = "$(NAME)-$(PROTOCOL)" }
	cases := map[string]struct {
		snd   v1alpha1.SeiNodeDeployment
		other v1alpha1.SeiNodeDeployment
		set   func(*platform.Config)
		taken []string
	}{
		"another name":         {at("a", "rpc", 0), at("b", "web", time.Hour), nil, nil},
		"itself":               {at("a", "rpc", 0), at("a", "rpc", 0), nil, nil},
		"same name, older":     {at("a", "rpc", 0), at("b", "rpc", time.Hour), nil, []string{"rpc-0-p2p.pacific-1.p2p.example is a host name of SeiNodeDeployment b/rpc"}},
		"same name, younger":   {at("a", "rpc", time.Hour), at("b", "rpc", 0), nil, nil},
		"of the same second":   {at("a", "rpc", 0), at("b", "rpc", 0), nil, nil},
		"and the other way":    {at("b", "rpc", 0), at("a", "rpc", 0), nil, []string{"rpc-0-p2p."}},
		"another chain":        {at("a", "rpc", 0), at("b", "rpc", time.Hour, chain), nil, nil},
		"the older is private": {at("a", "rpc", 0), at("b", "rpc", time.Hour, private), nil, nil},
		"names that join":      {at("c", "a-b", 0), at("b-c", "a", time.Hour), nil, []string{"a-b-c-evm.sei.example is a host name of SeiNodeDeployment b-c/a"}},
		"the form of before":   {at("a", "rpc", 0), at("b", "rpc", time.Hour, chain), oldForm, []string{"rpc-evm.sei.example is a host name of SeiNodeDeployment b/rpc"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := publishing()
			if tc.set != nil {
				tc.set(cfg)
			}
			own, taken := fleet.WithoutTaken(&tc.snd, []v1alpha1.SeiNodeDeployment{tc.other, tc.snd}, cfg)
			if len(taken) != len(tc.taken) {
				t.Fatalf("taken: %q, want %q", taken, tc.taken)
			}
			for i, want := range tc.taken {
				if !strings.HasPrefix(taken[i], want) || !strings.Contains(taken[i], "$(NAMESPACE)") {
					t.Errorf("taken: %q, want %q", taken[i], want)
				}
				if own.Gateway.Domain != "" && own.Gateway.P2PDomain != "" {
					t.Error("it still has both domains")
				}
			}
			if cfg.Gateway.Domain == "" || cfg.Gateway.P2PDomain == "" {
				t.Error("the platform's own configuration was changed")
			}
		})
	}
}
