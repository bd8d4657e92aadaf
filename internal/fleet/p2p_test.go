package fleet_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/render"
)

// publishedFleet is a fleet whose nodes are reached from outside.
func publishedFleet(replicas int32) *v1alpha1.SeiNodeDeployment {
	snd := rpcFleet()
	snd.Spec.Replicas = replicas
	snd.Spec.Networking = &v1alpha1.NetworkingSpec{TCP: &v1alpha1.TCPNetworking{}}
	return snd
}

// p2pService is the Service of the fleet's first node.
func p2pService(t *testing.T, cfg *platform.Config) *corev1.Service {
	t.Helper()
	services := fleet.Services(publishedFleet(1), cfg, []int{0})
	at := slices.IndexFunc(services, func(s *corev1ac.ServiceApplyConfiguration) bool { return ptr.Deref(s.Name, "") == "rpc-0-p2p" })
	if at < 0 {
		t.Fatal("there is no Service rpc-0-p2p")
	}
	s, err := render.Convert[corev1.Service](services[at])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestP2PService_IsWhatThePlatformAsksFor(t *testing.T) {
	aws := []string{
		"service.beta.kubernetes.io/aws-load-balancer-attributes", "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type",
		"service.beta.kubernetes.io/aws-load-balancer-scheme", "service.beta.kubernetes.io/aws-load-balancer-type",
	}
	const dns = "external-dns.alpha.kubernetes.io/hostname"
	local := corev1.ServiceExternalTrafficPolicyLocal
	cases := map[string]struct {
		set         func(*platform.P2P)
		want        corev1.ServiceSpec
		annotations []string
	}{
		"aws by default": {
			func(*platform.P2P) {},
			corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: local, AllocateLoadBalancerNodePorts: new(false)},
			append([]string{dns}, aws...),
		},
		"no preset, with a class": {
			func(p *platform.P2P) {
				p.Preset, p.LoadBalancerClass, p.Annotations = platform.PresetNone, "example.com/lb", map[string]string{"pool": "a"}
			},
			corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: local, LoadBalancerClass: new("example.com/lb")},
			[]string{dns, "pool"},
		},
		"node port": {
			func(p *platform.P2P) { p.Type = platform.P2PNodePort },
			corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, ExternalTrafficPolicy: local}, []string{dns},
		},
		"host port": {
			func(p *platform.P2P) { p.Type = platform.P2PHostPort },
			corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: corev1.ClusterIPNone},
			[]string{"external-dns.alpha.kubernetes.io/endpoints-type", dns},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := publishing()
			tc.set(&cfg.P2P)
			got := p2pService(t, cfg)
			// F7: nodes that are not in sync need their peers to get there.
			tc.want.PublishNotReadyAddresses = true
			tc.want.Selector = map[string]string{v1alpha1.LabelNode: "rpc-0"}
			tc.want.Ports = []corev1.ServicePort{{Name: "p2p", Port: 26656, Protocol: corev1.ProtocolTCP}}
			if diff := cmp.Diff(tc.want, got.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			slices.Sort(tc.annotations)
			if diff := cmp.Diff(tc.annotations, slices.Sorted(maps.Keys(got.Annotations))); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestP2PService_FixedNodePort_CountsFromTheFirst(t *testing.T) {
	for exposure, want := range map[string][]int32{
		platform.P2PNodePort: {30100, 30107}, platform.P2PLoadBalancer: {0, 0}, platform.P2PHostPort: {0, 0},
	} {
		cfg, snd := publishing(), publishedFleet(8)
		cfg.P2P.Type, snd.Spec.Networking.TCP.FirstNodePort = exposure, 30100
		var got []int32
		for _, s := range fleet.Services(snd, cfg, []int{0, 7}) {
			if strings.HasSuffix(ptr.Deref(s.Name, ""), "-p2p") {
				got = append(got, ptr.Deref(s.Spec.Ports[0].NodePort, 0))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", exposure, diff)
		}
	}
}

func TestP2PAnnotations_OfThePlatform_WinOverThePreset(t *testing.T) {
	const scheme = "service.beta.kubernetes.io/aws-load-balancer-scheme"
	cfg := publishing()
	cfg.P2P.Annotations = map[string]string{scheme: "internal"}
	if got := p2pService(t, cfg).Annotations[scheme]; got != "internal" {
		t.Errorf("%s is %q", scheme, got)
	}
}

func TestTarget_AnnouncesTheAddressOutside(t *testing.T) {
	service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{NodePort: 31234}}}}
	cases := map[string]struct {
		exposure string
		service  *corev1.Service
		address  string
		hostPort int32
		awaits   string
	}{
		"load balancer":           {platform.P2PLoadBalancer, nil, "rpc-1-p2p.pacific-1.p2p.example:26656", 0, ""},
		"host port":               {platform.P2PHostPort, nil, "rpc-1-p2p.pacific-1.p2p.example:26656", 26656, ""},
		"node port":               {platform.P2PNodePort, service, "rpc-1-p2p.pacific-1.p2p.example:31234", 0, ""},
		"node port not there yet": {platform.P2PNodePort, nil, "", 0, "the node port of Service rpc-1-p2p"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := publishing()
			cfg.P2P.Type = tc.exposure
			snd := publishedFleet(2)
			got := fleet.Target(snd, cfg, 1)
			if fleet.NeedsNodePorts(snd, cfg) {
				got = got.WithNodePort(tc.service)
			}
			if got.Spec.ExternalAddress != tc.address || got.Spec.P2PHostPort != tc.hostPort || got.Awaits != tc.awaits {
				t.Errorf("address %q, host port %d, awaits %q", got.Spec.ExternalAddress, got.Spec.P2PHostPort, got.Awaits)
			}
		})
	}
}

func TestWithNodePort_LeavesAnAddressOfTheUsersAlone(t *testing.T) {
	c := fleet.Target(rpcFleet(), platform.Default(), 0)
	c.Spec.ExternalAddress = "a.example:1"
	if got := c.WithNodePort(nil); got.Spec.ExternalAddress != "a.example:1" || got.Awaits != "" {
		t.Errorf("address %q, awaits %q", got.Spec.ExternalAddress, got.Awaits)
	}
}

func TestNetworkingReady_P2P_OnlyWithAnAddress(t *testing.T) {
	named := func(services ...*corev1.Service) map[string]*corev1.Service {
		found := map[string]*corev1.Service{}
		for i, s := range services {
			found[fleet.P2PServiceName("rpc", i)] = s
		}
		return found
	}
	balanced := func(ingress ...corev1.LoadBalancerIngress) *corev1.Service {
		return &corev1.Service{Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: ingress}}}
	}
	port := func(n int32) *corev1.Service {
		return &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{NodePort: n}}}}
	}
	ip, name := corev1.LoadBalancerIngress{IP: "192.0.2.1"}, corev1.LoadBalancerIngress{Hostname: "lb.example"}
	cases := map[string]struct {
		exposure string
		outside  fleet.Outside
		ready    bool
		want     string
	}{
		"no Service":         {platform.P2PLoadBalancer, fleet.Outside{}, false, "rpc-0-p2p, rpc-1-p2p"},
		"one has none":       {platform.P2PLoadBalancer, fleet.Outside{Services: named(balanced(ip), balanced())}, false, "Service rpc-1-p2p: the load balancer has no address yet"},
		"an empty ingress":   {platform.P2PLoadBalancer, fleet.Outside{Services: named(balanced(ip), balanced(corev1.LoadBalancerIngress{}))}, false, "rpc-1-p2p"},
		"both have":          {platform.P2PLoadBalancer, fleet.Outside{Services: named(balanced(ip), balanced(name))}, true, "every node"},
		"no node port":       {platform.P2PNodePort, fleet.Outside{Services: named(port(30000), port(0))}, false, "Service rpc-1-p2p: there is no node port"},
		"node ports":         {platform.P2PNodePort, fleet.Outside{Services: named(port(30000), port(30001))}, true, "every node"},
		"not scheduled":      {platform.P2PHostPort, fleet.Outside{Services: named(port(0), port(0)), Machines: map[string]string{"rpc-0": "10.0.0.1"}}, false, "Service rpc-1-p2p: no machine runs the pod"},
		"both are scheduled": {platform.P2PHostPort, fleet.Outside{Services: named(port(0), port(0)), Machines: map[string]string{"rpc-0": "10.0.0.1", "rpc-1": "10.0.0.2"}}, true, "every node"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := publishing()
			cfg.P2P.Type = tc.exposure
			ready, reason, message := fleet.Networking{Outside: tc.outside}.Ready(publishedFleet(2), cfg)
			want := map[bool]string{true: v1alpha1.ReasonP2PEndpointsApplied, false: v1alpha1.ReasonP2PEndpointsPending}[tc.ready]
			if ready != tc.ready || reason != want || !strings.Contains(message, tc.want) {
				t.Errorf("%t %s: %s, want ready %v, reason %v and %q in it", ready, reason, message, tc.ready, want, tc.want)
			}
		})
	}
}

func TestPublished_P2PEndpoints_SayWhatTheyLeadTo(t *testing.T) {
	outside := fleet.Outside{Services: map[string]*corev1.Service{
		"rpc-0-p2p": {Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}}}},
	}}
	got := fleet.Networking{Outside: outside}.Published(publishedFleet(2), publishing())
	want := []v1alpha1.P2PEndpointStatus{
		{Ordinal: 0, SeiNodeName: "rpc-0", Hostname: "rpc-0-p2p.pacific-1.p2p.example:26656", Address: "192.0.2.1:26656"},
		{Ordinal: 1, SeiNodeName: "rpc-1", Hostname: "rpc-1-p2p.pacific-1.p2p.example:26656"},
	}
	if diff := cmp.Diff(want, got.P2PEndpoints); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
}
