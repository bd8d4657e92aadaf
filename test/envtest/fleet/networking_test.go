package fleet

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// newPublishingWorld makes a world whose operator knows a Gateway and domains.
func newPublishingWorld(t *testing.T) fleets {
	t.Helper()
	w := newWorldBeforeOthers(t)
	w.Platform.Gateway.Name, w.Platform.Gateway.Namespace = "public", "gateways"
	w.Platform.Gateway.Domain, w.Platform.Gateway.PublicDomain = "sei.example", "public.example"
	w.Platform.Gateway.P2PDomain = "p2p.example"
	w.StartOperator()
	return w
}

func ports(s *corev1.Service) map[string]int32 {
	found := map[string]int32{}
	for _, p := range s.Spec.Ports {
		found[p.Name] = p.Port
	}
	return found
}

func (w fleets) awaitService(name string, condition func(*corev1.Service) bool) *corev1.Service {
	w.T.Helper()
	return envtest.WaitFor(w.T, w.Env, w.NS, name, func(s *corev1.Service) bool { return s != nil && condition(s) })
}

func TestNetworking_PrivateFleet_HasAnInternalServiceThatIsKeptInShape(t *testing.T) {
	w := newOperatedWorld(t)
	got := w.bringUp(rpc("rpc", 2))
	service := w.awaitService("rpc-internal", func(*corev1.Service) bool { return true })
	if diff := cmp.Diff(map[string]int32{"rpc": 26657, "evm-http": 8545, "rest": 1317}, ports(service)); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if service.Spec.PublishNotReadyAddresses || !maps.Equal(service.Spec.Selector, map[string]string{v1alpha1.LabelDeployment: "rpc"}) {
		t.Errorf("publishNotReadyAddresses is %t and the selector %v, want false and the label of the fleet alone",
			service.Spec.PublishNotReadyAddresses, service.Spec.Selector)
	}
	wantCondition(t, got, v1alpha1.ConditionNetworkingReady, metav1.ConditionFalse, v1alpha1.ReasonNetworkingDisabled)
	status := got.Status
	if status.InternalService.Name != "rpc-internal" || len(status.PerPodServices) != 2 || status.PerPodServices[1].Ports.EVMWS != 8546 {
		t.Errorf("internal Service %+v, Services of pods %+v, want rpc-internal and two, the second with port 8546 for evm-ws",
			status.InternalService, status.PerPodServices)
	}
	if want := "http://rpc-internal." + w.NS + ".svc:26657"; status.Endpoints.TendermintRPC != want {
		t.Errorf("endpoint of the RPC %q, want %q", status.Endpoints.TendermintRPC, want)
	}
	if got, want := status.Endpoints.Nodes[1].EVMWS, "ws://rpc-1."+w.NS+".svc:8546"; got != want {
		t.Errorf("endpoint of rpc-1 %q, want %q", got, want)
	}
	if status.NetworkingStatus != nil {
		t.Errorf("published %+v, want nothing", status.NetworkingStatus)
	}
	before := service.DeepCopy()
	service.Spec.Ports[0].TargetPort = intstr.FromInt32(1)
	service.Spec.Selector["extra"] = "x"
	service.Spec.Selector[v1alpha1.LabelDeployment] = "theirs"
	if err := w.Client.Patch(t.Context(), service, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	w.awaitService("rpc-internal", func(s *corev1.Service) bool { return s.Spec.Selector[v1alpha1.LabelDeployment] == "rpc" })
	w.Delete(service)
	envtest.WaitReplaced(t, w.Env, service, func(*corev1.Service) bool { return true })
	// The node's own Service carries the fleet's label too; it is not ours to remove.
	w.awaitService("rpc-0", func(*corev1.Service) bool { return true })
}

func TestNetworking_HTTPWithoutGatewayAPI_IsAConditionAndRoutesFollowWhenItIsThere(t *testing.T) {
	w := newPublishingWorld(t)
	snd := rpc("rpc", 1)
	snd.Spec.Networking = &v1alpha1.NetworkingSpec{}
	w.Create(snd)
	got := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return settled(s) && is(s, v1alpha1.ConditionNetworkingReady, metav1.ConditionFalse, v1alpha1.ReasonCRDNotInstalled)
	})
	if got.Status.NetworkingStatus != nil {
		t.Errorf("published %+v, want nothing", got.Status.NetworkingStatus)
	}
	w.installGatewayAPI()
	w.startGateway("sei.example")
	w.forceWrite("rpc")
	w.awaitNetworking("rpc", metav1.ConditionTrue, v1alpha1.ReasonHTTPRoutesPublished, "routes are attached to Gateway gateways/public")

	// What the routes are.
	evm := envtest.WaitFor(t, w.Env, w.NS, "rpc-evm", func(r *gatewayv1.HTTPRoute) bool { return r != nil })
	wantHosts := []gatewayv1.Hostname{gatewayv1.Hostname("rpc-" + w.NS + "-evm.sei.example"), gatewayv1.Hostname("rpc-evm." + w.NS + ".public.example")}
	if diff := cmp.Diff(wantHosts, evm.Spec.Hostnames); diff != "" {
		t.Errorf("host names (-want +got):\n%s", diff)
	}
	if len(evm.Spec.Rules) != 2 || string(evm.Spec.Rules[0].Matches[0].Headers[0].Name) != "Upgrade" ||
		*evm.Spec.Rules[0].BackendRefs[0].Port != 8546 || *evm.Spec.Rules[1].BackendRefs[0].Port != 8545 ||
		evm.Spec.ParentRefs[0].Name != "public" || *evm.Spec.ParentRefs[0].Namespace != "gateways" {
		t.Errorf("spec %+v, want a rule for WebSocket to 8546, one to 8545, and Gateway gateways/public", evm.Spec)
	}
	external := w.awaitService("rpc-external", func(*corev1.Service) bool { return true })
	grpc := slices.IndexFunc(external.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == "grpc" })
	if grpc < 0 || external.Spec.Ports[grpc].AppProtocol == nil || *external.Spec.Ports[grpc].AppProtocol != "kubernetes.io/h2c" {
		t.Errorf("ports %+v, want grpc as kubernetes.io/h2c among them", external.Spec.Ports)
	}
	published := w.fleet("rpc").Status.NetworkingStatus
	if len(published.Routes) != 8 || published.Routes[0] != (v1alpha1.RouteStatus{Hostname: "rpc-" + w.NS + "-evm.sei.example", Protocol: "evm"}) {
		t.Errorf("published %+v, want 8 routes, the first of them rpc-%s-evm.sei.example for evm", published, w.NS)
	}

	// Drift is repaired.
	before := evm.DeepCopy()
	evm.Spec.Hostnames = []gatewayv1.Hostname{"theirs.example"}
	if err := w.Client.Patch(t.Context(), evm, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	evm = envtest.WaitFor(t, w.Env, w.NS, "rpc-evm", func(r *gatewayv1.HTTPRoute) bool { return r != nil && len(r.Spec.Hostnames) == 2 })
	w.Delete(evm)
	envtest.WaitReplaced(t, w.Env, evm, func(*gatewayv1.HTTPRoute) bool { return true })

	// Switched off, it all goes.
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Networking = nil })
	for _, name := range []string{"rpc-evm", "rpc-rpc", "rpc-rest", "rpc-grpc"} {
		envtest.WaitGone[gatewayv1.HTTPRoute](t, w.Env, w.NS, name)
	}
	envtest.WaitGone[corev1.Service](t, w.Env, w.NS, "rpc-external")
	off := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.NetworkingStatus == nil })
	wantCondition(t, off, v1alpha1.ConditionNetworkingReady, metav1.ConditionFalse, v1alpha1.ReasonNetworkingDisabled)
}

// awaitNetworking waits until a fleet says so of its networking.
func (w fleets) awaitNetworking(name string, status metav1.ConditionStatus, reason, text string) {
	w.T.Helper()
	w.await(name, func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionNetworkingReady, status, reason) && strings.Contains(message(s, v1alpha1.ConditionNetworkingReady), text)
	})
}

func TestNetworking_Routes_AreReadyOnlyWhileTheGatewayAcceptsThem(t *testing.T) {
	w := newPublishingWorld(t)
	w.installGatewayAPI()
	snd := rpc("rpc", 1)
	snd.Spec.Networking = &v1alpha1.NetworkingSpec{}
	w.bringUp(snd)
	pending := "no controller of Gateway gateways/public has accepted the current generation of HTTPRoute "
	w.awaitNetworking("rpc", metav1.ConditionFalse, v1alpha1.ReasonRoutesPending, pending+"rpc-evm, rpc-rpc, rpc-rest, rpc-grpc")

	stop := w.startGateway("elsewhere.example")
	w.awaitNetworking("rpc", metav1.ConditionFalse, v1alpha1.ReasonRoutesNotAccepted,
		"HTTPRoute rpc-grpc: test.sei.io/gateway says Accepted is False, NoMatchingListenerHostname: no listener has")
	stop()
	stop = w.startGateway("sei.example")
	w.awaitNetworking("rpc", metav1.ConditionTrue, v1alpha1.ReasonHTTPRoutesPublished, "")
	stop()

	// What is said of a route as it was does not hold for what it became.
	evm := &gatewayv1.HTTPRoute{}
	w.Get("rpc-evm", evm)
	w.Delete(evm)
	w.awaitNetworking("rpc", metav1.ConditionFalse, v1alpha1.ReasonRoutesPending, pending+"rpc-evm")
	w.startGateway("sei.example")
	w.awaitNetworking("rpc", metav1.ConditionTrue, v1alpha1.ReasonHTTPRoutesPublished, "")

	w.forceReconcile("rpc")
	mark := w.Recorder.Mark()
	for range 5 {
		w.forceReconcile("rpc")
	}
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes of a settled fleet with routes")
	w.Recorder.Since(mark).Reads().Of("httproutes").RequireNone(t, "reads of routes past the cache")
}

func TestNetworking_WhatCannotBePublished_IsSaidSo(t *testing.T) {
	cases := map[string]struct {
		bare bool
		net  v1alpha1.NetworkingSpec
		role func(*v1alpha1.SeiNodeSpec)
		want string
	}{
		"validators":    {false, v1alpha1.NetworkingSpec{}, asValidator, "a validator serves nothing to route to"},
		"no gateway":    {true, v1alpha1.NetworkingSpec{}, nil, "names no Gateway: set gateway.name"},
		"no p2p domain": {true, v1alpha1.NetworkingSpec{TCP: &v1alpha1.TCPNetworking{}}, nil, "set gateway.p2pDomain"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			start := newPublishingWorld
			if tc.bare {
				start = newOperatedWorld
			}
			w := start(t)
			snd := rpc("f", 1)
			snd.Spec.Networking = &tc.net
			if tc.role != nil {
				tc.role(&snd.Spec.Template.Spec)
			}
			w.Create(snd)
			got := w.await("f", func(s *v1alpha1.SeiNodeDeployment) bool {
				return is(s, v1alpha1.ConditionNetworkingReady, metav1.ConditionFalse, v1alpha1.ReasonNoEffectiveRoutes)
			})
			if text := message(got, v1alpha1.ConditionNetworkingReady); !strings.Contains(text, tc.want) {
				t.Errorf("message %q, want %q in it", text, tc.want)
			}
		})
	}
}

func asValidator(s *v1alpha1.SeiNodeSpec) { s.FullNode, s.Validator = nil, &v1alpha1.ValidatorSpec{} }

func TestNetworking_AForeignServiceUnderOurName_IsLeftAloneAndNamed(t *testing.T) {
	w := newOperatedWorld(t)
	theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "rpc-internal"}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "theirs"}, Ports: []corev1.ServicePort{{Name: "x", Port: 1}},
	}}
	w.Create(theirs)
	w.Create(rpc("rpc", 1))
	got := w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionNetworkingReady, metav1.ConditionFalse, v1alpha1.ReasonNetworkingFailed)
	})
	if text := message(got, v1alpha1.ConditionNetworkingReady); !strings.Contains(text, "Service rpc-internal already exists") {
		t.Errorf("message %q, want that Service rpc-internal already exists", text)
	}
	w.Delete(theirs)
	envtest.WaitReplaced(t, w.Env, theirs, func(s *corev1.Service) bool { return s.Spec.Selector[v1alpha1.LabelDeployment] == "rpc" })
}

func TestNetworking_Retain_KeepsServicesForTheNextFleet(t *testing.T) {
	w := newOperatedWorld(t)
	snd := rpc("rpc", 1)
	snd.Spec.DeletionPolicy = v1alpha1.VolumeRetain
	w.bringUp(snd)
	uid := w.awaitService("rpc-internal", func(*corev1.Service) bool { return true }).UID
	w.Delete(w.fleet("rpc"))
	envtest.WaitGone[v1alpha1.SeiNodeDeployment](t, w.Env, w.NS, "rpc")
	kept := w.awaitService("rpc-internal", func(s *corev1.Service) bool { return len(s.OwnerReferences) == 0 })
	if kept.UID != uid {
		t.Error("the Service was replaced")
	}
	again := w.bringUp(rpc("rpc", 1))
	w.awaitService("rpc-internal", func(s *corev1.Service) bool { return s.UID == uid && metav1.IsControlledBy(s, again) })
}
