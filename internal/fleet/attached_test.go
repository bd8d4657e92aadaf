package fleet_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// routed is the third generation of a route of the fleet, with what is said of it.
func routed(name string, parents ...gatewayv1.RouteParentStatus) *gatewayv1.HTTPRoute {
	return &gatewayv1.HTTPRoute{
		ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: name, Generation: 3},
		Status:     gatewayv1.HTTPRouteStatus{RouteStatus: gatewayv1.RouteStatus{Parents: parents}},
	}
}

// parent is what a controller says of a route on a Gateway; an empty namespace is none.
func parent(controller, namespace, gateway string, said ...metav1.Condition) gatewayv1.RouteParentStatus {
	ref := gatewayv1.ParentReference{Name: gatewayv1.ObjectName(gateway)}
	if namespace != "" {
		ref.Namespace = new(gatewayv1.Namespace(namespace))
	}
	return gatewayv1.RouteParentStatus{ParentRef: ref, ControllerName: gatewayv1.GatewayController(controller), Conditions: said}
}

func said(conditionType gatewayv1.RouteConditionType, status metav1.ConditionStatus, generation int64) metav1.Condition {
	return metav1.Condition{
		Type: string(conditionType), Status: status, ObservedGeneration: generation, Reason: "Because", Message: "of " + string(conditionType),
	}
}

func TestAttached_SaysWhatTheGatewaySays(t *testing.T) {
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	const published, pending, refused = v1alpha1.ReasonHTTPRoutesPublished, v1alpha1.ReasonRoutesPending, v1alpha1.ReasonRoutesNotAccepted
	const accepted, resolved, partly = gatewayv1.RouteConditionAccepted, gatewayv1.RouteConditionResolvedRefs, gatewayv1.RouteConditionPartiallyInvalid
	ours := func(list ...metav1.Condition) gatewayv1.RouteParentStatus {
		return parent("c.io/gw", "gateways", "gw", list...)
	}
	fine := ours(said(accepted, yes, 3), said(resolved, yes, 3))
	service := ours(said(accepted, no, 3))
	service.ParentRef.Kind = new(gatewayv1.Kind("Service"))
	cases := map[string]struct {
		parents []gatewayv1.RouteParentStatus
		want    string
		text    string
	}{
		"nobody speaks":              {nil, pending, "no controller of Gateway gateways/gw has accepted the current generation of HTTPRoute rpc-evm; check that the Gateway exists"},
		"accepted":                   {[]gatewayv1.RouteParentStatus{fine}, published, "attached to Gateway gateways/gw"},
		"accepted, refs not judged":  {[]gatewayv1.RouteParentStatus{ours(said(accepted, yes, 3))}, published, ""},
		"accepted, later generation": {[]gatewayv1.RouteParentStatus{ours(said(accepted, yes, 4))}, published, ""},
		"accepted before a change":   {[]gatewayv1.RouteParentStatus{ours(said(accepted, yes, 2))}, pending, "rpc-evm"},
		"refused before a change":    {[]gatewayv1.RouteParentStatus{ours(said(accepted, no, 2))}, pending, "rpc-evm"},
		"not decided":                {[]gatewayv1.RouteParentStatus{ours(said(accepted, unknown, 3))}, pending, "rpc-evm"},
		"refused": {
			[]gatewayv1.RouteParentStatus{ours(said(accepted, no, 3))}, refused,
			"look at its listeners (hostname, allowedRoutes) and at Service rpc-external: HTTPRoute rpc-evm: c.io/gw says Accepted is False, Because: of Accepted",
		},
		"unresolved":       {[]gatewayv1.RouteParentStatus{ours(said(accepted, yes, 3), said(resolved, no, 3))}, refused, "c.io/gw says ResolvedRefs is False, Because"},
		"served in part":   {[]gatewayv1.RouteParentStatus{ours(said(accepted, yes, 3), said(partly, yes, 3))}, refused, "PartiallyInvalid is True"},
		"served in full":   {[]gatewayv1.RouteParentStatus{ours(said(accepted, yes, 3), said(partly, no, 3))}, published, ""},
		"another Gateway":  {[]gatewayv1.RouteParentStatus{parent("c.io/gw", "gateways", "other", said(accepted, yes, 3))}, pending, "rpc-evm"},
		"own namespace":    {[]gatewayv1.RouteParentStatus{parent("c.io/gw", "", "gw", said(accepted, yes, 3))}, pending, "rpc-evm"},
		"not of a Gateway": {[]gatewayv1.RouteParentStatus{service, fine}, published, ""},
		"a controller of policies beside it": {
			[]gatewayv1.RouteParentStatus{parent("p.io/policy", "gateways", "gw", said("p.io/Affected", no, 3)), fine}, published, "",
		},
		"two controllers, one refuses": {
			[]gatewayv1.RouteParentStatus{fine, parent("d.io/gw", "gateways", "gw", said(accepted, no, 3))}, refused, "d.io/gw says Accepted is False",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			attached, reason, message := fleet.Attached(rpcFleet(), publishing(), []*gatewayv1.HTTPRoute{routed("rpc-evm", tc.parents...), routed("rpc-rpc", fine)})
			if reason != tc.want || attached != (tc.want == published) || !strings.Contains(message, tc.text) {
				t.Errorf("%v %s %q, want %s %q", attached, reason, message, tc.want, tc.text)
			}
			if strings.Contains(message, "rpc-rpc") {
				t.Errorf("the message %q names a route that is served", message)
			}
		})
	}
}

func TestAttached_ARefusalOutweighsWhatIsPending(t *testing.T) {
	refusing := parent("c.io/gw", "gateways", "gw", said(gatewayv1.RouteConditionAccepted, metav1.ConditionFalse, 3))
	_, reason, message := fleet.Attached(rpcFleet(), publishing(), []*gatewayv1.HTTPRoute{
		routed("rpc-evm"), routed("rpc-rpc", refusing), routed("rpc-rest", refusing),
	})
	if reason != v1alpha1.ReasonRoutesNotAccepted || !strings.Contains(message, "HTTPRoute rpc-rpc: ") || !strings.Contains(message, "HTTPRoute rpc-rest: ") {
		t.Errorf("%s %q, want reason %v, %q in it and %q in it", reason, message, v1alpha1.ReasonRoutesNotAccepted, "HTTPRoute rpc-rpc: ", "HTTPRoute rpc-rest: ")
	}
}

func TestAttached_WithoutANamespace_MeansTheGatewayBesideTheFleet(t *testing.T) {
	cfg := publishing()
	cfg.Gateway.Namespace = ""
	accepting := parent("c.io/gw", "", "gw", said(gatewayv1.RouteConditionAccepted, metav1.ConditionTrue, 3))
	attached, _, message := fleet.Attached(rpcFleet(), cfg, []*gatewayv1.HTTPRoute{routed("rpc-evm", accepting)})
	if !attached || !strings.Contains(message, "Gateway sei/gw") {
		t.Errorf("%v %q, want true and %q in it", attached, message, "Gateway sei/gw")
	}
}
