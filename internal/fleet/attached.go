package fleet

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// Attached says what the controllers of the platform's Gateway make of the fleet's
// routes, and the reason and message to report. A route that was written is not served
// yet: only its status tells whether there is a Gateway that takes it.
func Attached(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, routes []*gatewayv1.HTTPRoute) (attached bool, reason, message string) {
	gateway := types.NamespacedName{Namespace: cmp.Or(cfg.Gateway.Namespace, snd.Namespace), Name: cfg.Gateway.Name}
	var refused, pending []string
	for _, r := range routes {
		accepted, objection := verdict(r, gateway)
		switch {
		case objection != "":
			refused = append(refused, fmt.Sprintf("HTTPRoute %s: %s", r.Name, objection))
		case !accepted:
			pending = append(pending, r.Name)
		}
	}
	switch {
	case len(refused) > 0:
		// What to look at comes first: a Gateway's own words may be long.
		return false, v1alpha1.ReasonRoutesNotAccepted, fmt.Sprintf(
			"Gateway %s does not serve all routes; look at its listeners (hostname, allowedRoutes) and at Service %s: %s",
			gateway, snd.Name+suffixExternal, strings.Join(refused, "; "))
	case len(pending) > 0:
		return false, v1alpha1.ReasonRoutesPending, fmt.Sprintf(
			"no controller of Gateway %s has accepted the current generation of HTTPRoute %s; "+
				"check that the Gateway exists and that a controller runs for its GatewayClass",
			gateway, strings.Join(pending, ", "))
	default:
		return true, v1alpha1.ReasonHTTPRoutesPublished, fmt.Sprintf("routes are attached to Gateway %s", gateway)
	}
}

// verdict is what is said of a route as it is now: what was said of an earlier
// generation may no longer hold. Controllers that know nothing of acceptance write
// there too, so one that accepts is enough, and one that objects is too much.
func verdict(r *gatewayv1.HTTPRoute, gateway types.NamespacedName) (accepted bool, objection string) {
	for _, parent := range r.Status.Parents {
		if !refersTo(parent.ParentRef, r.Namespace, gateway) {
			continue
		}
		for _, c := range parent.Conditions {
			switch {
			case c.ObservedGeneration < r.Generation:
			case objects(c):
				return false, fmt.Sprintf("%s says %s is %s, %s: %s", parent.ControllerName, c.Type, c.Status, c.Reason, c.Message)
			case c.Type == string(gatewayv1.RouteConditionAccepted) && c.Status == metav1.ConditionTrue:
				accepted = true
			}
		}
	}
	return accepted, ""
}

// objects reports whether a condition of a route means that some of it is not served.
func objects(c metav1.Condition) bool {
	switch gatewayv1.RouteConditionType(c.Type) {
	case gatewayv1.RouteConditionAccepted, gatewayv1.RouteConditionResolvedRefs:
		return c.Status == metav1.ConditionFalse
	case gatewayv1.RouteConditionPartiallyInvalid:
		return c.Status == metav1.ConditionTrue
	default:
		return false
	}
}

func refersTo(ref gatewayv1.ParentReference, namespace string, gateway types.NamespacedName) bool {
	return ptr.Deref(ref.Group, gatewayv1.GroupName) == gatewayv1.GroupName && ptr.Deref(ref.Kind, "Gateway") == "Gateway" &&
		string(ref.Name) == gateway.Name && string(ptr.Deref(ref.Namespace, gatewayv1.Namespace(namespace))) == gateway.Namespace
}
