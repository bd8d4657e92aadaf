package fleet_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

func publishing() *platform.Config {
	cfg := platform.Default()
	cfg.Gateway.Name, cfg.Gateway.Namespace, cfg.Gateway.Domain, cfg.Gateway.P2PDomain = "gw", "gateways", "sei.example", "p2p.example"
	return cfg
}

func serviceNames(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) []string {
	services := fleet.Services(snd, cfg, fleet.Ordinals(snd))
	names := make([]string, 0, len(services))
	for _, s := range services {
		names = append(names, ptr.Deref(s.Name, ""))
	}
	return names
}

func TestServices_AreWhatIsAskedFor(t *testing.T) {
	http, tcp := &v1alpha1.HTTPNetworking{}, &v1alpha1.TCPNetworking{}
	cases := map[string]struct {
		net    *v1alpha1.NetworkingSpec
		cfg    *platform.Config
		change func(*v1alpha1.SeiNodeDeployment)
		want   []string
		routes int
	}{
		"private":              {nil, publishing(), nil, []string{"rpc-internal"}, 0},
		"empty means http":     {&v1alpha1.NetworkingSpec{}, publishing(), nil, []string{"rpc-internal", "rpc-external"}, 4},
		"tcp only":             {&v1alpha1.NetworkingSpec{TCP: tcp}, publishing(), nil, []string{"rpc-internal", "rpc-0-p2p", "rpc-1-p2p", "rpc-2-p2p"}, 0},
		"both":                 {&v1alpha1.NetworkingSpec{HTTP: http, TCP: tcp}, publishing(), nil, []string{"rpc-internal", "rpc-external", "rpc-0-p2p", "rpc-1-p2p", "rpc-2-p2p"}, 4},
		"no domains":           {&v1alpha1.NetworkingSpec{HTTP: http, TCP: tcp}, platform.Default(), nil, []string{"rpc-internal", "rpc-external"}, 0},
		"validators, no route": {&v1alpha1.NetworkingSpec{}, publishing(), asValidators, []string{"rpc-internal"}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			snd := rpcFleet()
			snd.Spec.Networking = tc.net
			if tc.change != nil {
				tc.change(snd)
			}
			if diff := gocmp.Diff(tc.want, serviceNames(snd, tc.cfg)); diff != "" {
				t.Errorf("Services (-want +got):\n%s", diff)
			}
			if got := len(fleet.Routes(snd, tc.cfg)); got != tc.routes {
				t.Errorf("%d routes, want %d", got, tc.routes)
			}
		})
	}
}

func asValidators(s *v1alpha1.SeiNodeDeployment) {
	s.Spec.Template.Spec.FullNode, s.Spec.Template.Spec.Validator = nil, &v1alpha1.ValidatorSpec{}
}

// What the operator makes must wake up the fleet it belongs to.
func TestOf_FindsTheFleetOfEverythingItMakes(t *testing.T) {
	snd := rpcFleet()
	snd.Spec.Networking = &v1alpha1.NetworkingSpec{HTTP: &v1alpha1.HTTPNetworking{}, TCP: &v1alpha1.TCPNetworking{}}
	names := serviceNames(snd, publishing())
	for _, r := range fleet.Routes(snd, publishing()) {
		names = append(names, ptr.Deref(r.Name, ""))
	}
	for _, name := range names {
		if owner, ok := fleet.Of(name); !ok || owner != "rpc" {
			t.Errorf("%s belongs to %q", name, owner)
		}
	}
	for _, name := range []string{"rpc-0", "x-p2p", "-internal", "other"} {
		if owner, ok := fleet.Of(name); ok {
			t.Errorf("%s belongs to %q", name, owner)
		}
	}
}

func TestPublished_ListsWhatTheOutsideSees(t *testing.T) {
	snd, cfg := rpcFleet(), publishing()
	cfg.Gateway.PublicDomain = "public.example"
	snd.Spec.Networking = &v1alpha1.NetworkingSpec{}
	got := fleet.Networking{RoutesServed: true}.Published(snd, cfg)
	want := []v1alpha1.RouteStatus{{Hostname: "rpc-sei-evm.sei.example", Protocol: "evm"}, {Hostname: "rpc-evm.sei.public.example", Protocol: "evm"}}
	if len(got.Routes) != 8 || !slices.Equal(got.Routes[:2], want) {
		t.Errorf("routes %+v, want 8 Routes and %v", got.Routes, want)
	}
	if got := (fleet.Networking{}).Published(snd, cfg); got != nil {
		t.Errorf("without the Gateway API: %+v", got)
	}
	asValidators(snd)
	if fleet.Endpoints(snd, []string{"rpc-0"}) != nil || fleet.PerPodServices(snd, []string{"rpc-0"}) != nil {
		t.Error("validators serve nothing")
	}
}

// Host names of one fleet name in two namespaces differ, and the form of before is a setting.
func TestHostnames_FollowTheTemplate(t *testing.T) {
	for template, want := range map[string]string{
		"":                                 "rpc-sei-evm.sei.example",
		"$(NAME)-$(PROTOCOL)":              "rpc-evm.sei.example",
		"$(PROTOCOL).$(NAME).x":            "evm.rpc.x.sei.example",
		"$(NAMESPACE)-$(NAME)-$(PROTOCOL)": "sei-rpc-evm.sei.example",
	} {
		cfg := publishing()
		cfg.Gateway.Hostname = cmp.Or(template, cfg.Gateway.Hostname)
		snd := rpcFleet()
		snd.Spec.Networking = &v1alpha1.NetworkingSpec{}
		if got := (fleet.Networking{RoutesServed: true}).Published(snd, cfg).Routes[0].Hostname; got != want {
			t.Errorf("%q gives %s, want %s", template, got, want)
		}
	}
}

func TestNoRoutes_NameTooLongForAHost_NamesTheSetting(t *testing.T) {
	cfg, snd := publishing(), rpcFleet()
	snd.Spec.Networking = &v1alpha1.NetworkingSpec{HTTP: &v1alpha1.HTTPNetworking{}, TCP: &v1alpha1.TCPNetworking{}}
	snd.Name, snd.Namespace = strings.Repeat("n", 49), strings.Repeat("s", 20)
	if text := fleet.NoRoutes(snd, cfg); !strings.Contains(text, "longer than 63 characters") || !strings.Contains(text, "gateway.hostname") {
		t.Errorf("NoRoutes says %q", text)
	}
	if len(fleet.Routes(snd, cfg)) != 0 {
		t.Error("there are routes")
	}
	cfg.P2P.Hostname = "$(NAME)-$(NAMESPACE)-$(ORDINAL)"
	if text := fleet.NoP2P(snd, cfg); !strings.Contains(text, "p2p.hostname") {
		t.Errorf("NoP2P says %q", text)
	}
	if c := fleet.Target(snd, cfg, 0); c.Spec.ExternalAddress != "" {
		t.Errorf("the node announces %s", c.Spec.ExternalAddress)
	}
}
